//===- LLMPieces.td - Pieces into which the lowering opens ops -*- tablegen -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Made by --llm-insert-collectives only, where a collective falls inside a fused
// op. All sizes are those of one device.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_IR_LLMPIECES_TD
#define SHARDOPT_DIALECT_LLM_IR_LLMPIECES_TD

include "shardopt/Dialect/LLM/IR/LLMOpBase.td"

def LLM_Pieces : OpDocGroup {
  let summary = "Pieces of fused operators";
  let description = [{
    What `--llm-insert-collectives` opens a fused operator into, where a collective
    falls inside it. All sizes are those of one device.
  }];
}

class LLM_Piece<string mnemonic, list<Trait> traits = []>
    : LLM_WrittenOp<mnemonic, !listconcat(traits, [Pure])> {
  let hasVerifier = 1;
  let opDocGroup = LLM_Pieces;
}

//===----------------------------------------------------------------------===//
// Features
//===----------------------------------------------------------------------===//

def LLM_SelectColumnsOp : LLM_Piece<"select_columns", [LLM_RowByRow]> {
  let summary = "Static choice of columns";
  let description = [{
    Column j of the result is the input's column at position j of the list that
    `runs` writes out; -1 stands for zeros. A run is five numbers, `[start, size,
    stride, count, step]`: for c in 0..count, for i in 0..size, the column
    `start + c * step + i * stride`; a start of -1 gives `size * count` times -1.

    The lowering packs features into one equal block a device with it (heads
    that several devices need are repeated, short blocks padded), and unpacks
    gathered blocks into the original order.

    Constraints:
    - (C1) `runs` holds a whole number of runs, with positive sizes and counts
    - (C2) the runs write as many columns as the result has
    - (C3) every column is -1 or inside the input
    - (C4) input and result agree in element type

    ```mlir
    func.func @f(%x: tensor<?x4xbf16>) -> tensor<?x6xbf16> {
      %y = llm.select_columns %x {runs = array<i64: 0, 2, 2, 2, 1, -1, 2, 1, 1, 0>} : tensor<?x4xbf16> -> tensor<?x6xbf16>
      return %y : tensor<?x6xbf16>
    }
    ```
  }];
  let arguments = (ins LLM_Activation2D:$input, DenseI64ArrayAttr:$runs);
  let results = (outs LLM_Activation2D:$result);
  let operandSyntax = [""];
  let typeRule = "noTypes";
}

def LLM_ActivationOp : LLM_Piece<"activation", [LLM_RowByRow]> {
  let summary = "Activation of a projection that was reduced first";
  let description = [{
    Applies `activation` to a raw projection. Where it is gated the columns are
    `blocks` equal blocks, each gate first, then up.

    Constraints:
    - (C1) the input is as wide as the result, or twice as wide when gated
    - (C2) `blocks` is positive and divides the result's width

    ```mlir
    func.func @f(%x: tensor<?x160xbf16>) -> tensor<?x80xbf16> {
      %y = llm.activation %x {activation = #llm.activation<kind = silu, gated = true>, blocks = 2} : tensor<?x160xbf16> -> tensor<?x80xbf16>
      return %y : tensor<?x80xbf16>
    }
    ```
  }];
  let arguments = (ins LLM_Activation2D:$input, LLM_ActivationAttr:$activation,
                       DefaultValuedAttr<I64Attr, "1">:$blocks);
  let results = (outs LLM_Activation2D:$result);
  let operandSyntax = [""];
  let typeRule = "noTypes";
}

