//===- VerifyRouting.cpp - Verifiers of routing and exchange --------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify.h"
#include "shardopt/Dialect/LLM/IR/LLMOps.h"

#include "mlir/Dialect/Shard/IR/ShardOps.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

//===----------------------------------------------------------------------===//
// Choice of experts
//===----------------------------------------------------------------------===//

/// (C3): `top_k` choices a row, at most as many as experts.
template <typename ChoiceOp>
static LogicalResult verifyTopK(ChoiceOp op, int64_t experts) {
  int64_t topK = op.getTopK();
  if (topK < 1 || topK > experts)
    return op.emitOpError() << "'top_k' must be between 1 and the number of "
                               "experts, "
                            << experts << ", found " << topK;
  if (failed(expectSize(op, "indices", "columns", topK, "top_k",
                        columns(op.getIndices()))))
    return failure();
  return expectSize(op, "weights", "columns", topK, "top_k",
                    columns(op.getWeights()));
}

/// (C4): equal groups of experts; those that are chosen hold `top_k`.
template <typename ChoiceOp>
static LogicalResult verifyGroups(ChoiceOp op, int64_t experts) {
  int64_t groups = op.getGroups();
  int64_t topGroups = op.getTopGroups();
  if (failed(expectDivides(op, "groups", groups, "the number of experts",
                           experts)))
    return failure();
  if (topGroups < 1 || topGroups > groups)
    return op.emitOpError() << "'top_groups' must be between 1 and 'groups', "
                            << groups << ", found " << topGroups;
  int64_t best = op.getGroupBest();
  if (best != 1 && best != 2)
    return op.emitOpError() << "'group_best' must be 1 or 2, found " << best;
  int64_t eligible = topGroups * (experts / groups);
  if (eligible < int64_t(op.getTopK()))
    return op.emitOpError() << "'top_groups' must leave at least 'top_k', "
                            << op.getTopK() << ", experts, found " << eligible;
  return success();
}

/// (C2): a vector, where it is given, has one entry an expert.
static LogicalResult expectOneAnExpert(Operation *op, StringRef what,
                                       Value vector, int64_t experts) {
  if (!vector)
    return success();
  return expectSize(op, what, "entries", experts, "one an expert",
                    sizeOf(vector, 0));
}

LogicalResult RouterOp::verify() {
  Operation *op = getOperation();
  // (C1)
  if (failed(expectSize(op, "weight", "rows", columns(getInput()),
                        "the width of the input", sizeOf(getWeight(), 0))) ||
      failed(expectType(op, "tokens", getInput().getType(), "the input",
                        getTokens().getType())))
    return failure();
  int64_t experts = columns(getWeight());
  // (C2)
  if (failed(expectOneAnExpert(op, "bias", getBias(), experts)) ||
      failed(expectOneAnExpert(op, "correction", getCorrection(), experts)))
    return failure();
  // (C3), (C4)
  if (failed(verifyTopK(*this, experts)) ||
      failed(verifyGroups(*this, experts)))
    return failure();
  // (C6)
  if (getScaleTokens() && getTopK() != 1)
    return emitOpError() << "with 'scale_tokens' needs a 'top_k' of 1, found "
                         << getTopK();
  // (C5)
  if (getScale().isFinite())
    return success();
  return emitOpError() << "'scale' must be finite, found "
                       << getScale().convertToDouble();
}

LogicalResult ScaleRowsOp::verify() {
  // (C1)
  return expectSize(*this, "weights", "columns", 1, "a factor a row",
                    columns(getWeights()));
}

LogicalResult TopKOp::verify() {
  Operation *op = getOperation();
  int64_t experts = getExperts();
  // (C1)
  if (experts < 1 || experts > columns(getLogits()))
    return emitOpError()
           << "'experts' must be between 1 and the width of the logits, "
           << columns(getLogits()) << ", found " << experts;
  // (C2)
  if (failed(expectOneAnExpert(op, "correction", getCorrection(), experts)))
    return failure();
  // (C3), (C4)
  if (failed(verifyTopK(*this, experts)))
    return failure();
  return verifyGroups(*this, experts);
}

//===----------------------------------------------------------------------===//
// Exchange with the experts
//===----------------------------------------------------------------------===//

/// The counts of an exchange that has no homes and one source: `[1, 1, E]`.
static LogicalResult expectUnshardedCounts(Operation *op, Value counts,
                                           int64_t experts) {
  auto type = cast<ShapedType>(counts.getType());
  if (type.getShape() == ArrayRef<int64_t>{1, 1, experts})
    return success();
  return op->emitOpError() << "'counts' must be [1, 1, " << experts
                           << "], found " << type;
}

