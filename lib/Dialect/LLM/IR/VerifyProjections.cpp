//===- VerifyProjections.cpp - Verifiers of embedding, norms, products ----===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify.h"
#include "shardopt/Dialect/LLM/IR/LLMOps.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

static constexpr StringLiteral inputWidth = "the width of the input";
static constexpr StringLiteral resultWidth = "the width of the result";

/// A vector, where it is given, has `wanted` entries.
static LogicalResult expectEntries(Operation *op, StringRef what, Value vector,
                                   int64_t wanted, StringRef reason) {
  if (!vector)
    return success();
  return expectSize(op, what, "entries", wanted, reason, sizeOf(vector, 0));
}

LogicalResult EmbeddingOp::verify() {
  Operation *op = getOperation();
  // (C1)
  if (failed(expectSize(op, "result", "columns", columns(getTable()),
                        "the width of the table", columns(getResult()))))
    return failure();
  // (C3)
  if (failed(expectPositive(op, "scale", getScale())))
    return failure();
  // (C2)
  int64_t tokens = sizeOf(getTokens(), 0);
  int64_t rows = sizeOf(getResult(), 0);
  if (ShapedType::isDynamic(tokens) || ShapedType::isDynamic(rows))
    return success();
  return expectSize(op, "result", "rows", tokens, "one a token", rows);
}

/// Every constraint of a norm with a weight, and perhaps a bias.
template <typename OpTy>
static LogicalResult verifyNorm(OpTy op, Value bias, bool normFirst) {
  Type type = op.getInput().getType();
  Value residual = op.getResidual();
  // (C3)
  bool hasSum = residual && !normFirst;
  if (hasSum != (op.getSum() != nullptr))
    return op.emitOpError() << "must have " << (hasSum ? 2 : 1) << " results "
                            << (residual ? "with" : "without") << " a residual"
                            << (normFirst ? " behind the norm" : "")
                            << ", found " << op->getNumResults();
  // (C1)
  if (residual &&
      failed(expectType(op, "residual", type, "the input", residual.getType())))
    return failure();
  for (Value result : op->getResults())
    if (failed(expectType(op, "result", type, "the input", result.getType())))
      return failure();
  // (C2)
  int64_t width = columns(op.getInput());
  if (failed(expectEntries(op, "weight", op.getWeight(), width, inputWidth)) ||
      failed(expectEntries(op, "bias", bias, width, inputWidth)))
    return failure();
  // (C4)
  return expectPositive(op, "epsilon", op.getEpsilon());
}

LogicalResult RmsNormOp::verify() {
  // (C5)
  if (getNormFirst() && !getResidual())
    return emitOpError("with 'norm_first' needs a residual to add the norm to");
  return verifyNorm(*this, Value(), getNormFirst());
}

LogicalResult LayerNormOp::verify() {
  return verifyNorm(*this, getBias(), /*normFirst=*/false);
}

LogicalResult QkvProjOp::verify() {
  Operation *op = getOperation();
  // (C3)
  if (failed(expectPositive(op, "heads", getHeads())) ||
      failed(expectPositive(op, "kv_heads", getKvHeads())) ||
      failed(expectPositive(op, "head_dim", getHeadDim())))
    return failure();
  // (C1)
  if (failed(expectSize(op, "weight", "rows", columns(getInput()), inputWidth,
                        sizeOf(getWeight(), 0))))
    return failure();
  // (C2)
  int64_t queries = getGated() ? times(2, getHeads()) : getHeads();
  int64_t width = times(plus(queries, times(2, getKvHeads())), getHeadDim());
  StringRef reason = getGated() ? "(2 * heads + 2 * kv_heads) * head_dim"
                                : "(heads + 2 * kv_heads) * head_dim";
  if (failed(expectSize(op, "weight", "columns", width, reason,
                        columns(getWeight()))) ||
      failed(expectEntries(op, "bias", getBias(), width, reason)))
    return failure();
  return expectSize(op, "result", "columns", width, reason,
                    columns(getResult()));
}

LogicalResult LinearOp::verify() {
  Operation *op = getOperation();
  // (C1)
  if (failed(expectSize(op, "weight", getTransposed() ? "columns" : "rows",
                        columns(getInput()), inputWidth,
                        sizeOf(getWeight(), getTransposed() ? 1 : 0))))
    return failure();
  // (C2)
  int64_t width = columns(getResult());
  if (failed(expectSize(op, "weight", getTransposed() ? "rows" : "columns",
                        width, resultWidth,
                        sizeOf(getWeight(), getTransposed() ? 0 : 1))) ||
      failed(expectEntries(op, "bias", getBias(), width, resultWidth)))
    return failure();
  // (C3)
  if (bool(getNorm()) != getEpsilon().has_value())
    return emitOpError() << "'norm' and 'epsilon' come together, found only '"
                         << (getNorm() ? "norm" : "epsilon") << "'";
  if (failed(expectEntries(op, "norm", getNorm(), columns(getInput()),
                           inputWidth)) ||
      (getNorm() && failed(expectPositive(op, "epsilon", *getEpsilon()))))
    return failure();
  // (C4)
  if (!getHeads())
    return success();
  return expectDivides(op, "heads", *getHeads(), resultWidth, width);
}

