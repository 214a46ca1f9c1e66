//===- LLMAttentionOps.td - Attention and its projections -*- tablegen -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_IR_LLMATTENTIONOPS_TD
#define SHARDOPT_DIALECT_LLM_IR_LLMATTENTIONOPS_TD

include "shardopt/Dialect/LLM/IR/LLMOpBase.td"

def LLM_QkvProjOp : LLM_FusedOp<"qkv_proj", [LLM_RowByRow]> {
  let summary = "Fused projection to queries, keys and values";
  let description = [{
    `input * weight + bias`; the columns are all query heads, then all key heads,
    then all value heads, each `head_dim` wide. Where it is `gated` every query
    head has as many more columns behind it, the gate of its output.

    Sharding: 0 contracts a cut hidden size (needs H, gives P), 1 cuts the heads
    (needs R, gives H), none keeps R or T.

    Constraints:
    - (C1) weight rows equal the input's width
    - (C2) weight columns, bias and result width equal `(heads + 2 * kv_heads) * head_dim`, where it
      is `gated` `(2 * heads + 2 * kv_heads) * head_dim`
    - (C3) `heads`, `kv_heads` and `head_dim` are positive

    ```mlir
    func.func @f(%x: tensor<?x64xbf16>, %w: tensor<64x96xbf16>) -> tensor<?x96xbf16> {
      %q = llm.qkv_proj "qkv_proj" %x, %w {heads = 8, kv_heads = 2, head_dim = 8} : tensor<?x64xbf16> -> tensor<?x96xbf16>
      return %q : tensor<?x96xbf16>
    }
    ```
  }];
  let arguments = !con((ins LLM_Activation2D:$input, LLM_Matrix:$weight,
                            Optional<LLM_Vector>:$bias, I64Attr:$heads,
                            I64Attr:$kv_heads, I64Attr:$head_dim,
                            UnitAttr:$gated), common);
  let results = (outs LLM_Activation2D:$result);
  let operandSyntax = ["", ",", "bias?"];
  let typeRule = "typesOfProjection";
  let weightOperand = 1;
}

def LLM_LinearOp : LLM_FusedOp<"linear", [AttrSizedOperandSegments, LLM_RowByRow]> {
  let summary = "Linear projection, with an optional norm of its input";
  let description = [{
    `norm(input) * weight + bias`, where `norm` is a root-mean-square norm with its
    own weight and `epsilon`, or absent. The projections of multi-head latent
    attention. `heads` says that the columns are that many heads, which sharding
    dim 1 keeps whole. With `transposed` the weight is `[out, in]`.

    Sharding: 0 contracts a cut input (needs H, gives P; an inner norm of a cut or
    partial input costs an all-reduce of its sum of squares), 1 cuts the columns
    (needs R, gives H), none keeps R or T.

    Constraints:
    - (C1) weight rows (columns when `transposed`) equal the input's width
    - (C2) weight columns (rows when `transposed`) and bias equal the result's width
    - (C3) a norm weight is as wide as the input and comes with a positive `epsilon`
    - (C4) `heads` divides the result's width

    ```mlir
    func.func @f(%x: tensor<?x24xbf16>, %w: tensor<24x48xbf16>, %n: tensor<24xbf16>) -> tensor<?x48xbf16> {
      %q = llm.linear "q_up" %x, %w norm(%n) {epsilon = 1.0e-6, heads = 4} : tensor<?x24xbf16> -> tensor<?x48xbf16>
      return %q : tensor<?x48xbf16>
    }
    ```
  }];
  let arguments = !con((ins LLM_Activation2D:$input, LLM_Matrix:$weight,
                            Optional<LLM_Vector>:$norm, Optional<LLM_Vector>:$bias,
                            OptionalAttr<F64Attr>:$epsilon,
                            OptionalAttr<I64Attr>:$heads, UnitAttr:$transposed), common);
  let results = (outs LLM_Activation2D:$result);
  let operandSyntax = ["", ",", "norm?", "bias?"];
  let typeRule = "typesOfLinear";
  let weightOperand = 1;
}

