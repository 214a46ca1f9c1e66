//===- LLMContextPieces.td - Attention over shared positions -*- tablegen -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pieces of attention where devices share the positions of a sequence: device i
// of n has the positions i, i + n, i + 2 n, … in its cache, one after the other.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_IR_LLMCONTEXTPIECES_TD
#define SHARDOPT_DIALECT_LLM_IR_LLMCONTEXTPIECES_TD

include "shardopt/Dialect/LLM/IR/LLMPieces.td"

def LLM_PartialAttentionOp : LLM_Piece<"partial_attention", [AttrSizedOperandSegments]> {
  let summary = "Attention over the positions that a device has";
  let description = [{
    As `llm.attention`, over the positions p with `p mod stride = offset` alone, of which
    the caches have p at `p / stride`. A row is written where its position is one of
    these. `sums` holds, for each row and head, the logarithm of the sum of the
    exponentials of its scores, -inf where the device has none of the positions that
    the row sees; `sinks` counts where the offset is 0. `llm.attention_merge` makes of
    what all devices have what attention over all positions gives.

    With a latent, queries come as `llm.latent_queries` makes them, `rank + rope_dim`
    features a head, and `rank` features a head are taken of the latents.

    Constraints:
    - (C1) without a latent: `(heads + 2 * kv_heads) * head_dim` columns come in and `heads *
      head_dim` go out, and there are two caches `[?, ?, kv_heads, head_dim]`
    - (C2) with a latent of `rank + rope_dim` columns: `heads * (rank + rope_dim)` columns come in and
      `heads * rank` go out, there is one cache `[?, ?, rank + rope_dim]`, and `kv_norm` has `rank` entries
    - (C3) the caches come back with their types
    - (C4) `sums` has one column a head, `sinks` one entry
    - (C5) all sizes and `stride` are positive, `window` and `soft_cap` are where present

    ```mlir
    func.func @f(%x: tensor<?x96xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>, %v: tensor<?x?x2x8xbf16>, %o: index) -> tensor<?x64xbf16> {
      %a, %s, %k1, %v1 = llm.partial_attention %x at(%p) cache(%k, %v) offset(%o) {stride = 2, heads = 8, kv_heads = 2, head_dim = 8, group = 4, scale = 0.35355339059327379} : tensor<?x96xbf16>, tensor<?x?x2x8xbf16> -> tensor<?x64xbf16>
      return %a : tensor<?x64xbf16>
    }
    ```
  }];
  let arguments = (ins LLM_Activation2D:$input, Optional<LLM_Activation2D>:$latent,
                       LLM_Indices1D:$positions, Variadic<LLM_Cache>:$caches,
                       Optional<LLM_Vector>:$q_norm, Optional<LLM_Vector>:$k_norm,
                       Optional<LLM_Vector>:$sinks, Optional<LLM_Vector>:$kv_norm,
                       Optional<Index>:$head_offset, Index:$offset, I64Attr:$stride,
                       I64Attr:$heads, DefaultValuedAttr<I64Attr, "1">:$kv_heads,
                       DefaultValuedAttr<I64Attr, "1">:$head_dim,
                       DefaultValuedAttr<I64Attr, "1">:$group,
                       DefaultValuedAttr<I64Attr, "1">:$rope_dim,
                       DefaultValuedAttr<I64Attr, "1">:$rank, F64Attr:$scale,
                       OptionalAttr<F64Attr>:$soft_cap,
                       OptionalAttr<LLM_RopeAttr>:$rope,
                       OptionalAttr<I64Attr>:$window, UnitAttr:$chunked,
                       OptionalAttr<LLM_TemperatureAttr>:$temperature,
                       OptionalAttr<F64Attr>:$epsilon,
                       OptionalAttr<F64Attr>:$kv_norm_epsilon);
  let results = (outs LLM_Activation2D:$result, LLM_RoutingWeights:$sums,
                      Variadic<LLM_Cache>:$new_caches);
  let operandSyntax = ["", ",?", "at", "cache*", "q_norm?", "k_norm?", "sinks?", "kv_norm?", "head_offset?", "offset"];
  let writtenOperands = [0, 3];
  let typeRule = "typesOfPartialAttention";
  let moreResults = ["sums", "new_cache", "new_cache"];
}