def LLM_SumSquaresOp : LLM_Piece<"sum_squares"> {
  let summary = "Sum of squares, a row and a group of columns";
  let description = [{
    Column g of the result is the sum of the squares of the g-th of `groups` equal
    groups of columns, in f32: what a norm over cut features all-reduces. With
    `sums` the sums of the groups themselves follow, for a norm that subtracts the
    mean.

    Constraints:
    - (C1) the result has `groups` columns, or twice as many with `sums`, and `groups` divides
      the input's width

    ```mlir
    func.func @f(%x: tensor<?x8xbf16>) -> tensor<?x1xf32> {
      %s = llm.sum_squares %x : tensor<?x8xbf16>
      return %s : tensor<?x1xf32>
    }
    ```
  }];
  let arguments = (ins LLM_Activation2D:$input, DefaultValuedAttr<I64Attr, "1">:$groups,
                       UnitAttr:$sums);
  let results = (outs LLM_RoutingWeights:$result);
  let operandSyntax = [""];
  let writtenResults = "0";
  let typeRule = "typesOfSumSquares";
}

def LLM_ScaleNormOp : LLM_Piece<"scale_norm", [
    AttrSizedOperandSegments, AllTypesMatch<["input", "result"]>, LLM_RowByRow]> {
  let summary = "Second half of a norm over cut features";
  let description = [{
    `input / sqrt(squares / size + epsilon) * weight`, where `squares` has one column
    for each group of columns of the input, `size` is the number of features of a
    whole group over all devices, and the weight holds this device's features of
    one group, or of all groups, or is absent. With `sums` or a bias `squares` holds sums
    as well, behind the squares, as `llm.sum_squares` with `sums` makes them: the mean is
    subtracted from the input, its square from the mean of the squares, and the bias is
    added.

    Constraints:
    - (C1) weight and bias are as wide as a group: the input's width over the number of groups,
      which is the columns of `squares`, or half of them with sums; the weight can be as wide as the input
    - (C2) `size` and `epsilon` are positive

    ```mlir
    func.func @f(%x: tensor<?x8xbf16>, %s: tensor<?x1xf32>, %w: tensor<8xbf16>) -> tensor<?x8xbf16> {
      %n = llm.scale_norm %x, %s, %w {epsilon = 1.0e-5, size = 16} : tensor<?x8xbf16>, tensor<?x1xf32>
      return %n : tensor<?x8xbf16>
    }
    ```
  }];
  let arguments = (ins LLM_Activation2D:$input, LLM_RoutingWeights:$squares,
                       Optional<LLM_Vector>:$weight, Optional<LLM_Vector>:$bias,
                       F64Attr:$epsilon, I64Attr:$size, UnitAttr:$sums);
  let results = (outs LLM_Activation2D:$result);
  let operandSyntax = ["", ",", ",?", "bias?"];
  let writtenOperands = [0, 1];
  let writtenResults = "0";
  let typeRule = "typesOfScaleNorm";
}

//===----------------------------------------------------------------------===//
// Attention with cut head features
//===----------------------------------------------------------------------===//

