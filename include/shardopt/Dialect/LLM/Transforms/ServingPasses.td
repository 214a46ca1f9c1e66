//===- ServingPasses.td - Passes about services -*- tablegen -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_TRANSFORMS_SERVINGPASSES_TD
#define SHARDOPT_DIALECT_LLM_TRANSFORMS_SERVINGPASSES_TD

include "mlir/Pass/PassBase.td"
include "shardopt/Dialect/LLM/Transforms/RequestTable.td"

def PlanServingPass : Pass<"llm-plan-serving", "::mlir::ModuleOp"> {
  let summary = "Plan the workers of a service and annotate the module with their strategies";
  let description = [{
    Finds the layout that serves most tokens a second for each device that there
    is, of those that hold a limit on TPOT and one on TTFT, as [predicted serving
    runs](../Serving.md) say: aggregated, where the replicas that decode read
    prompts too, or disaggregated, with two kinds of replicas, how many there are
    of each, and the way of a cache from the one to the other. At a rate it is the
    layout of fewest devices. With `prefill-machine` prompts may be read on devices
    of another machine, from which caches go over the slower of both networks.

    What requests are like is said by `llm.workload`, or by options, which replace
    what it says. `chunk` takes a list, and so do `draft-tokens` with as many
    `accepted-tokens`: the best is chosen. The plans of both kinds are printed as a table on the standard
    error, and `report` has them as JSON. The module is annotated with the
    strategy of the replicas that run its phase (in a module of prefill those that
    read prompts): their degrees, the sequences that they have at a time, and the
    dims that the engine gives to the ops, so that `--llm-insert-collectives`
    makes the program of one of their devices; `llm.service` has the replicas of
    both phases, how many there are, and the requests in flight. `llm.machine` is
    that of the replicas whose strategy the module has; where prompts are read on
    another one, `llm.service` has both, and a module that is planned again is
    planned for both; `prefill-machine` alone moves those that read prompts, `machine`
    alone leaves no other one. Where no layout holds both limits the pass fails.

    Input:

    ```mlir
    module attributes {llm.workload = #llm.workload<phase = decode, context = 4608, isl = 4096, osl = 512, tpot_ms = 30, ttft_ms = 1000>} {
      func.func @decode(%x: tensor<?x64xbf16>, %w: tensor<64xbf16>) -> tensor<?x64xbf16> {
        %n = llm.rms_norm "attn_norm" %x weight(%w) {epsilon = 1.0e-5} : tensor<?x64xbf16>
        // … and the other ops of the program
        return %n : tensor<?x64xbf16>
      }
    }
    ```

    Output:

    ```mlir
    module attributes {llm.service = #llm.service<engine = "vllm", concurrency = 181, decode_workers = 2, decode = <tp = 4, ep = 1, pp = 1, batch = 90>>, llm.strategy = #llm.strategy<tp = 4, ep = 1, pp = 1, batch = 90>, llm.workload = #llm.workload<phase = decode, context = 4608, isl = 4096, osl = 512, tpot_ms = 30, ttft_ms = 1000>} {
      func.func @decode(%x: tensor<?x64xbf16>, %w: tensor<64xbf16>) -> tensor<?x64xbf16> {
        %n = llm.rms_norm "attn_norm" dim<none> %x weight(%w) {epsilon = 1.0e-5} : tensor<?x64xbf16>
        // … and the other ops of the program
        return %n : tensor<?x64xbf16>
      }
    }
    ```
  }];
  let options = !listconcat([
    Option<"machine", "machine", "std::string", [{""}],
      "Name of a machine with constants, or path of a JSON file (default: `llm.machine` of the module, else h100_sxm)">,
    Option<"devices", "devices", "int64_t", "0",
      "Available devices (0: one NVLink domain)">,
    Option<"prefillMachine", "prefill-machine", "std::string", [{""}],
      "Name or JSON file of a prefill machine, with constants">,
    Option<"prefillDevices", "prefill-devices", "int64_t", "0",
      "Devices of the prefill machine, in addition to 'devices' (0: 'devices' counts both)">,
    Option<"engine", "engine", "std::string", [{""}],
      "Serving engine: vllm, sglang, trtllm, any (compares them) or none (any sharding); default: vllm, or none if that gains over 1 %">,
    Option<"mode", "mode", "std::string", [{"best"}],
      "Plan to take: best, aggregated or disaggregated">,
  ], !foreach(entry, !listconcat(RequestTable, FormerRequestTable),
    Option<entry.member, entry.name, "std::string", [{""}], entry.summary>), [
    Option<"chunk", "chunk", "std::string", [{""}],
      "Prompt tokens per step, or a list; default: the engine's">,
    Option<"weightType", "weight-type", "std::string", [{""}],
      "Refused: 'shardopt plan --weight-type' changes types">,
    Option<"kvType", "kv-type", "std::string", [{""}],
      "Refused: 'shardopt plan --kv-type' changes types">,
    Option<"report", "report", "std::string", [{""}],
      "Output file of both plans, as JSON">,
    Option<"threads", "threads", "unsigned", "1",
      "Threads (0: one per core); results do not depend on it">,
  ]);
  let dependentDialects = ["::shardopt::llm::LLMDialect"];
}

#endif // SHARDOPT_DIALECT_LLM_TRANSFORMS_SERVINGPASSES_TD
