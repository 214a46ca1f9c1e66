//===- LLMEndOps.td - What comes before and after the layers -*- tablegen -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_IR_LLMENDOPS_TD
#define SHARDOPT_DIALECT_LLM_IR_LLMENDOPS_TD

include "shardopt/Dialect/LLM/IR/LLMOpBase.td"

def LLM_EmbeddingOp : LLM_FusedOp<"embedding"> {
  let summary = "Token embedding";
  let description = [{
    Row r of the result is row `tokens[r]` of the table, times `scale`. With an
    `offset` (given by the lowering) the table holds rows from `offset` on, and tokens
    outside give zeros.

    Sharding: 0 cuts the vocabulary and gives a partial sum P, 1 cuts the hidden
    size and gives H, none replicates the table and gives R.

    Constraints:
    - (C1) the result is as wide as the table
    - (C2) the result has a row for every token
    - (C3) `scale` is positive

    ```mlir
    func.func @f(%tokens: tensor<?xi32>, %table: tensor<32000x4096xbf16>) -> tensor<?x4096xbf16> {
      %x = llm.embedding "embed" dim<0> %tokens, %table : tensor<32000x4096xbf16> -> tensor<?x4096xbf16>
      return %x : tensor<?x4096xbf16>
    }
    ```
  }];
  let arguments = !con((ins LLM_Indices1D:$tokens, LLM_Matrix:$table,
                            Optional<Index>:$offset,
                            DefaultValuedAttr<F64Attr, "1.0">:$scale), common);
  let results = (outs LLM_Activation2D:$result);
  let operandSyntax = ["", ",", "offset?"];
  let writtenOperands = [1];
  let typeRule = "typesOfEmbedding";
}

def LLM_LmHeadOp : LLM_FusedOp<"lm_head", [AttrSizedOperandSegments], ["getPromptRows"]> {
  let summary = "Final norm, output projection, greedy argmax";
  let description = [{
    Reads the last row of each prompt (every row in decode, where `sequence` is 1),
    norms it with `norm` and `epsilon` as `llm.rms_norm` does, or with a `norm_bias` or
    `norm_mean` as `llm.layer_norm`, multiplies by the weight `[hidden, vocab]` (or `[vocab, hidden]`
    with `tied`, where it is the embedding's table), adds the `bias` and returns the index of the
    largest logit, the lowest among equals. The logits themselves are an optional
    second result: these sums times `logit_scale`, and where there is a `soft_cap` c,
    `c * tanh(x / c)` of these, both of which leave the order as it is.

    Sharding: 0 contracts a cut hidden size (needs H; the logits are
    reduce-scattered over the vocabulary), 1 cuts the vocabulary (needs R), none keeps
    R or T. Pairs of value and index are gathered for the argmax.

    Constraints:
    - (C1) norm and norm bias are as wide as the input, and `epsilon` is positive
    - (C2) weight rows (columns when `tied`) equal the input's width
    - (C3) logits, where asked for, are as wide as the vocabulary
    - (C4) `sequence` is positive
    - (C5) `logit_scale` is positive, and `soft_cap` where present
    - (C6) `bias` has an entry for each of the vocabulary

    ```mlir
    func.func @f(%x: tensor<?x32xbf16>, %n: tensor<32xbf16>, %w: tensor<32x101xbf16>) -> tensor<?xi32> {
      %t = llm.lm_head "lm_head" %x norm(%n) weight(%w) {epsilon = 1.0e-5} : tensor<?x32xbf16>, tensor<32x101xbf16> -> tensor<?xi32>
      return %t : tensor<?xi32>
    }
    ```
  }];
  let arguments = !con((ins LLM_Activation2D:$input, LLM_Vector:$norm,
                            LLM_Matrix:$weight,
                            Optional<LLM_Vector>:$norm_bias,
                            Optional<LLM_Vector>:$bias, UnitAttr:$norm_mean,
                            F64Attr:$epsilon,
                            DefaultValuedAttr<I64Attr, "1">:$sequence,
                            UnitAttr:$tied,
                            DefaultValuedAttr<F64Attr, "1.0">:$logit_scale,
                            OptionalAttr<F64Attr>:$soft_cap), common);
  let results = (outs LLM_Indices1D:$token_ids, Optional<LLM_Activation2D>:$logits);
  let operandSyntax = ["", "norm", "weight", "norm_bias?", "bias?"];
  let writtenOperands = [0, 2];
  let writtenResults = "allResults";
  let typeRule = "typesOfLmHead";
  let moreResults = ["logits"];
  let extraClassDeclaration = [{
    /// Whether the final norm subtracts the mean.
    bool subtractsMean() { return getNormMean() || getNormBias(); }
    /// What makes of sums the logits that are a result: null where they are.
    ActivationAttr logitActivation();
  }];
}

#endif // SHARDOPT_DIALECT_LLM_IR_LLMENDOPS_TD