def LLM_AttentionScoresOp : LLM_Piece<"attention_scores"> {
  let summary = "Partial attention scores over cut head features";
  let description = [{
    The first half of `llm.attention gqa` on a device that holds some rotary pairs
    of every head, normed already where the model norms them. `input` holds `heads`
    queries and then `kv_heads` keys, of `head_dim` local features: the first
    half of them are first halves of pairs, from pair `pair_offset` on. Turns
    queries and keys by `rope`, multiplies queries as `temperature` says, writes the keys into the cache, and returns the
    partial products `scale * q.k` of row, head and visible position in f32, to be
    all-reduced. A row sees the positions from 0 to its own (the last `window` of
    them), with `chunked` as in `llm.attention`: entry i is of the i-th one, and those
    behind the row's own are zeros. There are as many entries as the cache has
    positions, or `window` where that is less.

    Constraints:
    - (C1) the input has `(heads + kv_heads) * head_dim` columns, `head_dim` even
    - (C2) the cache is `[?, ?, kv_heads, head_dim]` and comes back with its type
    - (C3) the scores are `[rows, heads, visible positions]`
    - (C4) `heads`, `kv_heads`, `head_dim` and `group` are positive, `window` is where present

    ```mlir
    func.func @f(%x: tensor<?x40xbf16>, %p: tensor<?xi32>, %k: tensor<?x?x2x4xbf16>, %o: index) -> tensor<?x8x?xf32> {
      %s, %k1 = llm.attention_scores %x at(%p) cache(%k) pair_offset(%o) {heads = 8, kv_heads = 2, head_dim = 4, group = 4, scale = 0.35355339059327379, rope = #llm.rope<dim = 8, theta = 1.0e4>} : tensor<?x40xbf16> -> tensor<?x8x?xf32>
      return %s : tensor<?x8x?xf32>
    }
    ```
  }];
  let arguments = (ins LLM_Activation2D:$input, LLM_Indices1D:$positions,
                       LLM_Cache:$cache, Index:$pair_offset, I64Attr:$heads,
                       I64Attr:$kv_heads, I64Attr:$head_dim, I64Attr:$group,
                       F64Attr:$scale, OptionalAttr<LLM_TemperatureAttr>:$temperature,
                       OptionalAttr<LLM_RopeAttr>:$rope,
                       OptionalAttr<I64Attr>:$window, UnitAttr:$chunked);
  let results = (outs TensorRankOf<[F32], [3]>:$scores, LLM_Cache:$new_cache);
  let operandSyntax = ["", "at", "cache", "pair_offset"];
  let typeRule = "typesOfAttentionScores";
  let moreResults = ["cache"];
}

def LLM_AttentionValuesOp : LLM_Piece<"attention_values"> {
  let summary = "Softmax of reduced scores, and the weighted values";
  let description = [{
    The second half: writes the values, `kv_heads` of `head_dim` local features,
    into the cache, takes the softmax of the scores, which are of the visible
    positions as `llm.attention_scores` has them, with `window`, `chunked`, `sinks` and
    `soft_cap` as in `llm.attention`, and returns `heads * head_dim` columns. Scores
    may also be of every position of the cache, as those without a window are.

    Constraints:
    - (C1) the input has `kv_heads * head_dim` columns, the result `heads * head_dim`
    - (C2) the cache is `[?, ?, kv_heads, head_dim]` and comes back with its type
    - (C3) `sinks` has one entry a head
    - (C4) `heads`, `kv_heads`, `head_dim` and `group` are positive, `window` and `soft_cap` are where present
    - (C5) the scores are `[rows, heads, visible positions]`, or `[rows, heads, positions]`
    - (C6) an `llm.attention_scores` that made the scores has the same `window` and `chunked`, or neither

    ```mlir
    func.func @f(%s: tensor<?x8x?xf32>, %x: tensor<?x8xbf16>, %p: tensor<?xi32>, %v: tensor<?x?x2x4xbf16>) -> tensor<?x32xbf16> {
      %a, %v1 = llm.attention_values %s, %x at(%p) cache(%v) {heads = 8, kv_heads = 2, head_dim = 4, group = 4} : tensor<?x8x?xf32>, tensor<?x8xbf16> -> tensor<?x32xbf16>
      return %a : tensor<?x32xbf16>
    }
    ```
  }];
  let arguments = (ins TensorRankOf<[F32], [3]>:$scores, LLM_Activation2D:$input,
                       LLM_Indices1D:$positions, LLM_Cache:$cache,
                       Optional<LLM_Vector>:$sinks, I64Attr:$heads,
                       I64Attr:$kv_heads, I64Attr:$head_dim, I64Attr:$group,
                       OptionalAttr<F64Attr>:$soft_cap,
                       OptionalAttr<I64Attr>:$window, UnitAttr:$chunked);
  let results = (outs LLM_Activation2D:$result, LLM_Cache:$new_cache);
  let operandSyntax = ["", ",", "at", "cache", "sinks?"];
  let writtenOperands = [0, 1];
  let typeRule = "typesOfAttentionValues";
  let moreResults = ["cache"];
}