def LLM_AttentionMergeOp : LLM_Piece<"attention_merge"> {
  let summary = "Attention over all positions, of what parts of them gave";
  let description = [{
    The columns of `values` are `parts` blocks, of as many heads each as a block of `sums`
    has columns: results of `llm.partial_attention`. A head's result is the mean over
    parts, each weighted by the exponential of its sum; zeros where all sums are -inf.

    Constraints:
    - (C1) `parts` is positive and divides the columns of `values` and of `sums`
    - (C2) the heads of a part divide its columns
    - (C3) the result has the columns of a part

    ```mlir
    func.func @f(%v: tensor<?x64xbf16>, %s: tensor<?x8xf32>) -> tensor<?x32xbf16> {
      %a = llm.attention_merge %v, %s {parts = 2} : tensor<?x64xbf16>, tensor<?x8xf32> -> tensor<?x32xbf16>
      return %a : tensor<?x32xbf16>
    }
    ```
  }];
  let arguments = (ins LLM_Activation2D:$values, LLM_RoutingWeights:$sums, I64Attr:$parts);
  let results = (outs LLM_Activation2D:$result);
  let operandSyntax = ["", ","];
  let writtenOperands = [0, 1];
  let typeRule = "noTypes";
}

def LLM_LatentQueriesOp : LLM_Piece<"latent_queries"> {
  let summary = "Queries of latent attention, brought to the space of the latents";
  let description = [{
    Of each head's `nope_dim + rope_dim` features the first, times the keys' half of
    `kv_up`, are `rank` features that meet the latents themselves; the others are turned
    and follow them.

    Constraints:
    - (C1) the input has `heads * (nope_dim + rope_dim)` columns, the result `heads * (rank + rope_dim)`
    - (C2) `kv_up` is `[rank, heads * (nope_dim + value_dim)]`
    - (C3) all sizes are positive

    ```mlir
    func.func @f(%x: tensor<?x24xbf16>, %p: tensor<?xi32>, %u: tensor<6x24xbf16>) -> tensor<?x20xbf16> {
      %q = llm.latent_queries %x, %u at(%p) {heads = 2, nope_dim = 8, rope_dim = 4} : tensor<?x24xbf16>, tensor<6x24xbf16> -> tensor<?x20xbf16>
      return %q : tensor<?x20xbf16>
    }
    ```
  }];
  let arguments = (ins LLM_Activation2D:$input, LLM_Matrix:$kv_up,
                       LLM_Indices1D:$positions, I64Attr:$heads, I64Attr:$nope_dim,
                       I64Attr:$rope_dim, OptionalAttr<LLM_RopeAttr>:$rope);
  let results = (outs LLM_Activation2D:$result);
  let operandSyntax = ["", ",", "at"];
  let writtenOperands = [0, 1];
  let typeRule = "typesOfLatentQueries";
}

def LLM_LatentValuesOp : LLM_Piece<"latent_values"> {
  let summary = "Values of latent attention, of what its heads took of the latents";
  let description = [{
    Each head's `rank` features times the values' half of `kv_up`.

    Constraints:
    - (C1) the input has `heads * rank` columns, the result `heads * value_dim`
    - (C2) `kv_up` is `[rank, heads * (nope_dim + value_dim)]`
    - (C3) all sizes are positive

    ```mlir
    func.func @f(%x: tensor<?x12xbf16>, %u: tensor<6x24xbf16>) -> tensor<?x8xbf16> {
      %v = llm.latent_values %x, %u {heads = 2, nope_dim = 8} : tensor<?x12xbf16>, tensor<6x24xbf16> -> tensor<?x8xbf16>
      return %v : tensor<?x8xbf16>
    }
    ```
  }];
  let arguments = (ins LLM_Activation2D:$input, LLM_Matrix:$kv_up, I64Attr:$heads,
                       I64Attr:$nope_dim);
  let results = (outs LLM_Activation2D:$result);
  let operandSyntax = ["", ","];
  let writtenOperands = [0, 1];
  let typeRule = "noTypes";
}

