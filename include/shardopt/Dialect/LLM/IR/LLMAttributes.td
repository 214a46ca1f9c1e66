//===- LLMAttributes.td - Attributes of the llm dialect -*- tablegen -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_IR_LLMATTRIBUTES_TD
#define SHARDOPT_DIALECT_LLM_IR_LLMATTRIBUTES_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "shardopt/Dialect/LLM/IR/LLMDialect.td"

class LLM_Attr<string name, string attrMnemonic> : AttrDef<LLM_Dialect, name> {
  let mnemonic = attrMnemonic;
}

class LLM_Enum<string name, string desc, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, desc, cases> {
  let cppNamespace = "::shardopt::llm";
  let genSpecializedAttr = 0;
}

class LLM_EnumAttr<EnumAttrInfo info, string mnemonic>
    : EnumAttr<LLM_Dialect, info, mnemonic> {
  let assemblyFormat = "`<` $value `>`";
}

// A real number, printed so that it reads back to the same double.
class LLM_Real<string desc> : APFloatParameter<desc> {
  let printer = "::shardopt::llm::printReal($_printer, $_self)";
}
class LLM_RealOr<string desc, string default> : LLM_Real<desc> {
  let defaultValue = default;
}

//===----------------------------------------------------------------------===//
// Sharding
//===----------------------------------------------------------------------===//

def LLM_DimAttr : LLM_Attr<"Dim", "dim"> {
  let summary = "The sharding dim of an op";
  let description = [{
    `#llm.dim<0>` and `#llm.dim<1>` name the dim of the op's weight `[in, out]`
    that is cut over the tensor-parallel group, or of its activation
    `[rows, features]` where it has no weight; `#llm.dim<none>` cuts neither.
  }];
  let parameters = (ins "::shardopt::Dim":$value);
  let hasCustomAssemblyFormat = 1;
}

