//===- Passes.td - Passes of the llm dialect -*- tablegen -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_TRANSFORMS_PASSES_TD
#define SHARDOPT_DIALECT_LLM_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"
include "shardopt/Dialect/LLM/Transforms/DegreeTable.td"

//===----------------------------------------------------------------------===//
// Options that several passes have
//===----------------------------------------------------------------------===//

// What the metrics of a strategy depend on, in addition to the module.
defvar ScenarioPassOptions = [
  Option<"machine", "machine", "std::string", [{""}],
    "Name of a machine, or path of a JSON file (default: `llm.machine` of the module, else h100_sxm)">,
  Option<"maxDevices", "max-devices", "int64_t", "0",
    "Maximum devices of a plan, tp * dp * pp (0: no limit)">,
  Option<"countIdle", "count-idle", "bool", "false",
    "Divide throughput by max-devices, with as many workers as fit, instead of by the devices of one plan">,
  Option<"sloTpotMs", "slo-tpot-ms", "double", "0",
    "TPOT limit in decode, milliseconds (0: 50; inf: none)">,
  Option<"sloTtftMs", "slo-ttft-ms", "double", "0",
    "TTFT limit in prefill, milliseconds (0: 2000; inf: none)">,
  Option<"activationsGb", "activations-gb", "double", "0",
    "Limit on the values between ops per device, 1e9 bytes (0: none)">,
  Option<"simulator", "simulator", "std::string", [{"auto"}],
    "Simulator: auto (calibrated where the machine has constants, else roofline), roofline, calibrated, procedural:runtime, procedural:fixed, plugin:<file> or exec:<command>">,
  Option<"simulatorWorkers", "simulator-workers", "unsigned", "1",
    "Parallel processes of a plugin: or exec: simulator">,
  Option<"simulatorTimeoutSeconds", "simulator-timeout-s", "double", "60",
    "Timeout of a plugin: or exec: simulator per strategy, seconds">,
  Option<"commModel", "comm-model", "std::string", [{"fast"}],
    "Collective algorithms: fast, direct or ring">,
  Option<"imbalance", "imbalance", "std::string", [{"model"}],
    "Load of the experts: model (uneven), or none (even)">,
  Option<"partition", "partition", "std::string", [{"even"}],
    "Layers of pipeline stages that a strategy leaves open: even, or balanced (roofline and calibrated: for the highest throughput)">,
];

defvar ReportPassOptions = [
  Option<"report", "report", "std::string", [{""}],
    "Output file of the results: JSON, or JSON lines for a list">,
  Option<"threads", "threads", "unsigned", "1",
    "Threads (0: one per core); results do not depend on it">,
];

// What each degree is, and which values a search tries.
defvar StagesOptions = [
  Option<"stages", "stages", "std::string", [{""}],
    "Layers of each pipeline stage, comma-separated (default: even)">,
];
defvar DegreeOptions = !listconcat(!foreach(degree, DegreeTable,
  Option<degree.name, degree.name, "std::string", [{""}], degree.summary>),
  StagesOptions);
