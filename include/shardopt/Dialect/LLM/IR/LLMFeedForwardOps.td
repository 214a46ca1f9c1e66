//===- LLMFeedForwardOps.td - Feed-forward networks and experts -*- tablegen -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_IR_LLMFEEDFORWARDOPS_TD
#define SHARDOPT_DIALECT_LLM_IR_LLMFEEDFORWARDOPS_TD

include "shardopt/Dialect/LLM/IR/LLMOpBase.td"

def LLM_FfnUpOp : LLM_FusedOp<"ffn_up", [AttrSizedOperandSegments, LLM_RowByRow]> {
  let summary = "Up-projection (and gate) with the activation";
  let description = [{
    `activation(input * weight + bias)`. A gated activation has `2*ff` columns, gate
    first, then up. With `counts` the product is grouped: the weight is
    `[experts, in, columns]`, the rows are ordered `[home][source][expert]`, each home's
    block is padded at its end to the same length, and rows beyond its counts give
    zeros. Without an `activation` (after lowering) it is the projection alone. With a
    `row_gate` every row is multiplied by `sigmoid(input * row_gate)`, a number.

    Sharding: 0 contracts a cut hidden size (needs H, gives a partial sum of the
    raw projection, P; not with a `row_gate`, which needs whole rows), 1 cuts the columns
    (needs R, gives H; gate and up of the same columns on one device), none keeps R or T.
    3 (both) shards the weight on tp1 x tp2, its columns over tp1 and its rows over tp2
    (needs H and gives H, with a gather over tp1 and a reduce-scatter over tp2 inside;
    neither with `counts` nor with a `row_gate`).

    Constraints:
    - (C1) weight rows equal the input's width
    - (C2) weight columns and bias are `ff`, or `2*ff` when gated, where ff is the result's width
    - (C3) the weight has rank 3 exactly when there are `counts`, whose last size is its number of
      experts; the bias then has a row an expert
    - (C4) `row_gate` has an entry a column of the input, and stands without `counts`

    ```mlir
    func.func @f(%x: tensor<?x32xbf16>, %w: tensor<32x160xbf16>) -> tensor<?x80xbf16> {
      %u = llm.ffn_up "ffn_up" %x, %w {activation = #llm.activation<kind = silu, gated = true>} : tensor<?x32xbf16> -> tensor<?x80xbf16>
      return %u : tensor<?x80xbf16>
    }
    ```
  }];
  let arguments = !con((ins LLM_Activation2D:$input, LLM_Weight:$weight,
                            Optional<LLM_Bias>:$bias, Optional<LLM_Counts>:$counts,
                            Optional<LLM_Vector>:$row_gate,
                            OptionalAttr<LLM_ActivationAttr>:$activation), common);
  let results = (outs LLM_Activation2D:$result);
  let operandSyntax = ["", ",", "bias?", "counts?", "row_gate?"];
  let writtenOperands = [0, 3];
  let typeRule = "typesOfFfn";
  let weightOperand = 1;
}

def LLM_FfnDownOp : LLM_FusedOp<"ffn_down", [AttrSizedOperandSegments, LLM_RowByRow]> {
  let summary = "Down-projection of a feed-forward network";
  let description = [{
    `input * weight + bias`; grouped as in `llm.ffn_up` where there are `counts`.

    Sharding: 0 contracts a cut ff (needs H, gives P), 1 cuts the hidden size (needs
    R, gives H), none keeps R or T. 3 (both) shards the weight on its rows over tp1 and on
    its columns over tp2 (needs H and gives H, with a gather over tp2 and a reduce-scatter
    over tp1 inside; not with `counts`).

    Constraints:
    - (C1) weight rows equal the input's width
    - (C2) weight columns and bias equal the result's width
    - (C3) the weight has rank 3 exactly when there are `counts`, whose last size is its number of
      experts; the bias then has a row an expert

    ```mlir
    func.func @f(%x: tensor<?x80xbf16>, %w: tensor<80x32xbf16>) -> tensor<?x32xbf16> {
      %d = llm.ffn_down "ffn_down" %x, %w : tensor<?x80xbf16> -> tensor<?x32xbf16>
      return %d : tensor<?x32xbf16>
    }
    ```
  }];
  let arguments = !con((ins LLM_Activation2D:$input, LLM_Weight:$weight,
                            Optional<LLM_Bias>:$bias, Optional<LLM_Counts>:$counts), common);
  let results = (outs LLM_Activation2D:$result);
  let operandSyntax = ["", ",", "bias?", "counts?"];
  let writtenOperands = [0, 3];
  let typeRule = "typesOfFfn";
  let weightOperand = 1;
}

