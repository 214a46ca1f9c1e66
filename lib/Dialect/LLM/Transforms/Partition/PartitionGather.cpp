//===- PartitionGather.cpp - Rows to all expert groups, and back ----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The exchange "gather". Rows of a stage stand [a][q][c][block], which is the
// order of the numbers of its devices, so that rows of all replicas, of blocks
// over tp and of blocks over the whole stage are gathered into one order. Over
// an expert group they lie as [ep][rows over etp].
//
//===----------------------------------------------------------------------===//

#include "PartitionModels.h"

#include "shardopt/Dialect/LLM/IR/Sizes.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;
using cost::Layout;

/// Rows of all of tp, as many as whole blocks of all replicas have.
static Value padToBlocks(OpPartition &p, Value rows) {
  return p.toBlocks(rows, *p.getTokens());
}
static Value trimToRows(OpPartition &p, Value rows) {
  return p.fromBlocks(rows, *p.getTokens());
}

//===----------------------------------------------------------------------===//
// On the way in
//===----------------------------------------------------------------------===//

/// Replicated rows of all replicas; those of this one serve others as well.
static Value gatherWhole(OpPartition &p, Value tokens, Layout from) {
  Value rows = p.get(tokens, from);
  Charges charges = p.own("exchange");
  if (from == Layout::R || p.getSize(Axis::Tp) == 1)
    return p.along(Axis::Dp).allGather(padToBlocks(p, rows), 0, charges);
  rows = p.along(Axis::Stage).allGather(rows, 0, charges);
  p.addCopy(tokens,
            {trimToRows(p, p.along(Axis::Dp).allSlice(rows, 0)), Layout::R});
  return rows;
}

/// The rows of this device's block, of all expert groups.
static Value gatherBlocks(OpPartition &p, Value tokens, Layout from) {
  Value rows = p.get(tokens, from);
  Charges charges = p.own("exchange");
  bool isWhole = from == Layout::R || p.getSize(Axis::Tp) == 1;
  if (isWhole)
    rows = padToBlocks(p, rows);
  if (!isWhole || !p.getGrid().groups().isQOutside()) {
    if (isWhole)
      rows = p.along(Axis::Tp).allSlice(rows, 0);
    return p.along(Axis::Ep).allGather(rows, 0, charges);
  }
  rows = p.along(Axis::C).sliceRows(rows, p.getSize(Axis::Q));
  return p.along(Axis::Dp).allGather(rows, 0, charges);
}

/// Some columns of all rows.
static Value gatherColumns(OpPartition &p, Value tokens, Layout from) {
  const Packing *taken = p.hiddenIn(tokens, from, Axis::Tp);
  Value rows = p.get(tokens, from, taken);
  Charges charges = p.own("exchange");
  bool isPadded =
      p.getSize(Axis::Tp) > 1 && (from == Layout::T || cost::isTwoAxis(from));
  if (!isPadded)
    rows = padToBlocks(p, rows);
  const Packing *features = p.hiddenIn(tokens, Layout::H, Axis::Etp);
  if (p.getGrid().groups().isQOutside()) {
    if (from != Layout::R)
      return p.along(Axis::Ep).allGather(rows, 0, charges);
    rows = p.along(Axis::Etp).allSlice(
        p.selectColumns(rows, features->getPack()), 1);
    return p.along(Axis::Dp).allGather(rows, 0, charges);
  }
  // Columns are cut finer inside than outside.
  Emitter overQ = p.along(Axis::Q);
  rows = p.widen(rows, features->getLocalSize() * overQ.ranks());
  rows = overQ.allToAll(rows, 1, 0, p.own("columns"));
  return p.along(Axis::Ep).allGather(rows, 0, charges);
}

Value llm::gatherRows(OpPartition &p, Value tokens) {
  Layout from = p.getRequired();
  switch (p.getResultLayout()) {
  case Layout::T:
    return gatherBlocks(p, tokens, from);
  case Layout::H:
    return gatherColumns(p, tokens, from);
  default:
    return gatherWhole(p, tokens, from);
  }
}

