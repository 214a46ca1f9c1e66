//===- PartitionHead.cpp - Output head of one device -===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PartitionModels.h"

#include "shardopt/Dialect/LLM/IR/Sizes.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;
using cost::Layout;

/// The last row of every prompt. Of a block of rows a device has some of them,
/// and zeros for the others: a partial sum.
static LocalCopy lastRows(Partitioner &p, LmHeadOp op) {
  LocalCopy copy = p.getCopies(op.getInput()).front();
  if (op.getSequence() == 1)
    return copy;
  bool blocks = copy.layout == Layout::T && p.tp() > 1;
  Value offset = blocks ? p.getOffset(p.getTokens()->block) : p.getIndex(0);
  const RowSpace *prompts = p.getPrompts(op.getSequence());
  copy.value = p.create<LastRowsOp>(copy.value.getType(), copy.value, offset,
                                    prompts->rows, op.getSequenceAttr());
  if (blocks)
    copy.layout = Layout::P;
  return copy;
}

/// The final norm of rows that are whole.
static Value normRows(Partitioner &p, LmHeadOp op, Value input) {
  Value weight = p.sliceVector(op.getNorm(), nullptr);
  if (!weight)
    return {};
  auto name = p.getBuilder().getStringAttr(op.getName() + ".norm");
  return p
      .create<RmsNormOp>(TypeRange{input.getType()}, input, Value(), weight,
                         op.getEpsilonAttr(), name, DimAttr())
      .getResult();
}

/// The final norm of features that are cut.
static Value normFeatures(Partitioner &p, LmHeadOp op, Value input,
                          const Packing *features) {
  Value weight = p.sliceVector(op.getNorm(), features);
  if (!weight)
    return {};
  OpBuilder &builder = p.getBuilder();
  auto type =
      RankedTensorType::get({ShapedType::kDynamic, 1}, builder.getF32Type());
  Value squares =
      p.create<SumSquaresOp>(type, input, builder.getI64IntegerAttr(1));
  squares = p.allReduce(squares, p.getOwnBytes(0));
  return p.create<ScaleNormOp>(
      input.getType(), input, squares, weight, op.getEpsilonAttr(),
      builder.getI64IntegerAttr(columns(op.getInput())));
}

/// Logits of this device: the contracted or the produced dim of the weight cut.
static Value makeLogits(Partitioner &p, LmHeadOp op, Value normed,
                        const Packing *features, const Packing *vocabulary) {
  SmallVector<Cut> cuts = {Partitioner::over(features),
                           Partitioner::over(vocabulary)};
  if (op.getTied())
    std::swap(cuts[0], cuts[1]);
  Value weight = p.slice(op.getWeight(), cuts);
  if (!weight)
    return {};
  auto shape = cast<RankedTensorType>(weight.getType());
  int64_t width = shape.getDimSize(op.getTied() ? 0 : 1);
  Type element = cast<RankedTensorType>(normed.getType()).getElementType();
  auto type = RankedTensorType::get({ShapedType::kDynamic, width}, element);
  OpBuilder &builder = p.getBuilder();
  return p.create<LinearOp>(type, normed, weight, /*norm=*/Value(),
                            /*bias=*/Value(), /*epsilon=*/FloatAttr(),
                            /*heads=*/IntegerAttr(), op.getTiedAttr(),
                            builder.getStringAttr(op.getName() + ".logits"),
                            DimAttr());
}

/// Best token of this device's logits, as (value, index).
static Value bestOf(Partitioner &p, Value logits, Value offset,
                    int64_t vocabulary) {
  OpBuilder &builder = p.getBuilder();
  auto type =
      RankedTensorType::get({ShapedType::kDynamic, 2}, builder.getI32Type());
  return p.create<ArgmaxOp>(type, logits, offset,
                            builder.getI64IntegerAttr(vocabulary));
}

static Value merge(Partitioner &p, LmHeadOp op, Value candidates) {
  return p.create<ArgmaxMergeOp>(op.getTokenIds().getType(), candidates);
}

/// Everything on one device, or replicated: the fused op.
static LogicalResult partitionWhole(Partitioner &p, LmHeadOp op, Value input) {
  Value norm = p.sliceVector(op.getNorm(), nullptr);
  Value weight = p.slice(op.getWeight(), SmallVector<Cut>(2));
  if (!norm || !weight)
    return failure();
  LmHeadOp local = p.clone(op);
  local.getInputMutable().assign(input);
  local.getNormMutable().assign(norm);
  local.getWeightMutable().assign(weight);
  local.setSequence(1);
  for (auto [global, result] :
       llvm::zip_equal(op->getResults(), local->getResults()))
    p.definePlain(global, result);
  return success();
}

LogicalResult llm::partition(LmHeadOp op, Partitioner &p) {
  Layout layout = p.getRequired();
  auto table = cast<RankedTensorType>(op.getWeight().getType());
  int64_t size = table.getDimSize(op.getTied() ? 0 : 1);
  const RowSpace *space = p.getPrompts(op.getSequence());
  const Packing *features =
      layout == Layout::H
          ? p.getPackings().blocks(columns(op.getInput()), p.tp())
          : nullptr;
  LocalCopy last = lastRows(p, op);
  Value input = op.getSequence() == 1 ? p.get(op.getInput(), layout, features)
                                      : p.reshard(last, layout, features, space,
                                                  p.getRowBytes(op.getInput()))
                                            .value;
  Dim dim = *op.getShardingDim();
  if (p.tp() == 1 || (layout == Layout::R && dim == Dim::None))
    return partitionWhole(p, op, input);

  const Packing *vocabulary = p.getPackings().blocks(size, p.tp());
  double logitBytes = space->cost * size * table.getElementTypeBitWidth() / 8.0;
  Value normed = layout == Layout::H ? normFeatures(p, op, input, features)
                                     : normRows(p, op, input);
  if (!normed)
    return failure();
  Value logits = makeLogits(p, op, normed, features,
                            dim == Dim::One ? vocabulary : nullptr);
  if (!logits)
    return failure();

  if (dim == Dim::None) { // rows are cut
    Value best = bestOf(p, logits, p.getIndex(0), size);
    Value all = p.trimRows(p.allGather(best, 0, p.getOwnBytes(0)), space);
    p.definePlain(op.getTokenIds(), merge(p, op, all));
    if (op.getLogits())
      p.definePlain(
          op.getLogits(),
          p.trimRows(p.allGather(logits, 0, logitBytes, Charge::Free), space));
    return success();
  }
  if (dim == Dim::Zero)
    logits = p.reduceScatter(p.selectColumns(logits, vocabulary->getPack()), 1,
                             p.getOwnBytes(1));
  unsigned gather = dim == Dim::Zero ? 2 : 0;
  Value best = bestOf(p, logits, p.getOffset(vocabulary->getLocalSize()), size);
  Value all = p.allGather(best, 1, p.getOwnBytes(gather));
  p.definePlain(op.getTokenIds(), merge(p, op, all));
  if (op.getLogits())
    p.definePlain(
        op.getLogits(),
        p.selectColumns(p.allGather(logits, 1, logitBytes, Charge::Free),
                        vocabulary->getUnpack()));
  return success();
}