LogicalResult DispatchOp::verify() {
  Operation *op = getOperation();
  // (C1)
  if (failed(expectLike(op, "rows", getRows(), "the tokens", getTokens())))
    return failure();
  // (C3)
  int64_t choices = columns(getIndices());
  if (getExperts() < 1 || int64_t(getExperts()) < choices)
    return emitOpError() << "'experts' must be at least the number of choices, "
                         << choices << ", found " << getExperts();
  // (C4)
  if (getWeights() && failed(expectSize(op, "weights", "columns", choices,
                                        "one a choice", columns(getWeights()))))
    return failure();
  // (C2)
  return expectUnshardedCounts(op, getCounts(), getExperts());
}

LogicalResult CombineOp::verify() {
  Operation *op = getOperation();
  // (C1)
  if (failed(expectLike(op, "result", getResult(), "the rows", getRows())))
    return failure();
  // (C2)
  return expectUnshardedCounts(op, getCounts(), sizeOf(getCounts(), 2));
}

LogicalResult ExchangePlanOp::verify() {
  // (C1)
  auto type = cast<ShapedType>(getCounts().getType());
  if (!llvm::all_of(type.getShape(), [](int64_t size) { return size > 0; }))
    return emitOpError() << "'counts' must have positive sizes, found " << type;
  // (C2)
  return getDealt() ? expectPositive(*this, "dealt", *getDealt()) : success();
}

LogicalResult LocalExpertsOp::verify() {
  // (C1)
  return expectPositive(*this, "experts", getExperts());
}

LogicalResult PermuteOp::verify() {
  // (C1)
  if (failed(
          expectLike(*this, "result", getResult(), "the tokens", getTokens())))
    return failure();
  // (C2)
  if (failed(expectPositive(*this, "top_k", getTopK())))
    return failure();
  // (C3)
  if (!getWeights())
    return success();
  return expectSize(*this, "weights", "columns", getTopK(), "top_k",
                    columns(getWeights()));
}

LogicalResult UnpermuteOp::verify() {
  // (C1)
  return expectLike(*this, "result", getResult(), "the rows", getRows());
}

LogicalResult AllToAllVOp::verify() {
  Operation *op = getOperation();
  // (C2)
  if (failed(expectLike(op, "result", getResult(), "the input", getInput())))
    return failure();
  // (C1), as far as it holds without the grid
  return expectSize(op, "recv", "devices in front", sizeOf(getSend(), 0),
                    "as 'send' has", sizeOf(getRecv(), 0));
}

LogicalResult
AllToAllVOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  // (C3)
  auto grid =
      symbolTable.lookupNearestSymbolFrom<shard::GridOp>(*this, getGridAttr());
  if (!grid)
    return emitOpError() << "needs a 'shard.grid' named '" << getGrid() << "'";
  ArrayRef<int64_t> shape = grid.getShape();
  llvm::SmallSet<int16_t, 4> seen;
  int64_t group = 1;
  for (int16_t axis : getGridAxes()) {
    if (axis < 0 || axis >= int64_t(shape.size()) ||
        !seen.insert(axis).second) {
      InFlightDiagnostic error =
          emitOpError() << "'grid_axes' must be different axes of a grid of "
                        << shape.size() << ", found " << axis;
      error.attachNote(grid.getLoc()) << "grid is here";
      return error;
    }
    group = ShapedType::isDynamic(group) || ShapedType::isDynamic(shape[axis])
                ? ShapedType::kDynamic
                : group * shape[axis];
  }
  // (C1)
  if (ShapedType::isDynamic(group))
    return success();
  return expectSize(*this, "send", "devices in front", group,
                    "the size of the group", sizeOf(getSend(), 0));
}

//===----------------------------------------------------------------------===//
// Home blocks
//===----------------------------------------------------------------------===//

LogicalResult BlockSizeOp::verify() {
  // (C1)
  return expectSize(*this, "result", "entry", 1, "the size of a block",
                    sizeOf(getResult(), 0));
}

LogicalResult PackHomesOp::verify() {
  Operation *op = getOperation();
  // (C1)
  if (failed(expectLike(op, "result", getResult(), "the rows", getRows())))
    return failure();
  // (C2)
  auto counts = cast<ShapedType>(getCounts().getType()).getShape();
  auto homes = cast<ShapedType>(getHomes().getType());
  if (homes.getShape() != ArrayRef<int64_t>{counts[1], counts[0], counts[2]})
    return emitOpError() << "'homes' must be [" << counts[1] << ", "
                         << counts[0] << ", " << counts[2]
                         << "], the counts by home, found " << homes;
  // (C3)
  return expectSize(op, "block", "entry", 1, "the size of a block",
                    sizeOf(getBlock(), 0));
}

LogicalResult UnpackHomesOp::verify() {
  // (C1)
  return expectLike(*this, "result", getResult(), "the rows", getRows());
}
