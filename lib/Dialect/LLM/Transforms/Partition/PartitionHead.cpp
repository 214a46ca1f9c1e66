//===- PartitionHead.cpp - Output head of one device -===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PartitionModels.h"

#include "shardopt/Dialect/LLM/IR/Sizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;
using cost::Layout;

/// The last row of every prompt. Of a block of rows a device has some of them,
/// and zeros for the others: a partial sum.
static LocalCopy lastRows(OpPartition &p, LmHeadOp op) {
  LocalCopy copy = p.getPlaced(op.getInput()).copies.front();
  if (op.getSequence() == 1)
    return copy;
  bool blocks = copy.layout == Layout::T && p.ranks() > 1;
  const RowSpace *tokens = p.getTokens();
  Value offset = blocks ? p.getOffset(tokens->blocks.block) : p.getIndex(0);
  IntegerAttr length = op.getSequenceAttr();
  if (blocks && tokens->dealt > 0) {
    // All last positions are on one device, and behind the blocks of others.
    int64_t owner = (tokens->dealt - 1) % p.ranks();
    Value isOwner = p.create<arith::CmpIOp>(arith::CmpIPredicate::eq,
                                            p.getOffset(1), p.getIndex(owner));
    offset =
        p.create<arith::SelectOp>(isOwner, p.getIndex(0), tokens->blocks.block);
    length = p.getBuilder().getI64IntegerAttr(tokens->dealtRows(p.ranks()));
  }
  const RowSpace *prompts = p.getPrompts(op.getSequence());
  copy.value = p.create<LastRowsOp>(copy.value.getType(), copy.value, offset,
                                    prompts->blocks.rows, length);
  if (blocks)
    copy.layout = Layout::P;
  return copy;
}

/// The final norm of rows that are whole.
static Value normRows(OpPartition &p, LmHeadOp op, Value input) {
  Value weight = p.sliceVector(op.getNorm(), nullptr);
  if (!weight)
    return {};
  auto name = p.getBuilder().getStringAttr(op.getName() + ".norm");
  if (op.subtractsMean()) {
    Value bias = p.sliceVector(op.getNormBias(), nullptr);
    if (op.getNormBias() && !bias)
      return {};
    return p
        .create<LayerNormOp>(TypeRange{input.getType()}, input, Value(), weight,
                             bias, op.getEpsilonAttr(), name, DimAttr())
        .getResult();
  }
  return p
      .create<RmsNormOp>(TypeRange{input.getType()}, input, Value(), weight,
                         /*norm_first=*/UnitAttr(), op.getEpsilonAttr(), name,
                         DimAttr())
      .getResult();
}

/// The final norm of rows whose `features` this device has.
static Value normCut(OpPartition &p, LmHeadOp op, Value input,
                     const Packing *features) {
  Value weight = p.sliceVector(op.getNorm(), features);
  Value bias = p.sliceVector(op.getNormBias(), features);
  if (!weight || (op.getNormBias() && !bias))
    return {};
  return normFeatures(p, input, weight, bias, op.getEpsilonAttr(),
                      columns(op.getInput()), op.subtractsMean());
}

/// Logits of this device: the contracted or the produced dim of the weight cut.
static Value makeLogits(OpPartition &p, LmHeadOp op, Value normed,
                        const Packing *features, const Packing *vocabulary) {
  SmallVector<Cut> cuts = {Cut::over(features), Cut::over(vocabulary)};
  if (op.getTied())
    std::swap(cuts[0], cuts[1]);
  Value weight = p.slice(op.getWeight(), cuts);
  // The bias of a partial sum counts once: on the first device of the group.
  const Packing *held = vocabulary;
  if (features)
    held = p.getPackings().onFirst(sizeOf(op.getWeight(), op.getTied() ? 0 : 1),
                                   p.ranks());
  Value bias = p.sliceVector(op.getBias(), held);
  if (!weight || (op.getBias() && !bias))
    return {};
  auto shape = cast<RankedTensorType>(weight.getType());
  int64_t width = shape.getDimSize(op.getTied() ? 0 : 1);
  Type element = cast<RankedTensorType>(normed.getType()).getElementType();
  auto type = RankedTensorType::get({ShapedType::kDynamic, width}, element);
  OpBuilder &builder = p.getBuilder();
  return p.create<LinearOp>(type, normed, weight, /*norm=*/Value(), bias,
                            /*epsilon=*/FloatAttr(),
                            /*heads=*/IntegerAttr(), op.getTiedAttr(),
                            builder.getStringAttr(op.getName() + ".logits"),
                            DimAttr());
}

/// Best token of this device's logits, as (value, index).
static Value bestOf(OpPartition &p, Value logits, Value offset,
                    int64_t vocabulary) {
  OpBuilder &builder = p.getBuilder();
  auto type =
      RankedTensorType::get({ShapedType::kDynamic, 2}, builder.getI32Type());
  return p.create<ArgmaxOp>(type, logits, offset,
                            builder.getI64IntegerAttr(vocabulary));
}