LogicalResult OutProjOp::verify() {
  Operation *op = getOperation();
  // (C1)
  int64_t width = columns(getInput());
  if (failed(expectSize(op, "weight", "rows", width, inputWidth,
                        sizeOf(getWeight(), 0))))
    return failure();
  // (C2)
  int64_t hidden = columns(getResult());
  if (failed(expectSize(op, "weight", "columns", hidden, resultWidth,
                        columns(getWeight()))) ||
      failed(expectEntries(op, "bias", getBias(), hidden, resultWidth)))
    return failure();
  // (C3)
  return expectDivides(op, "heads", getHeads(), inputWidth, width);
}

//===----------------------------------------------------------------------===//
// Feed-forward network
//===----------------------------------------------------------------------===//

/// The constraints that both halves share. The weight has `width` columns,
/// because of `reason`.
template <typename FfnOp>
static LogicalResult verifyFfn(FfnOp op, int64_t width, StringRef reason) {
  Value weight = op.getWeight(), bias = op.getBias(), counts = op.getCounts();
  // (C3)
  auto weightType = cast<ShapedType>(weight.getType());
  bool grouped = weightType.getRank() == 3;
  if (grouped != bool(counts))
    return op.emitOpError() << "'weight' must have rank " << (counts ? 3 : 2)
                            << " " << (counts ? "with" : "without")
                            << " 'counts', found " << weightType.getRank();
  if (grouped && failed(expectSize(op, "counts", "experts", sizeOf(weight, 0),
                                   "those of the weight", sizeOf(counts, 2))))
    return failure();
  // (C1)
  if (failed(expectSize(op, "weight", "rows", columns(op.getInput()),
                        inputWidth, sizeOf(weight, -2))))
    return failure();
  // (C2)
  if (failed(
          expectSize(op, "weight", "columns", width, reason, columns(weight))))
    return failure();
  if (!bias)
    return success();
  int64_t biasRank = cast<ShapedType>(bias.getType()).getRank();
  if (biasRank != weightType.getRank() - 1)
    return op.emitOpError()
           << "'bias' must have rank " << weightType.getRank() - 1
           << ", one less than the weight, found " << biasRank;
  if (grouped && failed(expectSize(op, "bias", "rows", sizeOf(weight, 0),
                                   "one an expert", sizeOf(bias, 0))))
    return failure();
  return expectSize(op, "bias", "columns", width, reason, columns(bias));
}

LogicalResult FfnUpOp::verify() {
  bool gated = getActivation() && getActivation()->getGated();
  int64_t width = columns(getResult());
  // (C4)
  if (getRowGate() && getCounts())
    return emitOpError() << "has 'counts', so that it has no 'row_gate'";
  if (failed(expectEntries(getOperation(), "row_gate", getRowGate(),
                           columns(getInput()), inputWidth)))
    return failure();
  if (gated)
    return verifyFfn(*this, times(2, width),
                     "twice the width of the result, gate and up");
  return verifyFfn(*this, width, resultWidth);
}

LogicalResult FfnDownOp::verify() {
  return verifyFfn(*this, columns(getResult()), resultWidth);
}

//===----------------------------------------------------------------------===//
// Head
//===----------------------------------------------------------------------===//

LogicalResult LmHeadOp::verify() {
  Operation *op = getOperation();
  // (C1)
  if (failed(expectEntries(op, "norm", getNorm(), columns(getInput()),
                           inputWidth)) ||
      failed(expectEntries(op, "norm_bias", getNormBias(), columns(getInput()),
                           inputWidth)) ||
      failed(expectPositive(op, "epsilon", getEpsilon())))
    return failure();
  // (C2)
  if (failed(expectSize(op, "weight", getTied() ? "columns" : "rows",
                        columns(getInput()), inputWidth,
                        sizeOf(getWeight(), getTied() ? 1 : 0))))
    return failure();
  // (C3)
  if (getLogits() &&
      failed(expectSize(op, "logits", "columns",
                        sizeOf(getWeight(), getTied() ? 0 : 1),
                        "the vocabulary of the weight", columns(getLogits()))))
    return failure();
  // (C5)
  if (failed(expectPositive(op, "logit_scale", getLogitScale())) ||
      (getSoftCap() && failed(expectPositive(op, "soft_cap", *getSoftCap()))))
    return failure();
  // (C6)
  if (failed(expectEntries(op, "bias", getBias(),
                           sizeOf(getWeight(), getTied() ? 0 : 1),
                           "the vocabulary of the weight")))
    return failure();
  // (C4)
  return expectPositive(op, "sequence", getSequence());
}

ActivationAttr LmHeadOp::logitActivation() {
  if (getLogitScale().convertToDouble() == 1.0 && !getSoftCap())
    return {};
  return ActivationAttr::get(getContext(), ActivationKind::SoftCap,
                             /*gated=*/false, getLogitScale(),
                             getSoftCap().value_or(APFloat(0.0)),
                             /*shift=*/APFloat(0.0));
}