def LLM_WritePositionsOp : LLM_Piece<"write_positions"> {
  let summary = "Positions of prompts, written into the cache of a device";
  let description = [{
    The cache, in which `[row / sequence, p / stride]` is that of `values` for every row
    whose position p is not negative and has `p mod stride = offset`.

    Constraints:
    - (C1) cache, values and result have one type
    - (C2) `sequence` and `stride` are positive

    ```mlir
    func.func @f(%c: tensor<?x?x24xbf16>, %v: tensor<?x?x24xbf16>, %p: tensor<?xi32>, %o: index) -> tensor<?x?x24xbf16> {
      %w = llm.write_positions %c, %v at(%p) offset(%o) {sequence = 16, stride = 2} : tensor<?x?x24xbf16>
      return %w : tensor<?x?x24xbf16>
    }
    ```
  }];
  let arguments = (ins LLM_Cache:$cache, LLM_Cache:$values, LLM_Indices1D:$positions,
                       Index:$offset, I64Attr:$sequence, I64Attr:$stride);
  let results = (outs LLM_Cache:$result);
  let operandSyntax = ["", ",", "at", "offset"];
  let writtenResults = "0";
  let typeRule = "typesOfWritePositions";
}

def LLM_WriteCacheOp : LLM_Piece<"write_cache", [AttrSizedOperandSegments]> {
  let summary = "What rows add to the caches of attention";
  let description = [{
    The caches as `llm.attention` of the rows leaves them. Without a `rank` the input
    holds keys, then values, of `kv_heads` heads: keys are normed where there is an
    `epsilon`, and turned. With one it holds `rank` latent features, which are normed,
    and `rope_dim` rotary ones, which are turned. A row with a negative position is
    not written.

    Constraints:
    - (C1) without a `rank`: the input has `2 * kv_heads * head_dim` columns, and there are two caches
      `[?, ?, kv_heads, head_dim]`
    - (C2) with a `rank`: the input has `rank + rope_dim` columns, there is one cache
      `[?, ?, rank + rope_dim]`, and `kv_norm` has `rank` entries and a positive `kv_norm_epsilon`
    - (C3) the caches come back with their types
    - (C4) all sizes are positive

    ```mlir
    func.func @f(%x: tensor<?x32xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x8xbf16>, %v: tensor<?x?x2x8xbf16>) -> tensor<?x?x2x8xbf16> {
      %k1, %v1 = llm.write_cache %x at(%p) cache(%k, %v) {sequence = 16, kv_heads = 2, head_dim = 8} : tensor<?x32xbf16>, tensor<?x?x2x8xbf16>
      return %k1 : tensor<?x?x2x8xbf16>
    }
    ```
  }];
  let arguments = (ins LLM_Activation2D:$input, LLM_Indices1D:$positions,
                       Variadic<LLM_Cache>:$caches, Optional<LLM_Vector>:$k_norm,
                       Optional<LLM_Vector>:$kv_norm, I64Attr:$sequence,
                       DefaultValuedAttr<I64Attr, "1">:$kv_heads,
                       DefaultValuedAttr<I64Attr, "1">:$head_dim,
                       OptionalAttr<I64Attr>:$rank, OptionalAttr<I64Attr>:$rope_dim,
                       OptionalAttr<LLM_RopeAttr>:$rope,
                       OptionalAttr<LLM_HeadNormAttr>:$qk_norm,
                       OptionalAttr<F64Attr>:$epsilon,
                       OptionalAttr<F64Attr>:$kv_norm_epsilon);
  let results = (outs Variadic<LLM_Cache>:$new_caches);
  let operandSyntax = ["", "at", "cache*", "k_norm?", "kv_norm?"];
  let writtenOperands = [0, 2];
  let writtenResults = "0";
  let typeRule = "typesOfWriteCache";
  let moreResults = ["new_cache"];
}