static Value merge(OpPartition &p, LmHeadOp op, Value candidates) {
  return p.create<ArgmaxMergeOp>(op.getTokenIds().getType(), candidates);
}

/// Scaled and capped as `op` gives them.
static Value capped(OpPartition &p, LmHeadOp op, Value logits) {
  ActivationAttr activation = op.logitActivation();
  if (!activation)
    return logits;
  return p.create<ActivationOp>(logits.getType(), logits, activation);
}

/// Logits, where they are a result, are complete on every device.
static void defineLogits(OpPartition &p, LmHeadOp op, Value logits) {
  if (!op.getLogits())
    return;
  auto type = cast<RankedTensorType>(op.getLogits().getType());
  double rowBytes =
      double(type.getDimSize(1)) * type.getElementTypeBitWidth() / 8;
  p.define(op.getLogits(), {logits}, p.getPrompts(op.getSequence()), rowBytes);
}

/// Everything on one device, or replicated: the fused op.
static LogicalResult partitionWhole(OpPartition &p, LmHeadOp op, Value input) {
  Value norm = p.sliceVector(op.getNorm(), nullptr);
  Value normBias = p.sliceVector(op.getNormBias(), nullptr);
  Value bias = p.sliceVector(op.getBias(), nullptr);
  Value weight = p.slice(op.getWeight(), SmallVector<Cut>(2));
  if (!norm || !weight || (op.getNormBias() && !normBias) ||
      (op.getBias() && !bias))
    return failure();
  LmHeadOp local = p.clone(op);
  local.getInputMutable().assign(input);
  local.getNormMutable().assign(norm);
  if (normBias)
    local.getNormBiasMutable().assign(normBias);
  if (bias)
    local.getBiasMutable().assign(bias);
  local.getWeightMutable().assign(weight);
  local.setSequence(1);
  p.definePlain(op.getTokenIds(), local.getTokenIds());
  defineLogits(p, op, local.getLogits());
  return success();
}

/// The rows that the head reads, in the layout in which it wants them.
static Value getInput(OpPartition &p, LmHeadOp op, const Packing *features) {
  Layout layout = p.getRequired();
  if (op.getSequence() == 1)
    return p.get(op.getInput(), layout, features);
  const RowSpace *space = p.getPrompts(op.getSequence());
  const LocalValues::Placed &placed = p.getPlaced(op.getInput());
  LocalCopy last = lastRows(p, op);
  cost::Reshard moved = cost::reshardCollectives(
      last.layout, layout, space->cost, placed.rowBytes, p.getGrid().degrees);
  StepCharges steps = charged(moved);
  if (placed.left) {
    steps.front().front().counted = placed.left->counted;
    steps.front().front().bytes = moved.empty() ? 0 : moved[0].bytes;
  }
  return p.reshard(last, layout, features, *space, steps).value;
}

LogicalResult llm::partition(LmHeadOp op, OpPartition &p) {
  if (failed(p.expectRows(op.getInput(), p.getTokens())))
    return failure();
  Layout layout = p.getRequired();
  auto table = cast<RankedTensorType>(op.getWeight().getType());
  int64_t size = table.getDimSize(op.getTied() ? 0 : 1);
  const RowSpace *space = p.getPrompts(op.getSequence());
  const Packing *features =
      layout == Layout::H
          ? p.getPackings().blocks(columns(op.getInput()), p.ranks())
          : nullptr;
  Value input = getInput(p, op, features);
  Dim dim = p.getDim();
  if (p.ranks() == 1 || (layout == Layout::R && dim == Dim::None))
    return partitionWhole(p, op, input);

  const Packing *vocabulary = p.getPackings().blocks(size, p.ranks());
  Charges logitCharges = uncharged(space->cost * double(size) *
                                   table.getElementTypeBitWidth() / 8);
  Value normed = layout == Layout::H ? normCut(p, op, input, features)
                                     : normRows(p, op, input);
  if (!normed)
    return failure();
  Value logits = makeLogits(p, op, normed, features,
                            dim == Dim::One ? vocabulary : nullptr);
  if (!logits)
    return failure();

  if (dim == Dim::None) { // rows are cut
    Value best = bestOf(p, logits, p.getIndex(0), size);
    Value all = p.trimRows(p.allGather(best, 0, p.own("candidates")), *space);
    p.definePlain(op.getTokenIds(), merge(p, op, all));
    if (op.getLogits())
      defineLogits(
          p, op,
          capped(p, op,
                 p.trimRows(p.allGather(logits, 0, logitCharges), *space)));
    return success();
  }
  if (dim == Dim::Zero)
    logits = p.reduceScatter(p.selectColumns(logits, vocabulary->getPack()), 1,
                             p.own("logits"));
  Value best = bestOf(p, logits, p.getOffset(vocabulary->getLocalSize()), size);
  Value all = p.allGather(best, 1, p.own("candidates"));
  p.definePlain(op.getTokenIds(), merge(p, op, all));
  if (op.getLogits())
    defineLogits(p, op,
                 capped(p, op,
                        p.selectColumns(p.allGather(logits, 1, logitCharges),
                                        vocabulary->getUnpack())));
  return success();
}
