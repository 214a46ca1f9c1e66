//===- PartitionNorms.cpp - Embedding and norms of one device -------------===//
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

LogicalResult llm::partition(EmbeddingOp op, OpPartition &p) {
  auto table = cast<RankedTensorType>(op.getTable().getType());
  Layout layout = p.getResultLayout();
  const Packing *rows = p.getPackings().blocks(table.getDimSize(0), p.ranks());
  const Packing *features =
      p.getPackings().blocks(table.getDimSize(1), p.ranks());
  SmallVector<Cut> cuts(2);
  if (layout == Layout::P)
    cuts[0] = Cut::over(rows);
  else if (layout == Layout::H)
    cuts[1] = Cut::over(features);

  Value slice = p.slice(op.getTable(), cuts);
  Value tokens = p.getPlain(op.getTokens());
  if (!slice || !tokens)
    return failure();
  EmbeddingOp local = p.clone(op);
  local.getTokensMutable().assign(tokens);
  local.getTableMutable().assign(slice);
  local.getResult().setType(withColumns(op.getResult(), columns(slice)));
  if (layout == Layout::P && p.ranks() > 1) {
    OpBuilder::InsertionGuard guard(p.getBuilder());
    p.getBuilder().setInsertionPoint(local);
    local.getOffsetMutable().assign(p.getOffset(rows->getLocalSize()));
  }
  auto type = cast<RankedTensorType>(op.getResult().getType());
  double rowBytes =
      double(type.getDimSize(1)) * type.getElementTypeBitWidth() / 8;
  p.define(
      op.getResult(),
      {local.getResult(), layout, layout == Layout::H ? features : nullptr},
      p.getTokens(), rowBytes);
  return success();
}

static Value biasOf(RmsNormOp) { return {}; }
static Value biasOf(LayerNormOp op) { return op.getBias(); }

static bool addsBehind(RmsNormOp op) { return op.getNormFirst(); }
static bool addsBehind(LayerNormOp) { return false; }

template <typename OpTy>
static LogicalResult partitionNorm(OpTy op, OpPartition &p) {
  Layout anchor = p.getRequired();
  int64_t hidden = columns(op.getInput());
  const Packing *features =
      anchor == Layout::H ? p.getPackings().blocks(hidden, p.ranks()) : nullptr;
  Value input = p.get(op.getInput(), anchor, features);
  Value residual =
      op.getResidual() ? p.get(op.getResidual(), anchor, features) : Value();
  Value weight = p.sliceVector(op.getWeight(), features);
  Value bias = p.sliceVector(biasOf(op), features);
  if (!weight || (biasOf(op) && !bias))
    return failure();

  if (anchor != Layout::H || p.ranks() == 1) {
    OpTy local = p.clone(op);
    local.getInputMutable().assign(input);
    if (residual)
      local.getResidualMutable().assign(residual);
    local.getWeightMutable().assign(weight);
    if constexpr (std::is_same_v<OpTy, LayerNormOp>)
      if (bias)
        local.getBiasMutable().assign(bias);
    for (auto [global, result] :
         llvm::zip_equal(op->getResults(), local->getResults()))
      p.defineResult(cast<OpResult>(global), result, op.getInput(), features);
    return success();
  }

  // Features are cut: sums over them are all there is to exchange.
  Value sum = input;
  if (residual && !addsBehind(op))
    sum = p.create<AddOp>(input.getType(), input, residual);
  Value normed = normFeatures(p, sum, weight, bias, op.getEpsilonAttr(), hidden,
                              std::is_same_v<OpTy, LayerNormOp>);
  if (addsBehind(op))
    normed = p.create<AddOp>(input.getType(), normed, residual);
  p.defineResult(cast<OpResult>(op.getResult()), normed, op.getInput(),
                 features);
  if (op.getSum())
    p.defineResult(cast<OpResult>(op.getSum()), sum, op.getInput(), features);
  return success();
}

LogicalResult llm::partition(RmsNormOp op, OpPartition &p) {
  return partitionNorm(op, p);
}

LogicalResult llm::partition(LayerNormOp op, OpPartition &p) {
  return partitionNorm(op, p);
}

Value llm::normFeatures(OpPartition &p, Value input, Value weight, Value bias,
                        FloatAttr epsilon, int64_t width, bool subtractsMean,
                        bool areCut) {
  OpBuilder &builder = p.getBuilder();
  UnitAttr sums = subtractsMean ? builder.getUnitAttr() : UnitAttr();
  auto type = RankedTensorType::get(
      {ShapedType::kDynamic, subtractsMean ? 2 : 1}, builder.getF32Type());
  Value squares =
      p.create<SumSquaresOp>(type, input, builder.getI64IntegerAttr(1), sums);
  if (areCut)
    squares = p.allReduce(squares, p.own("norm"));
  return p.create<ScaleNormOp>(input.getType(), input, squares, weight, bias,
                               epsilon, builder.getI64IntegerAttr(width),
                               bias ? UnitAttr() : sums);
}