def LLM_Rows : LLM_StaticFrom<1, TensorRankOf<[AnyFloat, I32], [1, 2]>,
    "1D or 2D tensor of floating-point values or 32-bit integers, static but for rows">;

def LLM_DealRowsOp : LLM_Piece<"deal_rows"> {
  let summary = "Rows of prompts, dealt to devices by position";
  let description = [{
    `ranks` blocks of `block` rows: row `p * ceil(sequence / ranks) + i` of block r is row
    `i * ranks + r` of prompt p, whose rows are `sequence`. What has no such row is `fill`.
    So the devices have alike many of the early positions of a prompt, which attend to few
    others, and of the late ones.

    Constraints:
    - (C1) input and result agree but for the number of rows
    - (C2) `sequence` and `ranks` are positive

    ```mlir
    func.func @f(%x: tensor<?x32xbf16>, %b: index) -> tensor<?x32xbf16> {
      %d = llm.deal_rows %x block(%b) {sequence = 6, ranks = 4} : tensor<?x32xbf16>
      return %d : tensor<?x32xbf16>
    }
    ```
  }];
  let arguments = (ins LLM_Rows:$input, Index:$block, I64Attr:$sequence, I64Attr:$ranks,
                       DefaultValuedAttr<I64Attr, "0">:$fill);
  let results = (outs LLM_Rows:$result);
  let operandSyntax = ["", "block"];
  let writtenResults = "0";
  let typeRule = "typesOfDealtRows";
}

def LLM_CollectRowsOp : LLM_Piece<"collect_rows"> {
  let summary = "Rows that llm.deal_rows has dealt, in their order";
  let description = [{
    The first `rows` rows of prompts whose rows stand as `llm.deal_rows` has them.

    Constraints:
    - (C1) input and result agree but for the number of rows
    - (C2) `sequence` and `ranks` are positive

    ```mlir
    func.func @f(%x: tensor<?x32xbf16>, %r: index) -> tensor<?x32xbf16> {
      %c = llm.collect_rows %x rows(%r) {sequence = 6, ranks = 4} : tensor<?x32xbf16>
      return %c : tensor<?x32xbf16>
    }
    ```
  }];
  let arguments = (ins LLM_Rows:$input, Index:$rows, I64Attr:$sequence, I64Attr:$ranks);
  let results = (outs LLM_Rows:$result);
  let operandSyntax = ["", "rows"];
  let writtenResults = "0";
  let typeRule = "typesOfDealtRows";
}

def LLM_SelectBlocksOp : LLM_Piece<"select_blocks", [LLM_RowByRow]> {
  let summary = "Choice of blocks of columns, by numbers";
  let description = [{
    Of the last dim, block u of the result is block `places[u]` of the input, zeros where that is negative:
    heads that stand elsewhere from device to device.

    Constraints:
    - (C1) `places` divides the columns of the result, and the width of a block those of the
      input
    - (C2) all other sizes are alike

    ```mlir
    func.func @f(%x: tensor<?x32xbf16>, %p: tensor<3xi32>) -> tensor<?x24xbf16> {
      %y = llm.select_blocks %x, %p : tensor<?x32xbf16>, tensor<3xi32> -> tensor<?x24xbf16>
      return %y : tensor<?x24xbf16>
    }
    ```
  }];
  let arguments = (ins TensorRankOf<[AnyFloat], [2, 3]>:$input,
                       LLM_StaticFrom<0, 1DTensorOf<[I32]>, "1D tensor of a known number of 32-bit integers">:$places);
  let results = (outs TensorRankOf<[AnyFloat], [2, 3]>:$result);
  let operandSyntax = ["", ","];
  let writtenOperands = [0, 1];
  let typeRule = "noTypes";
}

#endif // SHARDOPT_DIALECT_LLM_IR_LLMCONTEXTPIECES_TD