//===----------------------------------------------------------------------===//
// On the way out
//===----------------------------------------------------------------------===//

/// The weighted sums of the copies that this device has, of gathered rows:
/// over etp they lie as the copies do.
static FailureOr<LocalCopy> sumCopies(OpPartition &p, CombineOp op,
                                      DispatchOp dispatch) {
  LocalCopy copies = p.getPlaced(op.getRows()).copies.front();
  const Exchange *exchange = p.getExchange(dispatch, copies.layout);
  if (!exchange)
    return failure();
  Value weights = p.getExchanges().getGathered(
      p, op, op.getWeights(),
      p.getSize(Axis::Etp) == 1 ? Layout::R : copies.layout, 0);
  if (!weights)
    return failure();
  Type type = copies.value.getType();
  copies.value = p.create<UnpackHomesOp>(type, copies.value, exchange->recv);
  copies.value = p.create<UnpermuteOp>(type, copies.value, exchange->origins,
                                       weights, op.getUnweightedAttr());
  return copies;
}

/// A partial sum over the whole stage, reduced along with the exchange.
static Value scatterSum(OpPartition &p, CombineOp op, Value rows) {
  Charges charges = p.own("exchange");
  if (p.getDim() == Dim::Zero)
    return p.along(Axis::Stage).reduceScatter(rows, 0, charges);
  if (p.getDim() == Dim::None)
    return p.along(Axis::Dp).reduceScatter(rows, 0, charges);
  const Packing *features = p.getGrid().groups().isQOutside()
                                ? p.hiddenIn(op.getRows(), Layout::TH, Axis::Tp)
                                : p.hiddenIn(op.getRows(), Layout::H, Axis::Tp);
  Emitter overC = p.along(Axis::C);
  Charges columns = p.own("columns");
  if (overC.ranks() > 1)
    rows = overC.reduceScatter(p.selectColumns(rows, features->getPack()), 1,
                               columns);
  return p.along(Axis::Outer).reduceScatter(rows, 0, charges);
}

LogicalResult llm::scatterRows(OpPartition &p, CombineOp op,
                               DispatchOp dispatch) {
  FailureOr<LocalCopy> sums = sumCopies(p, op, dispatch);
  if (failed(sums))
    return failure();
  double rowBytes = p.getPlaced(op.getRows()).rowBytes;
  Layout outside = p.getResultLayout();
  const Packing *features = p.hiddenIn(op.getRows(), outside, Axis::Tp);
  Value result;
  if (sums->layout == Layout::P || p.getSize(Axis::Etp) == 1) {
    result = scatterSum(p, op, sums->value);
  } else {
    RowSpace gathered;
    gathered.name = "experts";
    gathered.over = Axis::Etp;
    gathered.outer = p.getSize(Axis::Ep);
    Layout inside = p.getRequired();
    const Degrees &degrees = p.getGrid().degrees;
    double rows = double(p.getContext().rows) * double(degrees.dp);
    StepCharges steps = charged(cost::reshardCollectives(
        sums->layout, inside, rows, rowBytes, degrees, Axis::Etp));
    result =
        p.reshard(*sums, inside, p.hiddenIn(op.getRows(), inside, Axis::Etp),
                  gathered, steps)
            .value;
    result = p.along(Axis::Ep).reduceScatter(result, 0, p.own("exchange"));
    if (inside == Layout::TH && outside == Layout::H)
      result = p.sliceColumns(result, 0, features->getLocalSize());
  }
  bool isPadded = p.getSize(Axis::Tp) > 1 &&
                  (outside == Layout::T || cost::isTwoAxis(outside));
  if (!isPadded)
    result = trimToRows(p, result);
  p.define(op.getResult(), {result, outside, features}, p.getTokens(),
           rowBytes);
  return success();
}
