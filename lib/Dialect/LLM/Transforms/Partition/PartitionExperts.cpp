//===- PartitionExperts.cpp - Router, dispatch and combine of one device -===//
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

static const Packing *hiddenBlocks(OpPartition &p, Value value, Layout layout) {
  if (layout != Layout::H)
    return nullptr;
  return p.getPackings().blocks(columns(value), p.tp());
}

//===----------------------------------------------------------------------===//
// Router
//===----------------------------------------------------------------------===//

/// Dims 0 and 1: logits first, their collective, and the choice after it.
static LogicalResult partitionRouter(OpPartition &p, RouterOp op) {
  OpBuilder &builder = p.getBuilder();
  bool contracts = op.getShardingDim() == Dim::Zero;
  int64_t experts = columns(op.getWeight());
  const Packing *features =
      p.getPackings().blocks(columns(op.getInput()), p.tp());
  const Packing *held = p.getPackings().blocks(experts, p.tp());
  Value input =
      p.get(op.getInput(), p.getRequired(), contracts ? features : nullptr);
  Value weight =
      p.slice(op.getWeight(), {Cut::over(contracts ? features : nullptr),
                               Cut::over(contracts ? nullptr : held)});
  const Packing *biased =
      contracts ? p.getPackings().onFirst(experts, p.tp()) : held;
  Value bias = p.sliceVector(op.getBias(), biased);
  Value correction = p.sliceVector(op.getCorrection(), nullptr);
  if (!weight)
    return failure();
  auto type = RankedTensorType::get({ShapedType::kDynamic, columns(weight)},
                                    builder.getF32Type());
  Value logits = p.create<LinearOp>(
      type, input, weight, /*norm=*/Value(), bias, /*epsilon=*/FloatAttr(),
      /*heads=*/IntegerAttr(), /*transposed=*/UnitAttr(),
      builder.getStringAttr(op.getName() + ".logits"), DimAttr());
  logits = contracts ? p.allReduce(logits, p.own("logits"))
                     : p.allGather(logits, 1, p.own("logits"));
  auto choice = p.create<TopKOp>(
      TypeRange{op.getIndices().getType(), op.getWeights().getType()}, logits,
      correction, builder.getI64IntegerAttr(experts), op.getScoringAttr(),
      op.getTopKAttr(), op.getNormalizeAttr(), op.getGroupsAttr(),
      op.getTopGroupsAttr(), op.getScaleAttr());
  p.defineRouting(op.getIndices(), choice.getIndices(), Layout::R);
  p.defineRouting(op.getWeights(), choice.getWeights(), Layout::R);
  p.definePassed(cast<OpResult>(op.getTokens()), op.getInput());
  return success();
}

LogicalResult llm::partition(RouterOp op, OpPartition &p) {
  if (failed(p.expectRows(op.getInput(), p.getTokens())))
    return failure();
  if (op.getShardingDim() != Dim::None && p.tp() > 1)
    return partitionRouter(p, op);
  Layout layout = p.tp() > 1 ? p.getRequired() : Layout::R;
  Value input = p.get(op.getInput(), layout);
  Value weight = p.slice(op.getWeight(), SmallVector<Cut>(2));
  Value bias = p.sliceVector(op.getBias(), nullptr);
  Value correction = p.sliceVector(op.getCorrection(), nullptr);
  if (!weight)
    return failure();
  RouterOp local = p.clone(op);
  local.getInputMutable().assign(input);
  local.getWeightMutable().assign(weight);
  if (bias)
    local.getBiasMutable().assign(bias);
  if (correction)
    local.getCorrectionMutable().assign(correction);
  p.defineRouting(op.getIndices(), local.getIndices(), layout);
  p.defineRouting(op.getWeights(), local.getWeights(), layout);
  p.definePassed(cast<OpResult>(op.getTokens()), op.getInput());
  return success();
}

//===----------------------------------------------------------------------===//
// Dispatch and combine
//===----------------------------------------------------------------------===//

