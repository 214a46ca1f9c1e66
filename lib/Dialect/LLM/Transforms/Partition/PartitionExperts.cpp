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

//===----------------------------------------------------------------------===//
// Router
//===----------------------------------------------------------------------===//

/// Dims 0 and 1: logits first, their collective, and the choice after it.
static LogicalResult partitionRouter(OpPartition &p, RouterOp op) {
  OpBuilder &builder = p.getBuilder();
  bool contracts = op.getShardingDim() == Dim::Zero;
  int64_t experts = columns(op.getWeight());
  const Packing *features =
      p.getPackings().blocks(columns(op.getInput()), p.ranks());
  const Packing *held = p.getPackings().blocks(experts, p.ranks());
  Value input =
      p.get(op.getInput(), p.getRequired(), contracts ? features : nullptr);
  Value weight =
      p.slice(op.getWeight(), {Cut::over(contracts ? features : nullptr),
                               Cut::over(contracts ? nullptr : held)});
  const Packing *biased =
      contracts ? p.getPackings().onFirst(experts, p.ranks()) : held;
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
  auto choose = [&](BoolAttr normalize, FloatAttr scale) {
    return p.create<TopKOp>(
        TypeRange{op.getIndices().getType(), op.getWeights().getType()}, logits,
        correction, builder.getI64IntegerAttr(experts), op.getScoringAttr(),
        op.getTopKAttr(), normalize, op.getGroupsAttr(), op.getTopGroupsAttr(),
        op.getGroupBestAttr(), scale);
  };
  TopKOp choice = choose(op.getNormalizeAttr(), op.getScaleAttr());
  p.defineRouting(op.getIndices(), choice.getIndices(), Layout::R);
  auto tokens = cast<OpResult>(op.getTokens());
  if (!op.getScaleTokens()) {
    p.defineRouting(op.getWeights(), choice.getWeights(), Layout::R);
    p.definePassed(tokens, op.getInput());
    return success();
  }
  // The weight of an only choice, normalized, is one.
  TopKOp ones = choose(builder.getBoolAttr(true), builder.getF64FloatAttr(1));
  p.defineRouting(op.getWeights(), ones.getWeights(), Layout::R);
  const Packing *cut = p.getResultLayout() == Layout::H ? features : nullptr;
  Value taken = p.get(op.getInput(), p.getResultLayout(), cut);
  Value scaled =
      p.create<ScaleRowsOp>(taken.getType(), taken, choice.getWeights());
  p.defineResult(tokens, scaled, op.getInput(), cut);
  return success();
}

LogicalResult llm::partition(RouterOp op, OpPartition &p) {
  if (failed(p.expectRows(op.getInput(), p.getTokens())))
    return failure();
  if (op.getShardingDim() != Dim::None && p.ranks() > 1)
    return partitionRouter(p, op);
  Layout layout = p.ranks() > 1 ? p.getRequired() : Layout::R;
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
  auto tokens = cast<OpResult>(op.getTokens());
  if (op.getScaleTokens())
    p.defineResult(tokens, local.getTokens(), op.getInput());
  else
    p.definePassed(tokens, op.getInput());
  return success();
}

//===----------------------------------------------------------------------===//
// Dispatch and combine
//===----------------------------------------------------------------------===//

/// On one device nothing is exchanged.
static LogicalResult partitionWhole(DispatchOp op, OpPartition &p, Value tokens,
                                    const RowSpace *sent) {
  Value indices = p.getRouting(op.getIndices(), Layout::R, -1);
  if (!indices)
    return failure();
  DispatchOp local = p.clone(op);
  local.getTokensMutable().assign(tokens);
  local.getIndicesMutable().assign(indices);
  if (op.getWeights()) {
    Value weights = p.getRouting(op.getWeights(), Layout::R, 0);
    if (!weights)
      return failure();
    local.getWeightsMutable().assign(weights);
  }
  p.define(op.getRows(), {local.getRows()}, sent,
           p.getPlaced(op.getTokens()).rowBytes);
  p.definePlain(op.getCounts(), local.getCounts());
  p.definePlain(op.getOrigins(), local.getOrigins());
  return success();
}

/// Copies that arrived, ordered by home; blocks of the same length, where
/// devices over etp have copies of different rows.
static Value packHomes(OpPartition &p, Value rows, Exchange &exchange,
                       Layout inside) {
  auto i32 = p.getBuilder().getI32Type();
  Value block =
      p.create<BlockSizeOp>(RankedTensorType::get({1}, i32), exchange.recv);
  if (inside == Layout::T || cost::isTwoAxis(inside))
    block = p.along(Axis::Etp).allReduce(block, uncharged(4), /*max=*/true);
  auto received = cast<RankedTensorType>(exchange.recv.getType());
  auto homes = RankedTensorType::get(
      {received.getDimSize(1), received.getDimSize(0), received.getDimSize(2)},
      i32);
  auto packed = p.create<PackHomesOp>(TypeRange{rows.getType(), homes}, rows,
                                      exchange.recv, block);
  exchange.homes = packed.getHomes();
  return packed.getResult();
}