//===----------------------------------------------------------------------===//
// Routing
//===----------------------------------------------------------------------===//

def LLM_ScaleRowsOp : LLM_Piece<"scale_rows", [AllTypesMatch<["input", "result"]>, LLM_RowByRow]> {
  let summary = "Rows times a factor each";
  let description = [{
    Row r of the result is row r of the input times `weights[r, 0]`: tokens as a router
    with `scale_tokens` passes them on.

    Constraints:
    - (C1) `weights` has one column

    ```mlir
    func.func @f(%x: tensor<?x32xbf16>, %w: tensor<?x1xf32>) -> tensor<?x32xbf16> {
      %y = llm.scale_rows %x, %w : tensor<?x32xbf16>
      return %y : tensor<?x32xbf16>
    }
    ```
  }];
  let arguments = (ins LLM_Activation2D:$input, LLM_RoutingWeights:$weights);
  let results = (outs LLM_Activation2D:$result);
  let operandSyntax = ["", ","];
  let writtenResults = "0";
  let typeRule = "typesOfScaleRows";
}

def LLM_TopKOp : LLM_Piece<"top_k"> {
  let summary = "Choice of experts from complete logits";
  let description = [{
    The second half of `llm.router`: scores, choice and weights from logits
    `[rows, experts]` in f32, of which columns from `experts` on are padding.

    Constraints:
    - (C1) `experts` is positive and at most the width of the logits
    - (C2) `correction` has one entry an expert
    - (C3) indices and weights have `top_k` columns, at most `experts`
    - (C4) `groups` divides the experts, `top_groups` is between 1 and `groups`, and the chosen groups
      hold `top_k` experts; `group_best` is 1 or 2

    ```mlir
    func.func @f(%l: tensor<?x8xf32>) -> tensor<?x2xi32> {
      %i, %w = llm.top_k %l {experts = 8, scoring = #llm.scoring<softmax>, top_k = 2, normalize = true} : tensor<?x8xf32>
      return %i : tensor<?x2xi32>
    }
    ```
  }];
  let arguments = (ins LLM_RoutingWeights:$logits, Optional<LLM_Vector>:$correction,
                       I64Attr:$experts, LLM_ScoringAttr:$scoring, I64Attr:$top_k,
                       DefaultValuedAttr<BoolAttr, "false">:$normalize,
                       DefaultValuedAttr<I64Attr, "1">:$groups,
                       DefaultValuedAttr<I64Attr, "1">:$top_groups,
                       DefaultValuedAttr<I64Attr, "2">:$group_best,
                       DefaultValuedAttr<F64Attr, "1.0">:$scale);
  let results = (outs LLM_Indices2D:$indices, LLM_RoutingWeights:$weights);
  let operandSyntax = ["", "correction?"];
  let writtenOperands = [0, 1];
  let writtenResults = "0";
  let typeRule = "typesOfTopK";
  let moreResults = ["weights"];
}

def LLM_ExchangePlanOp : LLM_Piece<"exchange_plan"> {
  let summary = "Order in which copies of tokens travel to their experts";
  let description = [{
    From the choices of every row (`-1` where a row is padding and is not sent), the
    order of the copies on the wire: by destination (`expert / experts`), then by home
    (`row / block` modulo `homes`, or with `dealt` the row's position in its prompt of so
    many rows, modulo `homes`), then by expert, then by row and choice. `counts`
    `[destinations, homes, experts]` says how many copies of each there are, and `origins`
    has, for each copy, row * top_k + choice.

    Constraints:
    - (C1) `counts` has positive sizes
    - (C2) `dealt` is positive where present

    ```mlir
    func.func @f(%i: tensor<?x2xi32>, %b: index) -> tensor<?xi32> {
      %c, %o = llm.exchange_plan %i block(%b) : tensor<?x2xi32> -> tensor<4x2x2xi32>
      return %o : tensor<?xi32>
    }
    ```
  }];
  let arguments = (ins LLM_Indices2D:$indices, Index:$block,
                       OptionalAttr<I64Attr>:$dealt);
  let results = (outs LLM_Counts:$counts, LLM_Indices1D:$origins);
  let operandSyntax = ["", "block"];
  let typeRule = "typesOfExchangePlan";
  let moreResults = ["origins"];
}

