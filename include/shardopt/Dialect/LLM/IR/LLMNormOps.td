//===- LLMNormOps.td - Norms -*- tablegen -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_IR_LLMNORMOPS_TD
#define SHARDOPT_DIALECT_LLM_IR_LLMNORMOPS_TD

include "shardopt/Dialect/LLM/IR/LLMOpBase.td"

// `operands` come after the input and the residual.
class LLM_NormOp<string mnemonic, dag operands, list<Trait> traits = []>
    : LLM_FusedOp<mnemonic, !listconcat(traits, [LLM_RowByRow, LLM_NormOpInterface])> {
  let arguments = !con((ins LLM_Activation2D:$input,
                            Optional<LLM_Activation2D>:$residual),
                       operands, (ins F64Attr:$epsilon), common);
  let results = (outs LLM_Activation2D:$result, Optional<LLM_Activation2D>:$sum);
  let writtenResults = "0";
  let typeRule = "typesOfNorm";
  let moreResults = ["residual"];
}

def LLM_RmsNormOp : LLM_NormOp<"rms_norm", (ins LLM_Vector:$weight, UnitAttr:$norm_first)> {
  let summary = "Root-mean-square norm, with the residual added first";
  let description = [{
    With s the input, or input plus residual: `s / sqrt(mean(s^2) + epsilon) * weight`
    along the features. With a residual the second result is s, the new residual.
    The first norm of a layer reads the residual itself and has none. With
    `norm_first` the residual is added behind the norm instead: s is the input, and
    the one result, `s / sqrt(mean(s^2) + epsilon) * weight + residual`, is the new
    residual.

    Sharding: 0 anchors input, residual and results in T, 1 in H (the sum of
    squares is all-reduced), none in R.

    Constraints:
    - (C1) input, residual and results have one type
    - (C2) the weight is as wide as the input
    - (C3) there are two results exactly when there is a residual and not `norm_first`
    - (C4) `epsilon` is positive
    - (C5) with `norm_first` there is a residual

    ```mlir
    func.func @f(%x: tensor<?x8xbf16>, %r: tensor<?x8xbf16>, %w: tensor<8xbf16>) -> tensor<?x8xbf16> {
      %n, %s = llm.rms_norm "ffn_norm" %x residual(%r) weight(%w) {epsilon = 1.0e-5} : tensor<?x8xbf16>
      return %n : tensor<?x8xbf16>
    }
    ```
  }];
  let operandSyntax = ["", "residual?", "weight"];
}

def LLM_LayerNormOp
    : LLM_NormOp<"layer_norm", (ins LLM_Vector:$weight, Optional<LLM_Vector>:$bias),
                 [AttrSizedOperandSegments]> {
  let summary = "Norm of deviations from the mean, with the residual added first";
  let description = [{
    With s the input, or input plus residual, and d its deviation from the mean
    along the features, `s - mean(s)`: `d / sqrt(mean(d^2) + epsilon) * weight + bias`,
    where a bias is given.
    With a residual the second result is s, the new residual. The first norm of a
    layer reads the residual itself and has none.

    Sharding: 0 anchors input, residual and results in T, 1 in H (the sums of
    squares and of features are all-reduced together), none in R.

    Constraints:
    - (C1) input, residual and results have one type
    - (C2) weight and bias are as wide as the input
    - (C3) there are two results exactly when there is a residual
    - (C4) `epsilon` is positive

    ```mlir
    func.func @f(%x: tensor<?x8xbf16>, %r: tensor<?x8xbf16>, %w: tensor<8xbf16>, %b: tensor<8xbf16>) -> tensor<?x8xbf16> {
      %n, %s = llm.layer_norm "ffn_norm" %x residual(%r) weight(%w) bias(%b) {epsilon = 1.0e-5} : tensor<?x8xbf16>
      return %n : tensor<?x8xbf16>
    }
    ```
  }];
  let operandSyntax = ["", "residual?", "weight", "bias?"];
}

#endif // SHARDOPT_DIALECT_LLM_IR_LLMNORMOPS_TD