def LLM_AttentionOp : LLM_FusedOp<"attention", [AttrSizedOperandSegments],
    ["getLayerFacts", "getPromptRows", "mixesRows", "cutsInsideHeads"]> {
  let summary = "Rotary embedding, cache update and attention";
  let description = [{
    `gqa`: the input holds queries, keys and values as `llm.qkv_proj` orders them.
    Where there is an `epsilon`, queries and keys are normed: head by head, with the
    weights `q_norm` and `k_norm` that all heads share, or with none; with `qk_norm =
    all_heads` the features of all heads are one row to norm; with `mean` every head has
    its mean subtracted and weights of its own. Then they are turned by `rope`, queries
    multiplied as `temperature` says, and keys and values written into the caches
    `[sequence, position, kv_head, feature]` at (row / `sequence`, position). Query head
    j then reads kv head `min((o + j) / group - o / group, kv_heads - 1)`, where o is
    `head_offset` (0 without it) and `group` is heads / kv_heads of the whole model.

    `mla`: the input holds `heads` queries of `nope_dim + rope_dim` features, `latent`
    holds `rank` latent features and `rope_dim` shared rotary ones. The latent is
    normed with `kv_norm` and `kv_norm_epsilon`, the rotary features are turned, and
    both are written into the one cache `[sequence, position, rank + rope_dim]`.
    `kv_up` `[rank, heads * (nope_dim + value_dim)]` makes of a cached latent, head
    by head, `nope_dim` features of the key and `value_dim` of the value.
    With an `indexer` a row reads the positions that it chooses alone: by
    `index_queries`, its heads side by side, and by what `latent` has behind its rotary
    features, the key of the row and a gate a head. The key is normed with `index_norm`
    and `index_norm_bias`, turned, and cached behind the rotary features.

    Softmax of `scale * q.k` over the positions from 0 to the row's own, only the
    last `window` of them where there is a window, or with `chunked` those from the last
    multiple of `window` on; `sinks` adds one logit a head
    that takes weight and gives no value. With a `soft_cap` c the softmax is that of
    `c * tanh(scale * q.k / c)`, sinks apart. Where it is `gated` (gqa only) the input
    has a gate behind each query, and the result is multiplied by its sigmoid.

    `sequence` is the number of rows of a prompt: 1 in decode. A row with a
    negative position is padding: it writes no cache and gives zeros.

    Sharding: 0 cuts the heads (needs H, gives H; the sums of squares of a norm over
    `all_heads` are all-reduced), 1 the features of every head
    (gqa in decode only, where `rope` turns whole heads of style half or none; needs H,
    the scores are all-reduced, gives H), none keeps
    R (caches replicated) or T (caches cut by sequences, or in prefill with cp = tp by
    positions, whose keys are gathered).

    Constraints:
    - (C1) gqa: one input of `(heads + 2 * kv_heads) * head_dim` columns, with `heads * head_dim` more
      where it is `gated`, no latent, two caches `[?, ?, kv_heads, head_dim]`, a result of
      `heads * head_dim` columns
    - (C2) mla: an input of `heads * (nope_dim + rope_dim)` columns, a latent of
      `rank + rope_dim`, one cache `[?, ?, rank + rope_dim]` (with an `indexer`, `dim + heads` and `dim`
      of it more), `kv_norm` of `rank` entries with a positive
      `kv_norm_epsilon`, `kv_up` as above, a result of `heads * value_dim` columns
    - (C3) the caches come back with their types
    - (C4) `q_norm` and `k_norm` come together, with a positive `epsilon`, `head_dim` wide, or with a
      `qk_norm`, which they come with, of `heads * head_dim` and `kv_heads * head_dim` entries; gqa only
    - (C5) `sinks` has one entry a head
    - (C6) `sequence`, `group` and every size are positive, `window` is where present
    - (C7) `rope.dim` is at most `head_dim` (gqa), or equals `rope_dim` (mla)
    - (C8) dim 1 is illegal for mla, in prefill (`sequence` over 1), for an odd `head_dim`, where
      `rope` is interleaved or turns a part of each head, and where it is `gated`
    - (C9) no cache is there twice: each is written in its place
    - (C10) the positions are not the function's argument with the role `tokens`
    - (C11) `soft_cap` is positive where present
    - (C12) `temperature` is of gqa only
    - (C13) `indexer`, `index_queries` of its `heads * dim` columns, `index_norm` and `index_norm_bias` of
      `dim` entries come together, in mla only and without a `window`; `rope` turns at most `dim` features

    ```mlir
    func.func @f(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>, %v: tensor<?x?x2x8xbf16>) -> tensor<?x64xbf16> {
      %a, %k1, %v1 = llm.attention gqa "attention" %x at(%p) cache(%k, %v) {heads = 8, kv_heads = 2, head_dim = 8, group = 4, scale = 0.35355339059327379, rope = #llm.rope<dim = 8, theta = 1.0e4>} : tensor<?x96xbf16>, tensor<?x?x2x8xbf16> -> tensor<?x64xbf16>
      return %a : tensor<?x64xbf16>
    }
    ```
  }];
  let arguments = !con((ins LLM_AttentionKindAttr:$kind, LLM_Activation2D:$input,
                            Optional<LLM_Activation2D>:$latent,
                            LLM_Indices1D:$positions, Variadic<LLM_Cache>:$caches,
                            Optional<LLM_Vector>:$q_norm, Optional<LLM_Vector>:$k_norm,
                            Optional<LLM_Vector>:$sinks,
                            Optional<LLM_Vector>:$kv_norm,
                            Optional<LLM_Matrix>:$kv_up,
                            Optional<Index>:$head_offset,
                            Optional<LLM_Activation2D>:$index_queries,
                            Optional<LLM_Vector>:$index_norm,
                            Optional<LLM_Vector>:$index_norm_bias,
                            I64Attr:$heads, OptionalAttr<I64Attr>:$kv_heads,
                            OptionalAttr<I64Attr>:$head_dim,
                            DefaultValuedAttr<I64Attr, "1">:$group,
                            OptionalAttr<I64Attr>:$nope_dim,
                            OptionalAttr<I64Attr>:$rope_dim,
                            OptionalAttr<I64Attr>:$value_dim,
                            OptionalAttr<I64Attr>:$rank, F64Attr:$scale,
                            OptionalAttr<F64Attr>:$soft_cap,
                            OptionalAttr<LLM_RopeAttr>:$rope,
                            OptionalAttr<I64Attr>:$window, UnitAttr:$chunked,
                            OptionalAttr<LLM_TemperatureAttr>:$temperature,
                            OptionalAttr<LLM_HeadNormAttr>:$qk_norm,
                            OptionalAttr<F64Attr>:$epsilon,
                            OptionalAttr<F64Attr>:$kv_norm_epsilon,
                            DefaultValuedAttr<I64Attr, "1">:$sequence,
                            UnitAttr:$gated,
                            OptionalAttr<LLM_IndexerAttr>:$indexer), common);
  let results = (outs LLM_Activation2D:$result, Variadic<LLM_Cache>:$new_caches);
  let operandSyntax = ["", ",?", "at", "cache*", "q_norm?", "k_norm?", "sinks?", "kv_norm?", "kv_up?", "head_offset?",
                       "index_queries?", "index_norm?", "index_norm_bias?"];
  let writtenOperands = [0, 3];
  let typeRule = "typesOfAttention";
  let extraClassDeclaration = [{
    /// Whether rotary pairs, if any, are features j and j + head_dim / 2, as
    /// sharding dim 1 cuts them; gqa only.
    bool turnsWholeHalves();
    /// Whether queries and keys of a device's heads are normed apart, before
    /// whatever else it does with them: not head by head with one weight.
    bool normsHeadsApart() { return getQkNorm().has_value(); }
    /// Features of an indexer's key, which a cached latent has behind it; 0
    /// without one.
    int64_t indexDim() { return getIndexer() ? getIndexer()->getDim() : 0; }
  }];
  let hasKind = true;
  let moreResults = ["new_cache", "new_cache"];
  let weightOperand = 8;
}