def LLM_LocalExpertsOp : LLM_Piece<"local_experts", [AllTypesMatch<["indices", "result"]>]> {
  let summary = "Choices of the experts of one device";
  let description = [{
    The choices of every row, less `first`, where they are among the `experts` experts
    from there on; -1 for all others. A device that has rows of others plans with it
    which copies its own experts want.

    Constraints:
    - (C1) `experts` is positive

    ```mlir
    func.func @f(%i: tensor<?x2xi32>, %first: index) -> tensor<?x2xi32> {
      %l = llm.local_experts %i first(%first) {experts = 4} : tensor<?x2xi32>
      return %l : tensor<?x2xi32>
    }
    ```
  }];
  let arguments = (ins LLM_Indices2D:$indices, Index:$first, I64Attr:$experts);
  let results = (outs LLM_Indices2D:$result);
  let operandSyntax = ["", "first"];
  let writtenResults = "0";
  let typeRule = "typesOfLocalExperts";
}

def LLM_PermuteOp : LLM_Piece<"permute"> {
  let summary = "Copies of tokens in the order of the wire";
  let description = [{
    Row i of the result is row `origins[i] / top_k` of the tokens, with `weights` times
    column `origins[i] mod top_k` of that row of them.

    Constraints:
    - (C1) the result has the tokens' width and element type
    - (C2) `top_k` is positive
    - (C3) weights have `top_k` columns

    ```mlir
    func.func @f(%t: tensor<?x32xbf16>, %o: tensor<?xi32>) -> tensor<?x32xbf16> {
      %r = llm.permute %t, %o {top_k = 2} : tensor<?x32xbf16>
      return %r : tensor<?x32xbf16>
    }
    ```
  }];
  let arguments = (ins LLM_Activation2D:$tokens, LLM_Indices1D:$origins,
                       Optional<LLM_RoutingWeights>:$weights, I64Attr:$top_k);
  let results = (outs LLM_Activation2D:$result);
  let operandSyntax = ["", ",", "weights?"];
  let writtenResults = "0";
  let typeRule = "typesOfPermute";
}

def LLM_UnpermuteOp : LLM_Piece<"unpermute"> {
  let summary = "Weighted sum of the copies of every token";
  let description = [{
    Row t of the result is the sum over the copies i with `origins[i] / top_k = t` of
    `weights[t, origins[i] mod top_k] * rows[i]`, where top_k is the number of columns of
    the weights; the result has as many rows as the weights. `unweighted`, weights count
    as 1.

    Constraints:
    - (C1) the result has the rows' width and element type

    ```mlir
    func.func @f(%y: tensor<?x32xbf16>, %o: tensor<?xi32>, %w: tensor<?x2xf32>) -> tensor<?x32xbf16> {
      %x = llm.unpermute %y, %o, %w : tensor<?x32xbf16>, tensor<?x2xf32>
      return %x : tensor<?x32xbf16>
    }
    ```
  }];
  let arguments = (ins LLM_Activation2D:$rows, LLM_Indices1D:$origins,
                       LLM_RoutingWeights:$weights, UnitAttr:$unweighted);
  let results = (outs LLM_Activation2D:$result);
  let operandSyntax = ["", ",", ","];
  let writtenOperands = [0, 2];
  let writtenResults = "0";
  let typeRule = "typesOfUnpermute";
}