/// Null, with a diagnostic, where the weights are none of a router.
static Value permute(OpPartition &p, DispatchOp op, Value tokens,
                     const Exchange &exchange, Layout inside) {
  Value weights = op.getWeights();
  if (weights) {
    // For the rows that indices were asked for when the exchange was planned.
    weights = p.getContext().degrees.gathers()
                  ? p.getExchanges().getGathered(
                        p, op, weights,
                        p.getSize(Axis::Etp) == 1 ? Layout::R : inside, 0)
                  : p.getRouting(weights, rowsOfExchange(p, inside), 0);
    if (!weights)
      return {};
  }
  auto topK = p.getBuilder().getI64IntegerAttr(columns(op.getIndices()));
  return p.create<PermuteOp>(tokens.getType(), tokens, exchange.origins,
                             weights, topK);
}

LogicalResult llm::partition(DispatchOp op, OpPartition &p) {
  if (failed(p.expectRows(op.getTokens(), p.getTokens())))
    return failure();
  const RowSpace *sent = p.addExperts(op);
  Layout inside = p.getResultLayout();
  const Packing *features = p.hiddenIn(op.getTokens(), inside, Axis::Etp);
  double rowBytes = p.getPlaced(op.getTokens()).rowBytes;
  Value tokens;
  if (!p.exchangesNothing() && p.getContext().degrees.gathers()) {
    tokens = gatherRows(p, op.getTokens());
  } else {
    Layout outside = p.getRequired();
    tokens = p.get(op.getTokens(), outside,
                   p.hiddenIn(op.getTokens(), outside, Axis::Tp));
    // Columns that etp shards again are sharded evenly.
    if (inside == Layout::TH && outside == Layout::H)
      tokens = p.widen(tokens, features->getLocalSize());
  }
  if (p.exchangesNothing())
    return partitionWhole(op, p, tokens, sent);
  Exchange *exchange = p.beginExchange(op, inside);
  if (!exchange)
    return failure();
  Value rows = permute(p, op, tokens, *exchange, inside);
  if (!rows)
    return failure();
  if (!p.getContext().degrees.gathers()) {
    rows = p.along(Axis::Ep).allToAllV(rows, exchange->send, exchange->recv,
                                       p.own("exchange"));
    rows = packHomes(p, rows, *exchange, inside);
  } else if (inside == Layout::T) {
    rows = packHomes(p, rows, *exchange, inside);
  } else {
    exchange->homes = exchange->recv; // of one home and one source
  }
  p.define(op.getRows(), {rows, inside, features}, sent, rowBytes);
  return success();
}

static LogicalResult partitionWhole(CombineOp op, OpPartition &p) {
  Value rows = p.get(op.getRows(), Layout::R);
  Value weights = p.getRouting(op.getWeights(), Layout::R, 0);
  Value counts = p.getPlain(op.getCounts());
  Value origins = p.getPlain(op.getOrigins());
  if (!weights || !counts || !origins)
    return failure();
  CombineOp local = p.clone(op);
  local.getRowsMutable().assign(rows);
  local.getCountsMutable().assign(counts);
  local.getOriginsMutable().assign(origins);
  local.getWeightsMutable().assign(weights);
  p.define(op.getResult(), {local.getResult()}, p.getTokens(),
           p.getPlaced(op.getRows()).rowBytes);
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
  if (p.exchangesNothing())
    return partitionWhole(op, p);
  if (p.getContext().degrees.gathers())
    return scatterRows(p, op, *dispatch);
  Layout inside = p.getRequired(), outside = p.getResultLayout();
  Value rows =
      p.get(op.getRows(), inside, p.hiddenIn(op.getRows(), inside, Axis::Etp));
  double rowBytes = p.getPlaced(op.getRows()).rowBytes;
  const Exchange *exchange = p.getExchange(*dispatch, inside);
  if (!exchange)
    return failure();
  Value sent = p.create<UnpackHomesOp>(rows.getType(), rows, exchange->recv);
  Value returned = p.along(Axis::Ep).allToAllV(
      sent, exchange->recv, exchange->send, p.own("exchange"));
  Value weights = p.getRouting(op.getWeights(), rowsOfExchange(p, inside), 0);
  if (!weights)
    return failure();
  Value result =
      p.create<UnpermuteOp>(rows.getType(), returned, exchange->origins,
                            weights, op.getUnweightedAttr());
  const Packing *features = p.hiddenIn(op.getRows(), outside, Axis::Tp);
  if (inside == Layout::TH && outside == Layout::H)
    result = p.sliceColumns(result, 0, features->getLocalSize());
  p.define(op.getResult(), {result, outside, features}, p.getTokens(),
           rowBytes);
  return success();
}