def LLM_OutProjOp : LLM_FusedOp<"out_proj", [LLM_RowByRow]> {
  let summary = "Output projection of attention";
  let description = [{
    `input * weight + bias`; the rows of the weight are `heads` heads.

    Sharding: 0 contracts cut heads (or cut features of heads; needs H, gives P), 1
    cuts the hidden size (needs R, gives H), none keeps R or T.

    Constraints:
    - (C1) weight rows equal the input's width
    - (C2) weight columns and bias equal the result's width
    - (C3) `heads` divides the input's width

    ```mlir
    func.func @f(%x: tensor<?x64xbf16>, %w: tensor<64x32xbf16>) -> tensor<?x32xbf16> {
      %o = llm.out_proj "out_proj" %x, %w {heads = 8} : tensor<?x64xbf16> -> tensor<?x32xbf16>
      return %o : tensor<?x32xbf16>
    }
    ```
  }];
  let arguments = !con((ins LLM_Activation2D:$input, LLM_Matrix:$weight,
                            Optional<LLM_Vector>:$bias, I64Attr:$heads), common);
  let results = (outs LLM_Activation2D:$result);
  let operandSyntax = ["", ",", "bias?"];
  let typeRule = "typesOfProjection";
  let weightOperand = 1;
}

#endif // SHARDOPT_DIALECT_LLM_IR_LLMATTENTIONOPS_TD