def LLM_AllToAllVOp : LLM_Op<"all_to_all_v", [
    Pure, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Exchange of uneven numbers of rows";
  let description = [{
    Sends to device d of the group as many rows as `send[d]` adds up to, in order, and
    receives from device s as many as `recv[s]` adds up to; received rows are ordered
    by source. Which is what `shard.all_to_all` does for equal numbers.

    Constraints:
    - (C1) `send` and `recv` have the size of the group in front
    - (C2) the result has the input's width and element type
    - (C3) the grid exists and has the axes, which differ

    ```mlir
    shard.grid @grid(shape = 1x4x2)
    func.func @f(%r: tensor<?x32xbf16>, %s: tensor<4x2x2xi32>, %c: tensor<4x2x2xi32>) -> tensor<?x32xbf16> {
      %e = llm.all_to_all_v %r send(%s) recv(%c) on @grid grid_axes = [1] : (tensor<?x32xbf16>, tensor<4x2x2xi32>, tensor<4x2x2xi32>) -> tensor<?x32xbf16>
      return %e : tensor<?x32xbf16>
    }
    ```
  }];
  let arguments = (ins LLM_Activation2D:$input, LLM_Counts:$send, LLM_Counts:$recv,
                       FlatSymbolRefAttr:$grid, DenseI16ArrayAttr:$grid_axes);
  let results = (outs LLM_Activation2D:$result);
  let assemblyFormat = [{
    $input `send` `(` $send `)` `recv` `(` $recv `)` `on` $grid `grid_axes` `=` $grid_axes
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let opDocGroup = LLM_Pieces;
}

def LLM_BlockSizeOp : LLM_Piece<"block_size"> {
  let summary = "Rows of the fullest home block";
  let description = [{
    From received counts `[sources, homes, experts]`, the largest number of rows that
    one home has, as `tensor<1xi32>`: the devices of a group agree on the largest of
    all before they pad.

    Constraints:
    - (C1) the result has one entry

    ```mlir
    func.func @f(%c: tensor<4x2x2xi32>) -> tensor<1xi32> {
      %b = llm.block_size %c : tensor<4x2x2xi32>
      return %b : tensor<1xi32>
    }
    ```
  }];
  let arguments = (ins LLM_Counts:$counts);
  let results = (outs 1DTensorOf<[I32]>:$result);
  let operandSyntax = [""];
  let writtenResults = "0";
  let typeRule = "typesOfBlockSize";
}

def LLM_PackHomesOp : LLM_Piece<"pack_homes"> {
  let summary = "Received rows, ordered and padded by home";
  let description = [{
    Reorders rows `[source][home][expert]` to `[home][source][expert]` and pads each
    home's rows at their end with zeros to `block` rows. `homes` is `counts` with its
    first two dims exchanged, which the experts' products and
    `llm.unpack_homes` read.

    Constraints:
    - (C1) rows and result agree in width and element type
    - (C2) `homes` has the shape of `counts` with the first two sizes exchanged
    - (C3) `block` has one entry

    ```mlir
    func.func @f(%r: tensor<?x32xbf16>, %c: tensor<4x2x8xi32>, %b: tensor<1xi32>) -> tensor<?x32xbf16> {
      %p, %h = llm.pack_homes %r, %c block(%b) : tensor<?x32xbf16>, tensor<4x2x8xi32>
      return %p : tensor<?x32xbf16>
    }
    ```
  }];
  let arguments = (ins LLM_Activation2D:$rows, LLM_Counts:$counts, 1DTensorOf<[I32]>:$block);
  let results = (outs LLM_Activation2D:$result, LLM_Counts:$homes);
  let operandSyntax = ["", ",", "block"];
  let writtenOperands = [0, 1];
  let writtenResults = "0";
  let typeRule = "typesOfPackHomes";
  let moreResults = ["homes"];
}

def LLM_UnpackHomesOp : LLM_Piece<"unpack_homes"> {
  let summary = "Inverse of pack_homes";
  let description = [{
    Reorders rows `[home][source][expert]`, padded by home, to packed rows
    `[source][home][expert]`; `counts` is the received counts `[sources, homes, experts]`.

    Constraints:
    - (C1) rows and result agree in width and element type

    ```mlir
    func.func @f(%r: tensor<?x32xbf16>, %c: tensor<4x2x8xi32>) -> tensor<?x32xbf16> {
      %p = llm.unpack_homes %r, %c : tensor<?x32xbf16>, tensor<4x2x8xi32>
      return %p : tensor<?x32xbf16>
    }
    ```
  }];
  let arguments = (ins LLM_Activation2D:$rows, LLM_Counts:$counts);
  let results = (outs LLM_Activation2D:$result);
  let operandSyntax = ["", ","];
  let writtenOperands = [0, 1];
  let writtenResults = "0";
  let typeRule = "typesOfUnpackHomes";
}

//===----------------------------------------------------------------------===//
// Head
//===----------------------------------------------------------------------===//

def LLM_LastRowsOp : LLM_Piece<"last_rows"> {
  let summary = "Last row of every prompt";
  let description = [{
    Row p of the result is row `(p + 1) * sequence - 1 - offset` of the input, or zeros
    where that is outside the input: on a device that holds a block of rows, `offset`
    is the block's first row, and the devices' results add up to all last rows.
    The result has `prompts` rows.

    Constraints:
    - (C1) input and result agree in width and element type
    - (C2) `sequence` is positive

    ```mlir
    func.func @f(%x: tensor<?x32xbf16>, %o: index, %p: index) -> tensor<?x32xbf16> {
      %l = llm.last_rows %x offset(%o) prompts(%p) {sequence = 16} : tensor<?x32xbf16>
      return %l : tensor<?x32xbf16>
    }
    ```
  }];
  let arguments = (ins LLM_Activation2D:$input, Index:$offset, Index:$prompts,
                       I64Attr:$sequence);
  let results = (outs LLM_Activation2D:$result);
  let operandSyntax = ["", "offset", "prompts"];
  let writtenResults = "0";
  let typeRule = "typesOfLastRows";
}

def LLM_ArgmaxOp : LLM_Piece<"argmax"> {
  let summary = "Largest logit of a block of the vocabulary";
  let description = [{
    Column 0 of the result holds the bits of the largest value of the row (as f32),
    column 1 its index plus `offset`; the lowest index wins among equals, and columns
    whose index plus offset is `vocabulary` or more never win.

    Constraints:
    - (C1) the result has two columns
    - (C2) `vocabulary` is positive

    ```mlir
    func.func @f(%l: tensor<?x51xf32>, %o: index) -> tensor<?x2xi32> {
      %a = llm.argmax %l offset(%o) {vocabulary = 101} : tensor<?x51xf32>
      return %a : tensor<?x2xi32>
    }
    ```
  }];
  let arguments = (ins LLM_Activation2D:$logits, Index:$offset, I64Attr:$vocabulary);
  let results = (outs LLM_Indices2D:$result);
  let operandSyntax = ["", "offset"];
  let writtenResults = "0";
  let typeRule = "typesOfArgmax";
}

def LLM_ArgmaxMergeOp : LLM_Piece<"argmax_merge"> {
  let summary = "Index of the largest among gathered candidates";
  let description = [{
    The columns are pairs of (bits of an f32 value, index), one pair a device; the
    result is the index of the largest value, the lowest index among equals.

    Constraints:
    - (C1) the number of columns is even and positive

    ```mlir
    func.func @f(%c: tensor<?x4xi32>) -> tensor<?xi32> {
      %t = llm.argmax_merge %c : tensor<?x4xi32>
      return %t : tensor<?xi32>
    }
    ```
  }];
  let arguments = (ins LLM_Indices2D:$candidates);
  let results = (outs LLM_Indices1D:$result);
  let operandSyntax = [""];
  let writtenResults = "0";
  let typeRule = "typesOfArgmaxMerge";
}

#endif // SHARDOPT_DIALECT_LLM_IR_LLMPIECES_TD