def LLM_LayersAttr : LLM_Attr<"Layers", "layers"> {
  let summary = "Numbers of layers";
  let description = [{
    On an argument, as `llm.layers`: of the layers in the checkpoint whose weights
    are stacked there. Ranges of them are written by their ends.

    ```mlir
    func.func private @weights(tensor<4x8xbf16> {llm.layers = #llm.layers<0-2, 60>})
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$numbers);
  let hasCustomAssemblyFormat = 1;
}

def LLM_StrategyAttr : LLM_Attr<"Strategy", "strategy"> {
  let summary = "Degrees of parallelism and batch";
  let description = [{
    On a module, as `llm.strategy`. What is absent is open to a search; what is
    there before a search is a pin. `stages` are the layers of each of the `pp`
    stages; where they are absent, layers are divided evenly.

    ```mlir
    module attributes {llm.strategy = #llm.strategy<tp = 8, ep = 16, pp = 4, batch = 8192>} {}
    ```

    ```mlir
    module attributes {llm.strategy = #llm.strategy<tp = 8, ep = 1, pp = 3, batch = 64, stages = [27, 28, 25]>} {}
    ```
  }];
  let parameters = (ins "::shardopt::PartialDegrees":$degrees);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

// The phase that a cost model knows.
def LLM_Phase : AttrParameter<"::shardopt::cost::Phase", "phase of inference"> {
  let parser = "::shardopt::llm::parsePhase($_parser)";
  let printer = "$_printer << ::shardopt::cost::spell($_self)";
}

def LLM_WorkloadAttr : LLM_Attr<"Workload", "workload"> {
  let summary = "The workload that a program is built for";
  let description = [{
    `context` is the number of tokens that a decode step attends to, or the
    number of tokens S of each prompt in prefill.

    ```mlir
    module attributes {llm.workload = #llm.workload<phase = decode, context = 16384>} {}
    ```

    What follows is said of requests, for a service that is planned for them
    (`--llm-plan-serving`), each where it is known: `isl` and `osl`, tokens of a
    prompt and of its completion; `concurrency`, requests in flight over all
    devices, or `rate`, requests per second; `tpot_ms` and `ttft_ms`, SLOs on the
    time per output token and to the first one, which a search takes too where its
    options say none; `draft_tokens`, speculative tokens that a step verifies, and
    `accepted_tokens`, how many of them are accepted in the mean; `draft_layers`, the
    MTP layers that make them, or `draft_parameters`, those of another head in 1e9;
    `prefix_cache_hit_rate`, the share of a prompt that the prefix cache holds;
    `expert_imbalance`, the load of the fullest EP rank over the mean, minus 1.

    Constraints:
    - (C1) each is in its range
    - (C2) `isl` and `osl` come together
    - (C3) what is not a limit needs them
    - (C4) `concurrency` and `rate` exclude each other
    - (C5) `accepted_tokens` is at most `draft_tokens`, which come with `draft_layers`
      or `draft_parameters`, or neither
    - (C6) `context` is no longer than a sequence of them: at most `isl + osl`, in
      prefill at most `isl`

    ```mlir
    module attributes {llm.workload = #llm.workload<phase = decode, context = 4608, isl = 4096, osl = 512, concurrency = 64, tpot_ms = 30, ttft_ms = 1000>} {}
    ```
  }];
  let parameters = (ins
    LLM_Phase:$phase,
    "int64_t":$contextLength,
    "::shardopt::RequestLoad":$requests);
  let assemblyFormat = "`<` `phase` `=` $phase `,` `context` `=` $contextLength `` "
                       "custom<Requests>($requests) `>`";
  let builders = [
    AttrBuilder<(ins "::shardopt::cost::Phase":$phase, "int64_t":$contextLength), [{
      return $_get($_ctxt, phase, contextLength, ::shardopt::RequestLoad());
    }]>,
  ];
  let genVerifyDecl = 1;
}

def LLM_ServiceAttr : LLM_Attr<"Service", "service"> {
  let summary = "The workers of a service";
  let description = [{
    `concurrency` requests are in flight over `decode_workers`, each with the
    strategy `decode`. They prefill prompts too, unless there are
    `prefill_workers`, each with the strategy `prefill`. If these are on another
    machine, it is the `prefill_machine`, and the other one the `decode_machine`:
    `llm.machine` is the machine of the module's own workers. A batch is that of
    one worker: sequences that it decodes at a time, or prompts. `decoders` and
    `readers`, the former names of the numbers of workers, are read too.

    Constraints:
    - (C1) `concurrency` and `decode_workers` are positive
    - (C2) `prefill_workers`, positive, and `prefill` come together
    - (C3) strategies are complete
    - (C4) `decode_machine` and `prefill_machine` come together, name something, and need
      `prefill_workers`
    - (C5) `engine` is vllm, sglang, trtllm, or none for workers that no engine has to run

    ```mlir
    module attributes {llm.service = #llm.service<engine = "vllm", concurrency = 362, decode_workers = 2, decode = <tp = 2, ep = 1, pp = 1, batch = 180>, prefill_workers = 4, prefill = <tp = 1, ep = 1, pp = 1, batch = 1>, decode_machine = "h200_sxm", prefill_machine = "h100_sxm">} {}
    ```
  }];
  let parameters = (ins
    "::mlir::StringAttr":$engine,
    "int64_t":$concurrency,
    "int64_t":$decode_workers,
    "::shardopt::llm::StrategyAttr":$decode,
    DefaultValuedParameter<"int64_t", "0">:$prefill_workers,
    OptionalParameter<"::shardopt::llm::StrategyAttr">:$prefill,
    OptionalParameter<"::mlir::StringAttr">:$decode_machine,
    OptionalParameter<"::mlir::StringAttr">:$prefill_machine);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Facts of a model
//===----------------------------------------------------------------------===//

def LLM_RopeStyle : LLM_Enum<"RopeStyle", "which features make a rotary pair", [
    I32EnumAttrCase<"Half", 0, "half">,
    I32EnumAttrCase<"Interleaved", 1, "interleaved">]>;

def LLM_RopeScaling : LLM_Enum<"RopeScaling", "scaling of rotary frequencies", [
    I32EnumAttrCase<"None", 0, "none">,
    I32EnumAttrCase<"Linear", 1, "linear">,
    I32EnumAttrCase<"Llama3", 2, "llama3">,
    I32EnumAttrCase<"Yarn", 3, "yarn">,
    I32EnumAttrCase<"LongRope", 4, "longrope">]>;

def LLM_RopeAttr : LLM_Attr<"Rope", "rope"> {
  let summary = "Rotary position embedding";
  let description = [{
    Pair j of the `dim` rotary features turns by `position * f_j`, where before
    scaling `f_j = theta^(-2j/dim)`. With `style = half` pair j is features
    `(j, j + dim/2)`; with `interleaved` it is `(2j, 2j + 1)` of the input, and
    the output holds first all first halves, then all second ones.

    Scaling: `linear` divides every frequency by `factor`. `llama3` divides those
    of wave length above `original_context / low_freq_factor`, keeps those below
    `original_context / high_freq_factor`, and interpolates between. `yarn`
    interpolates between kept and divided frequencies by a ramp over j from
    `d(beta_fast)` to `d(beta_slow)`, where
    `d(r) = dim * ln(original_context / (2 pi r)) / (2 ln theta)`, rounded outwards
    (floor, ceil) when `truncate` holds, and clamped to `[0, dim - 1]`. `longrope`
    divides the frequency of pair j by `divisors[j]`.
    Cosine and sine are multiplied by `magnitude`.

    ```mlir
    module attributes {test.rope = #llm.rope<dim = 128, theta = 5.0e5, scaling = llama3, factor = 8.0, low_freq_factor = 1.0, high_freq_factor = 4.0, original_context = 8192>} {}
    ```
  }];
  let parameters = (ins
    "int64_t":$dim,
    LLM_Real<"base of the frequencies">:$theta,
    DefaultValuedParameter<"::shardopt::llm::RopeStyle",
        "::shardopt::llm::RopeStyle::Half">:$style,
    DefaultValuedParameter<"::shardopt::llm::RopeScaling",
        "::shardopt::llm::RopeScaling::None">:$scaling,
    LLM_RealOr<"by how much frequencies are divided", "::llvm::APFloat(1.0)">:$factor,
    LLM_RealOr<"llama3", "::llvm::APFloat(1.0)">:$low_freq_factor,
    LLM_RealOr<"llama3", "::llvm::APFloat(4.0)">:$high_freq_factor,
    LLM_RealOr<"yarn", "::llvm::APFloat(32.0)">:$beta_fast,
    LLM_RealOr<"yarn", "::llvm::APFloat(1.0)">:$beta_slow,
    DefaultValuedParameter<"int64_t", "0">:$original_context,
    DefaultValuedParameter<"bool", "true">:$truncate,
    LLM_RealOr<"factor of cosine and sine", "::llvm::APFloat(1.0)">:$magnitude,
    OptionalParameter<"::mlir::DenseF64ArrayAttr", "longrope: one a pair">:$divisors);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def LLM_ActivationKind : LLM_Enum<"ActivationKind", "activation function", [
    I32EnumAttrCase<"Silu", 0, "silu">,
    I32EnumAttrCase<"Gelu", 1, "gelu">,
    I32EnumAttrCase<"GeluTanh", 2, "gelu_tanh">,
    I32EnumAttrCase<"Relu", 3, "relu">,
    I32EnumAttrCase<"SoftCap", 4, "soft_cap">,
    I32EnumAttrCase<"SquaredRelu", 5, "relu2">]>;

def LLM_ActivationAttr : LLM_Attr<"Activation", "activation"> {
  let summary = "Activation of a feed-forward network";
  let description = [{
    Not gated: `f(x)`. Gated, on `2*ff` columns, gate first, then up:
    `f(gate) * (up + shift)`. With `limit > 0` the gate is first cut to at most
    `limit` and up to `[-limit, limit]`. `alpha` belongs to `silu`, which is
    `x * sigmoid(alpha * x)`. `gelu` is the one of the error function,
    `gelu_tanh` its approximation by a tanh. `relu2` is the square of `relu`. `soft_cap`, never gated, is
    `limit * tanh(alpha * x / limit)`, and `alpha * x` where the limit is 0.

    ```mlir
    module attributes {test.activation = #llm.activation<kind = silu, gated = true, alpha = 1.702, limit = 7.0, shift = 1.0>} {}
    ```
  }];
  let parameters = (ins
    EnumParameter<LLM_ActivationKind>:$kind,
    DefaultValuedParameter<"bool", "false">:$gated,
    LLM_RealOr<"slope inside the sigmoid", "::llvm::APFloat(1.0)">:$alpha,
    LLM_RealOr<"clamp, 0 for none", "::llvm::APFloat(0.0)">:$limit,
    LLM_RealOr<"added to up", "::llvm::APFloat(0.0)">:$shift);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def LLM_Scoring : LLM_Enum<"Scoring", "scores of a router", [
    I32EnumAttrCase<"Softmax", 0, "softmax">,
    I32EnumAttrCase<"Sigmoid", 1, "sigmoid">]>;
def LLM_ScoringAttr : LLM_EnumAttr<LLM_Scoring, "scoring"> {
  let summary = "How a router turns logits into scores";
}

def LLM_HeadNorm : LLM_Enum<"HeadNorm", "norm of queries and keys", [
    I32EnumAttrCase<"AllHeads", 0, "all_heads">,
    I32EnumAttrCase<"Mean", 1, "mean">]>;
def LLM_HeadNormAttr : LLM_EnumAttr<LLM_HeadNorm, "head_norm"> {
  let summary = "How queries and keys are normed, where that is not head by head with one weight";
}

def LLM_TemperatureAttr : LLM_Attr<"Temperature", "temperature"> {
  let summary = "Factor of queries that grows with their position";
  let description = [{
    A query at position p is multiplied by `1 + scale * ln(1 + floor((p + 1) / floor))`.

    ```mlir
    module attributes {test.temperature = #llm.temperature<floor = 8192, scale = 0.1>} {}
    ```
  }];
  let parameters = (ins "int64_t":$floor, LLM_Real<"growth">:$scale);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def LLM_IndexerAttr : LLM_Attr<"Indexer", "indexer"> {
  let summary = "What chooses the positions that a row of latent attention reads";
  let description = [{
    `heads` queries of `dim` features meet one key of a position; what is positive of
    their products is summed over the heads, each times a gate. The `top_k` positions of
    the largest sums are read, of equal ones the first, or all where there are fewer.
    The key is normed with its mean subtracted and `epsilon`; of keys and queries the first
    features, as many as the `rope` of attention has, are turned by it in `style`.

    ```mlir
    module attributes {test.indexer = #llm.indexer<heads = 64, dim = 128, top_k = 2048, epsilon = 1.0e-6>} {}
    ```
  }];
  let parameters = (ins
    "int64_t":$heads, "int64_t":$dim, "int64_t":$top_k,
    LLM_Real<"of the norm of keys">:$epsilon,
    DefaultValuedParameter<"::shardopt::llm::RopeStyle",
        "::shardopt::llm::RopeStyle::Half">:$style);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def LLM_AttentionKind : LLM_Enum<"AttentionKind", "kind of attention", [
    I32EnumAttrCase<"Gqa", 0, "gqa">,
    I32EnumAttrCase<"Mla", 1, "mla">]>;
def LLM_AttentionKindAttr : EnumAttr<LLM_Dialect, LLM_AttentionKind, "attention_kind"> {
  let summary = "Grouped-query attention, or multi-head latent attention";
}

#endif // SHARDOPT_DIALECT_LLM_IR_LLMATTRIBUTES_TD