LogicalResult llm::partition(DispatchOp op, OpPartition &p) {
  if (failed(p.expectRows(op.getTokens(), p.getTokens())))
    return failure();
  Layout layout = p.getRequired();
  const Packing *features = hiddenBlocks(p, op.getTokens(), layout);
  Value tokens = p.get(op.getTokens(), layout, features);
  double rowBytes = p.getPlaced(op.getTokens()).rowBytes;
  const RowSpace *sent = p.addExperts(op);
  if (p.exchangesNothing()) {
    Value indices = p.getRouting(op.getIndices(), layout, -1);
    if (!indices)
      return failure();
    DispatchOp local = p.clone(op);
    local.getTokensMutable().assign(tokens);
    local.getIndicesMutable().assign(indices);
    p.define(op.getRows(), {local.getRows()}, sent, rowBytes);
    p.definePlain(op.getCounts(), local.getCounts());
    p.definePlain(op.getOrigins(), local.getOrigins());
    return success();
  }
  Exchange *exchange = p.beginExchange(op, layout);
  if (!exchange)
    return failure();
  auto topK = p.getBuilder().getI64IntegerAttr(columns(op.getIndices()));
  Value rows =
      p.create<PermuteOp>(tokens.getType(), tokens, exchange->origins, topK);
  rows = p.allToAllV(rows, exchange->send, exchange->recv, p.own("exchange"));
  auto i32 = p.getBuilder().getI32Type();
  Value block =
      p.create<BlockSizeOp>(RankedTensorType::get({1}, i32), exchange->recv);
  // Blocks of T are gathered as if they were equal: all pad to the largest.
  if (layout == Layout::T)
    block = p.allReduce(block, uncharged(4), /*max=*/true);
  auto received = cast<RankedTensorType>(exchange->recv.getType());
  auto homes = RankedTensorType::get(
      {received.getDimSize(1), received.getDimSize(0), received.getDimSize(2)},
      i32);
  auto packed = p.create<PackHomesOp>(TypeRange{rows.getType(), homes}, rows,
                                      exchange->recv, block);
  exchange->homes = packed.getHomes();
  p.define(op.getRows(), {packed.getResult(), layout, features}, sent,
           rowBytes);
  return success();
}

LogicalResult llm::partition(CombineOp op, OpPartition &p) {
  FailureOr<DispatchOp> dispatch = p.getDispatch(op.getRows(), op.getCounts());
  if (failed(dispatch))
    return failure();
  if (*dispatch && op.getOrigins() != dispatch->getOrigins()) {
    auto diagnostic = op.emitOpError(
        "reads origins of other rows than its own: expected those of the "
        "'llm.dispatch' that sends its rows");
    diagnostic.attachNote(op.getOrigins().getLoc()) << "origins from here";
    diagnostic.attachNote(dispatch->getLoc()) << "rows from here";
    return diagnostic;
  }
  Layout layout = p.getRequired();
  const Packing *features = hiddenBlocks(p, op.getRows(), layout);
  Value rows = p.get(op.getRows(), layout, features);
  double rowBytes = p.getPlaced(op.getRows()).rowBytes;
  if (p.exchangesNothing()) {
    Value weights = p.getRouting(op.getWeights(), layout, 0);
    Value counts = p.getPlain(op.getCounts());
    Value origins = p.getPlain(op.getOrigins());
    if (!weights || !counts || !origins)
      return failure();
    CombineOp local = p.clone(op);
    local.getRowsMutable().assign(rows);
    local.getCountsMutable().assign(counts);
    local.getOriginsMutable().assign(origins);
    local.getWeightsMutable().assign(weights);
    p.define(op.getResult(), {local.getResult()}, p.getTokens(), rowBytes);
    return success();
  }
  const Exchange *exchange = p.getExchange(*dispatch, layout);
  if (!exchange)
    return failure();
  Value sent = p.create<UnpackHomesOp>(rows.getType(), rows, exchange->recv);
  Value returned =
      p.allToAllV(sent, exchange->recv, exchange->send, p.own("exchange"));
  Value weights = p.getRouting(op.getWeights(), layout, 0);
  if (!weights)
    return failure();
  Value result = p.create<UnpermuteOp>(rows.getType(), returned,
                                       exchange->origins, weights);
  p.define(op.getResult(), {result, p.getResultLayout(), features},
           p.getTokens(), rowBytes);
  return success();
}