defvar DegreeListOptions = !listconcat(!foreach(degree, DegreeTable,
  Option<degree.name, degree.name, "std::string", [{""}],
    "Values to try for " # degree.name # ", comma-separated (default: " # degree.values # ")">),
  StagesOptions);

//===----------------------------------------------------------------------===//
// Strategies
//===----------------------------------------------------------------------===//

def EvaluateStrategyPass : Pass<"llm-evaluate-strategy", "::mlir::ModuleOp"> {
  let summary = "Evaluate the annotated strategy, or a list of strategies";
  let description = [{
    Simulates the strategy that the module carries and prints a table of what
    it takes and where its time goes on the standard error; with `report`, the
    same as JSON. The module passes through unchanged. A strategy that is
    invalid (structurally, or because it exceeds the memory of a device,
    `activations-gb` or the SLO) is an error, after the table is printed.

    With `strategies`, evaluates a list instead; what the module is annotated
    with is ignored. Every line of the file is a JSON object, its dims in the
    order of the module's ops (2 means none), or an object by op name:

    ```json
    {"tp": 8, "ep": 16, "pp": 4, "batch": 8192, "dims": [0,0,1,0,0,0,2,0,1,0,0,1]}
    ```

    Every line gives one line of `report`, in the same order, with five keys:
    `throughput` (tokens/s per device), `tpot_ms` (decode) or `ttft_ms`
    (prefill), `memory_gb` (1e9 bytes a device), `valid`, and `reason` (empty,
    "structural", "memory", "activations", "slo", or "failed" where an external
    simulator gave no answer; the metrics of a structural or failed strategy are
    0). With `activations-gb` a sixth key, `activations_gb`, has the most that
    values between ops take. A line that cannot be read, an empty one among them, gives
    `{"error": …}`. Invalid strategies and unreadable lines are no failure.

    Input:

    ```mlir
    module attributes {llm.strategy = #llm.strategy<tp = 8, ep = 1, pp = 1, batch = 64>, llm.workload = #llm.workload<phase = decode, context = 64>} {
      func.func @decode(%x: tensor<?x64xbf16>, %w: tensor<64xbf16>) -> tensor<?x64xbf16> {
        %n = llm.rms_norm "attn_norm" dim<0> %x weight(%w) {epsilon = 1.0e-5} : tensor<?x64xbf16>
        // … and the other ops of the program
        return %n : tensor<?x64xbf16>
      }
    }
    ```

    Output: the same module.
  }];
  let options = !listconcat(ScenarioPassOptions, [
    Option<"strategies", "strategies", "std::string", [{""}],
      "File of strategies to evaluate instead of the annotated one, one per line">,
  ], ReportPassOptions);
}

def ApplyStrategyPass : Pass<"llm-apply-strategy", "::mlir::ModuleOp"> {
  let summary = "Write a strategy on the module";
  let description = [{
    Annotates the module with the strategy that the options give: degrees and
    batch as `llm.strategy`, dims as `sharding` of the ops. The strategy is
    either given by `tp`, `ep`, `pp`, `batch` and `dims`, of which those left
    out stay as they are, or is line `line` (the first is 0) of a file as
    `--llm-evaluate-strategy` reads it. A strategy that breaks a structural
    limit is an error.

    Input:

    ```mlir
    module attributes {llm.workload = #llm.workload<phase = decode, context = 64>} {
      func.func @decode(%x: tensor<?x64xbf16>, %w: tensor<64xbf16>) -> tensor<?x64xbf16> {
        %n = llm.rms_norm "attn_norm" %x weight(%w) {epsilon = 1.0e-5} : tensor<?x64xbf16>
        // … and the other ops of the program
        return %n : tensor<?x64xbf16>
      }
    }
    ```

    Output, with `tp=8 ep=1 pp=1 batch=64 dims=0,0,…`:

    ```mlir
    module attributes {llm.strategy = #llm.strategy<tp = 8, ep = 1, pp = 1, batch = 64>, llm.workload = #llm.workload<phase = decode, context = 64>} {
      func.func @decode(%x: tensor<?x64xbf16>, %w: tensor<64xbf16>) -> tensor<?x64xbf16> {
        %n = llm.rms_norm "attn_norm" dim<0> %x weight(%w) {epsilon = 1.0e-5} : tensor<?x64xbf16>
        // … and the other ops of the program
        return %n : tensor<?x64xbf16>
      }
    }
    ```
  }];
  let options = !listconcat(DegreeOptions, [
    Option<"dims", "dims", "std::string", [{""}],
      "Sharding dims of all ops in order, comma-separated: 0, 1, none, or the sharded axis (heads, columns, tokens, ...)">,
    Option<"strategies", "strategies", "std::string", [{""}],
      "File of strategies, one per line">,
    Option<"line", "line", "int64_t", "0",
      "Line of `strategies` to apply, counted from 0">,
  ]);
  let dependentDialects = ["::shardopt::llm::LLMDialect"];
}

def ExportProblemPass : Pass<"llm-export-problem", "::mlir::ModuleOp"> {
  let summary = "Write the choice of dims as a strategy-selection problem";
  let description = [{
    Writes to `problem` what `shard-solve` reads: a graph whose solutions are the
    dims of the program for given degrees, those of the options or else of
    `llm.strategy`, and cost what the simulator says. An op is a node, and its
    strategies are its dims, with each combination of layouts in which its
    operands can come. So is a reader of a value that several ops read, whose
    strategies are the copies that there are and the one that it has made, and a
    summand that leaves a layer. Edges forbid what does not fit together; ops
    that carry a `sharding` have that dim only.

    The cost of a solution is the time that a token, or a prompt, takes through
    all stages. Each resource is a time: the memory of a device of each stage
    that can be the fullest, of which the machine has as much as there is; and
    in decode with several micro-batches, what these take in each stage, of which
    there is the SLO. With `activations-gb`, so is each op of a layer: while it
    runs, a device holds the values that it or what comes later reads, and their
    copies (`LiveValues.h`). A node that uses several of them has twins.

    `meaning` gets, as JSON, what a unit of cost is in seconds, what each time
    is, and what each strategy of each node is. The module is not changed.

    Input:

    ```mlir
    module attributes {llm.workload = #llm.workload<phase = decode, context = 64>} {
      // … a program
    }
    ```

    Output, with `tp=8 ep=1 pp=1 batch=64 problem=p.json meaning=m.json`: the
    same module, and in `p.json`

    ```json
    {
      "problem": {
        "nodes": {
          "intervals": [[0, 1], …],
          "costs": [[1267823, 1013887], …],
          "usages": [[0, 0], …]
        },
        "edges": {"nodes": [[0, 1], …], "costs": [[0, 1000000000000000000], …]},
        "usage_limit": 1125899906842624
      }
    }
    ```
  }];
  let options = !listconcat(DegreeOptions, ScenarioPassOptions, [
    Option<"problem", "problem", "std::string", [{""}],
      "Output file of the problem">,
    Option<"meaning", "meaning", "std::string", [{""}],
      "Output file that explains nodes, strategies and times">,
  ]);
  let dependentDialects = ["::shardopt::llm::LLMDialect"];
}

def SearchShardingPass : Pass<"llm-search-sharding", "::mlir::ModuleOp"> {
  let summary = "Search for the best strategy and annotate the module with it";
  let description = [{
    Runs a searcher against a simulator over the degrees tp, ep, pp, the batch
    and a sharding dim for every op, and writes the best valid strategy on the
    module. What the module already carries is a pin, which the search honours
    unless `pins=ignore`; a module that carries a complete strategy is
    evaluated, not searched. `searcher=exact` finds the optimum and proves it.

    A table of the plan beside Megatron's is printed on the standard error;
    `report` is the same and more as JSON, `trace` has a JSON line for every
    evaluation. If nothing is feasible the pass fails, and says which limit
    binds and which single change would help.

    Input:

    ```mlir
    module attributes {llm.workload = #llm.workload<phase = decode, context = 64>} {
      func.func @decode(%x: tensor<?x64xbf16>, %w: tensor<64xbf16>) -> tensor<?x64xbf16> {
        %n = llm.rms_norm "attn_norm" %x weight(%w) {epsilon = 1.0e-5} : tensor<?x64xbf16>
        // … and the other ops of the program
        return %n : tensor<?x64xbf16>
      }
    }
    ```

    Output:

    ```mlir
    module attributes {llm.strategy = #llm.strategy<tp = 8, ep = 1, pp = 1, batch = 64>, llm.workload = #llm.workload<phase = decode, context = 64>} {
      func.func @decode(%x: tensor<?x64xbf16>, %w: tensor<64xbf16>) -> tensor<?x64xbf16> {
        %n = llm.rms_norm "attn_norm" dim<0> %x weight(%w) {epsilon = 1.0e-5} : tensor<?x64xbf16>
        // … and the other ops of the program
        return %n : tensor<?x64xbf16>
      }
    }
    ```
  }];
  let options = !listconcat(ScenarioPassOptions, [
    Option<"devices", "devices", "int64_t", "0",
      "Exact number of devices (0: any)">,
    Option<"objective", "objective", "std::string", [{"throughput"}],
      "Objective: throughput (per device) or latency">,
    Option<"searcher", "searcher", "std::string", [{""}],
      "exact (default), megatron-classic, megatron-slice, megatron-sp, random, random-walk, annealing, genetic, cross-entropy, coordinate, surrogate (default for black boxes), ppo or ppo-paper">,
    Option<"budget", "budget", "uint64_t", "0",
      "Maximum evaluations, as `accounting` counts them (0: 4000; megatron-*: all degrees)">,
    Option<"accounting", "accounting", "std::string", [{"asked"}],
      "What the budget counts: asked (all requested strategies), new (neither repeats nor infeasible degrees) or draws (all, and draws that the searcher rejected)">,
    Option<"seed", "seed", "uint64_t", "0", "Seed of random searchers">,
    Option<"agentCritic", "agent-critic", "std::string", [{""}],
      "Critic that screens proposals: joint (default without a model to correct), ridge, random or none">,
    Option<"agentCriticPrior", "agent-critic-prior", "std::string", [{""}],
      "Model that the critic corrects: roofline (default for black-box simulators) or none">,
    Option<"agentMask", "agent-mask", "std::string", [{""}],
      "Degrees refused without a call: memory (illegal ones, and those whose weights and caches cannot fit; not for black-box simulators) or none">,
    Option<"agentPretrain", "agent-pretrain", "std::string", [{""}],
      "Pretraining of the policy before the first call: roofline, file:<path> or none">,
    Option<"agentSave", "agent-save", "std::string", [{""}],
      "Output file of the trained policy">,
    Option<"agentOptions", "agent-options", "std::string", [{""}],
      "Constants of the searcher, comma-separated name=value">,
    Option<"warmStart", "warm-start", "std::string", [{""}],
      "First calls: exact (the best plans of the roofline; default for black-box simulators) or none">,
  ], DegreeListOptions, [
    Option<"space", "space", "std::string", [{""}],
      "Search space: uniform (experts are sharded like other ops) or serving (also dp, cp, exchange, and the batches that fit); default: uniform, or serving with engine">,
    Option<"engine", "engine", "std::string", [{""}],
      "Only plans that this engine runs: vllm, sglang or trtllm (default: any plan)">,
    Option<"dims", "dims", "std::string", [{"shared"}],
      "Ops that share a dim: shared (ops with one name), per-window or per-layer (which separate the layers first, as llm-separate-layers does)">,
    Option<"pins", "pins", "std::string", [{"honour"}],
      "Strategy that the module carries: honour or ignore">,
    Option<"trace", "trace", "std::string", [{""}],
      "Output file of the evaluations, one JSON line each">,
    Option<"progress", "progress", "std::string", [{"auto"}],
      "Progress on standard error: auto (one line, on a terminal), lines (at each improvement and at powers of two) or none">,
    Option<"checkpoint", "checkpoint", "std::string", [{""}],
      "File that records the evaluations; a search that finds its own file resumes from it">,
  ], ReportPassOptions);
  let dependentDialects = ["::shardopt::llm::LLMDialect"];
}

def ScheduleStagesPass : Pass<"llm-schedule-stages", "::mlir::ModuleOp"> {
  let summary = "Schedule the ops of each pipeline stage";
  let description = [{
    Orders a step of the strategy that the module carries, as `shard-schedule`
    orders a graph (`docs/Schedule.md`): stages are the devices, ops the operators
    of their compute machine, and what ops and their operands send those of the
    comm machine. Times are those of the simulator, which has to be one that can be
    opened. The micro-batches of a step may be cut into `chunks` that take turns, so
    that one computes while another sends; of several numbers the fastest is taken,
    each costed for the rows that its chunks have.

    Unless `reorder`, a stage takes the ops of a chunk in the order of the program,
    and only chunks pass each other. A table is printed on the standard error:
    the makespan where nothing overlaps, that of the program's order, that of the
    plan, the bound that no order undercuts, and the plan's with kernels slowed by
    the collectives beside them (`docs/ProceduralSimulator.md`).

    A step is ordered by itself, from its first op to its last. In decode the
    next one follows: with `ring` it is the turn of a ring, in which each
    micro-batch begins its next token once it has made one. The table has the
    time per output token in place of the makespan, and the fastest of so many
    micro-batches in flight, each in so many chunks, is taken; those that cannot be
    are left out. `shardopt.schedule` has `micro_batches` and `turn_ns`, the file of
    the schedule one turn.

    With `joint`, dims, stages and order are chosen together for the degrees, as by
    `shard-schedule --joint`, for a ring of as many micro-batches as the strategy has,
    one less and one more, or of those of `ring`. The plan is never slower than the
    strategy in its own order, and replaces it on the module.

    Each op gets the stage of each of its layers, `shardopt.device`, and for each
    layer and each chunk of each micro-batch the position of its kernels among those
    of that stage, `shardopt.order`; the module gets `shardopt.schedule`.

    Input:

    ```mlir
    module attributes {llm.strategy = #llm.strategy<tp = 8, ep = 1, pp = 2, batch = 64>, llm.workload = #llm.workload<phase = decode, context = 64>} {
      func.func @decode(%x: tensor<?x64xbf16>, %w: tensor<64xbf16>) -> tensor<?x64xbf16> {
        %n = llm.rms_norm "attn_norm" dim<0> %x weight(%w) {epsilon = 1.0e-5} : tensor<?x64xbf16>
        // … and the other ops of the program
        return %n : tensor<?x64xbf16>
      }
    }
    ```

    Output:

    ```mlir
    module attributes {llm.strategy = #llm.strategy<tp = 8, ep = 1, pp = 2, batch = 64>, llm.workload = #llm.workload<phase = decode, context = 64>, shardopt.schedule = {chunks = 1 : i64, lower_bound_ns = 18000 : i64, makespan_ns = 18000 : i64}} {
      func.func @decode(%x: tensor<?x64xbf16>, %w: tensor<64xbf16>) -> tensor<?x64xbf16> {
        %n = llm.rms_norm "attn_norm" dim<0> %x weight(%w) {epsilon = 1.0e-5, shardopt.device = array<i32: 0>, shardopt.order = array<i32: 1, 9>} : tensor<?x64xbf16>
        // … and the other ops of the program
        return %n : tensor<?x64xbf16>
      }
    }
    ```
  }];
  let options = !listconcat(ScenarioPassOptions, [
    Option<"chunks", "chunks", "std::string", [{"1"}],
      "Chunks per micro-batch, comma-separated numbers to choose from">,
    Option<"ring", "ring", "std::string", [{""}],
      "Micro-batches in flight in decode, comma-separated numbers to choose from (default: one step alone)">,
    Option<"joint", "joint", "bool", "false",
      "Choose dims, stages and order together, and write the strategy too (decode only)">,
    Option<"reorder", "reorder", "bool", "false",
      "Allow ops of a chunk to be reordered where no value forbids it">,
    Option<"timeLimitS", "time-limit-s", "double", "0",
      "Time limit per number of chunks, seconds (0: none)">,
    Option<"rounds", "rounds", "int64_t", "64",
      "Search steps per number of chunks (0: no limit); without a time limit, the result is the same on every machine">,
    Option<"seed", "seed", "uint64_t", "1", "Seed of the search">,
    Option<"schedule", "schedule", "std::string", [{""}],
      "Output file of the schedule, as JSON of shard-schedule">,
    Option<"trace", "trace", "std::string", [{""}],
      "Output file of the schedule for trace viewers (Chrome, Perfetto)">,
  ], ReportPassOptions);
}

def DropShardingPass : Pass<"llm-drop-sharding", "::mlir::ModuleOp"> {
  let summary = "Remove the strategy from an annotated module";
  let description = [{
    Removes `llm.strategy` and `llm.service` from the module and `sharding` from
    its ops. A lowered module, whose ops have the sizes of one device, is an
    error.

    Input:

    ```mlir
    module attributes {llm.strategy = #llm.strategy<tp = 8, ep = 1, pp = 1, batch = 64>} {
      func.func @decode(%x: tensor<?x64xbf16>, %w: tensor<64xbf16>) -> tensor<?x64xbf16> {
        %n = llm.rms_norm "attn_norm" dim<0> %x weight(%w) {epsilon = 1.0e-5} : tensor<?x64xbf16>
        // … and the other ops of the program
        return %n : tensor<?x64xbf16>
      }
    }
    ```

    Output:

    ```mlir
    module {
      func.func @decode(%x: tensor<?x64xbf16>, %w: tensor<64xbf16>) -> tensor<?x64xbf16> {
        %n = llm.rms_norm "attn_norm" %x weight(%w) {epsilon = 1.0e-5} : tensor<?x64xbf16>
        // … and the other ops of the program
        return %n : tensor<?x64xbf16>
      }
    }
    ```
  }];
}

def SeparateLayersPass : Pass<"llm-separate-layers", "::mlir::ModuleOp"> {
  let summary = "Separate layers so that each has its own ops and sharding dims";
  let description = [{
    Ops of one name have one dim. This replaces each `llm.repeat` by several, one
    behind the other, whose ops have names of their own: one for each layer
    (`by=layer`), or one for each run of layers with the same window, those of
    equal windows with equal names (`by=window`). Weights are found by the numbers
    of their layers, as before. Caches, which are arguments and results of the
    function, become one for each of the repeats.

    A search of such a program chooses dims for each layer, or for each window; see
    `docs/Selection.md`. All layers being costed one by one, it takes longer.

    Input:

    ```mlir
    func.func @f(%x: tensor<?x8xbf16>, %w: tensor<8xbf16>, %u: tensor<8x8xbf16>) -> tensor<?x8xbf16> {
      %y = llm.repeat 2 init(%r = %x : tensor<?x8xbf16>) invariants(%n = %w : tensor<8xbf16>) {
        %a = llm.rms_norm "norm" %r weight(%n) {epsilon = 1.0e-5} : tensor<?x8xbf16>
        %s = llm.add %r, %a : tensor<?x8xbf16>
        llm.yield %s : tensor<?x8xbf16>
      }
      return %y : tensor<?x8xbf16>
    }
    ```

    Output:

    ```mlir
    func.func @f(%x: tensor<?x8xbf16>, %w: tensor<8xbf16>, %u: tensor<8x8xbf16>) -> tensor<?x8xbf16> {
      %y = llm.repeat 1 layers<0> init(%r = %x : tensor<?x8xbf16>) invariants(%n = %w : tensor<8xbf16>) {
        %a = llm.rms_norm "layer0.norm" %r weight(%n) {epsilon = 1.0e-5} : tensor<?x8xbf16>
        %s = llm.add %r, %a : tensor<?x8xbf16>
        llm.yield %s : tensor<?x8xbf16>
      }
      %z = llm.repeat 1 layers<1> init(%r = %y : tensor<?x8xbf16>) invariants(%n = %w : tensor<8xbf16>) {
        %a = llm.rms_norm "layer1.norm" %r weight(%n) {epsilon = 1.0e-5} : tensor<?x8xbf16>
        %s = llm.add %r, %a : tensor<?x8xbf16>
        llm.yield %s : tensor<?x8xbf16>
      }
      return %z : tensor<?x8xbf16>
    }
    ```
  }];
  let options = [
    Option<"by", "by", "std::string", [{"layer"}],
      "What to separate: layer or window">,
  ];
}

#endif // SHARDOPT_DIALECT_LLM_TRANSFORMS_PASSES_TD