def LLM_RouterOp : LLM_FusedOp<"router", [AttrSizedOperandSegments]> {
  let summary = "Scores of the experts and the choice of the best k";
  let description = [{
    Logits `input * weight + bias`, scored by `scoring` (softmax over all experts, or
    sigmoid). The choice adds `correction` to the scores; with `groups` only the
    experts of the `top_groups` groups with the largest sum of their `group_best` (2, or 1)
    best corrected scores can be chosen. The `top_k` best are chosen, ties by the lower
    index; their weights are the uncorrected scores, divided by their sum when
    `normalize` holds, times `scale`.

    The first result is the input itself, which `llm.dispatch` reads. With
    `scale_tokens` it is the input times the weight of its one choice, whose weight in
    the third result then is 1: the expert scales what it reads, not what it makes.

    Sharding: 0 contracts a cut hidden size (needs H; the logits are all-reduced), 1
    cuts the experts (needs R; the logits are gathered), none keeps R or T.

    Constraints:
    - (C1) weight rows equal the input's width; the first result has the input's type
    - (C2) bias and correction have one entry an expert
    - (C3) indices and weights have `top_k` columns, at most as many as experts
    - (C4) `groups` divides the experts, `top_groups` is between 1 and `groups`, and the chosen groups
      hold `top_k` experts; `group_best` is 1 or 2
    - (C5) `scale` is finite
    - (C6) with `scale_tokens`, `top_k` is 1

    ```mlir
    func.func @f(%x: tensor<?x32xbf16>, %w: tensor<32x8xbf16>) -> tensor<?x2xi32> {
      %t, %i, %s = llm.router "router" %x, %w {scoring = #llm.scoring<softmax>, top_k = 2, normalize = true} : tensor<?x32xbf16>, tensor<32x8xbf16>
      return %i : tensor<?x2xi32>
    }
    ```
  }];
  let arguments = !con((ins LLM_Activation2D:$input, LLM_Matrix:$weight,
                            Optional<LLM_Vector>:$bias, Optional<LLM_Vector>:$correction,
                            LLM_ScoringAttr:$scoring, I64Attr:$top_k,
                            DefaultValuedAttr<BoolAttr, "false">:$normalize,
                            DefaultValuedAttr<I64Attr, "1">:$groups,
                            DefaultValuedAttr<I64Attr, "1">:$top_groups,
                            DefaultValuedAttr<I64Attr, "2">:$group_best,
                            DefaultValuedAttr<F64Attr, "1.0">:$scale,
                            UnitAttr:$scale_tokens), common);
  let results = (outs LLM_Activation2D:$tokens, LLM_Indices2D:$indices,
                      LLM_RoutingWeights:$weights);
  let operandSyntax = ["", ",", "bias?", "correction?"];
  let writtenOperands = [0, 1];
  let writtenResults = "0";
  let typeRule = "typesOfRouter";
  let moreResults = ["indices", "weights"];
}

def LLM_DispatchOp : LLM_FusedOp<"dispatch", [], ["getLayerFacts"]> {
  let summary = "Sends the copies of every token to its experts";
  let description = [{
    Makes a row for every (token, chosen expert), ordered by expert and then by
    token and choice; none is dropped. `counts` `[homes, sources, experts]`, here
    `[1, 1, E]`, says how many rows each expert has; `origins` has, for each row,
    token * top_k + choice. With `weights` a row is its token times the weight of its
    choice: experts scale what they read, and `llm.combine` then adds rows `unweighted`.

    Sharding: 0 exchanges tokens cut over the tensor-parallel group (needs T), 1
    exchanges features cut over it (needs H), none keeps R (every device sends a
    full copy) or T.

    Constraints:
    - (C1) the rows have the tokens' width and element type
    - (C2) `counts` is `[1, 1, experts]`
    - (C3) `experts` is positive and at least the number of choices
    - (C4) weights have a column for every choice

    ```mlir
    func.func @f(%t: tensor<?x32xbf16>, %i: tensor<?x2xi32>) -> tensor<?x32xbf16> {
      %d, %c, %o = llm.dispatch "dispatch" %t, %i {experts = 8} : tensor<?x32xbf16>, tensor<?x2xi32>
      return %d : tensor<?x32xbf16>
    }
    ```
  }];
  let arguments = !con((ins LLM_Activation2D:$tokens, LLM_Indices2D:$indices,
                            Optional<LLM_RoutingWeights>:$weights,
                            I64Attr:$experts), common);
  let results = (outs LLM_Activation2D:$rows, LLM_Counts:$counts, LLM_Indices1D:$origins);
  let operandSyntax = ["", ",", "weights?"];
  let writtenOperands = [0, 1];
  let writtenResults = "0";
  let typeRule = "typesOfDispatch";
  let moreResults = ["counts", "origins"];
}

def LLM_CombineOp : LLM_FusedOp<"combine", [], ["returnsFromExperts"]> {
  let summary = "Brings the experts' rows back to their tokens";
  let description = [{
    Row t of the result is the sum, over its k choices, of the routing weight times
    the expert's row; `unweighted`, of the expert's row.

    Sharding: 0 exchanges rows cut over the tensor-parallel group (needs T), 1
    exchanges cut features (needs H), none keeps R, T or P (it is linear, so a
    reduction may be deferred).

    Constraints:
    - (C1) the result has the rows' width and element type
    - (C2) `counts` is `[1, 1, experts]`

    ```mlir
    func.func @f(%y: tensor<?x32xbf16>, %c: tensor<1x1x8xi32>, %o: tensor<?xi32>, %w: tensor<?x2xf32>) -> tensor<?x32xbf16> {
      %x = llm.combine "combine" %y, %c, %o, %w : tensor<?x32xbf16>, tensor<1x1x8xi32>, tensor<?x2xf32>
      return %x : tensor<?x32xbf16>
    }
    ```
  }];
  let arguments = !con((ins LLM_Activation2D:$rows, LLM_Counts:$counts,
                            LLM_Indices1D:$origins, LLM_RoutingWeights:$weights,
                            UnitAttr:$unweighted), common);
  let results = (outs LLM_Activation2D:$result);
  let operandSyntax = ["", ",", ",", ","];
  let writtenOperands = [0, 1, 3];
  let writtenResults = "0";
  let typeRule = "typesOfCombine";
}

#endif // SHARDOPT_DIALECT_LLM_IR_LLMFEEDFORWARDOPS_TD
