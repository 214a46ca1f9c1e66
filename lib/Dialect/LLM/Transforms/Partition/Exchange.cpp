//===- Exchange.cpp - Token copies between dispatch and combine -----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/Transforms/Partition/Exchange.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;
using cost::Layout;

/// Bytes of a tensor of static shape.
static double staticBytes(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return double(type.getNumElements()) * type.getElementTypeBitWidth() / 8;
}

Exchanges::Homes Exchanges::homesIn(const Emitter &emit, Layout inside) {
  if (inside == Layout::T || emit.getSize(Axis::Etp) == 1)
    return Homes::Own;
  return cost::isTwoAxis(inside) ? Homes::OverC : Homes::All;
}

Layout llm::rowsOfExchange(const Emitter &emit, Layout inside) {
  const StageGrid &grid = emit.getGrid().groups();
  if (inside == Layout::T || grid.etp() == 1)
    return Layout::T;
  // The q axis is on one of the two sides.
  return cost::isTwoAxis(inside) ? Layout::R : cost::cutOverQ(Layout::R, grid);
}

//===----------------------------------------------------------------------===//
// Indices and weights of the router
//===----------------------------------------------------------------------===//

void Exchanges::defineRouting(const Emitter &emit, Value global, Value local,
                              Layout layout) {
  const RowSpace &tokens = *rows.getTokens();
  if (layout == Layout::T) {
    auto type = cast<RankedTensorType>(local.getType());
    double bytes = tokens.cost * type.getDimSize(1) * 4;
    local = emit.trimRows(emit.allGather(local, 0, uncharged(bytes)), tokens);
  }
  routing[global] = {local, {}, {}, {}};
}

Value Exchanges::getRouting(const Emitter &emit, Operation *user, Value global,
                            Layout layout, int fill) {
  RoutingCopies &copies = routing[global];
  if (!copies.complete)
    copies.complete = values.lookupPlain(global);
  if (!copies.complete) {
    auto diagnostic =
        user->emitOpError("reads sharded indices or weights: expected those "
                          "of an 'llm.router', or an argument");
    diagnostic.attachNote(global.getLoc()) << "made here";
    return {};
  }
  Emitter overTp = emit.along(Axis::Tp);
  if (layout == Layout::R || overTp.ranks() == 1)
    return copies.complete;
  Value &cut = layout == Layout::T ? copies.block : copies.overQ;
  if (!cut)
    cut = emit.along(layout == Layout::T ? Axis::Tp : Axis::Q)
              .allSlice(
                  overTp.padRows(copies.complete, *rows.getTokens(), fill), 0);
  return cut;
}

Value Exchanges::getGathered(const Emitter &emit, Operation *user, Value global,
                             Layout inside, int fill) {
  Value complete = getRouting(emit, user, global, Layout::R, fill);
  if (!complete)
    return {};
  Value &gathered = routing[global].gathered;
  Emitter overDp = emit.along(Axis::Dp);
  if (!gathered) {
    const RowSpace &tokens = *rows.getTokens();
    gathered = emit.toBlocks(complete, tokens, fill);
    auto type = cast<RankedTensorType>(complete.getType());
    double bytes =
        tokens.cost * double(overDp.ranks() * type.getDimSize(1)) * 4;
    gathered = overDp.allGather(gathered, 0, uncharged(bytes));
  }
  if (inside != Layout::T)
    return gathered;
  return emit.along(Axis::Etp).sliceRows(gathered, emit.getSize(Axis::Ep));
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// Which copies go where, and how many come from where. Rows of padding have
/// expert -1 and are not sent.
LogicalResult Exchanges::plan(const Emitter &emit, DispatchOp dispatch,
                              Routed &routed, Layout inside) {
  if (emit.getGrid().degrees.gathers())
    return planGathered(emit, dispatch, routed, inside);
  Homes kind = homesIn(emit, inside);
  Value indices = getRouting(emit, dispatch, dispatch.getIndices(),
                             rowsOfExchange(emit, inside), -1);
  if (!indices)
    return failure();
  int64_t groups = emit.getSize(Axis::Ep);
  int64_t homes = kind == Homes::Own ? 1 : emit.getSize(Axis::C);
  int64_t local = cost::ceilDiv(dispatch.getExperts(), groups);
  Type i32 = emit.getBuilder().getI32Type();
  auto counts = RankedTensorType::get({groups, homes, local}, i32);
  auto origins = RankedTensorType::get({ShapedType::kDynamic}, i32);
  Value block = rows.getTokens()->blocks.block;
  if (!block)
    block = emit.getIndex(1);
  // Rows that are whole over tp stand in the order of prompts.
  IntegerAttr dealt;
  if (int64_t length = rows.getTokens()->dealt;
      length > 0 && rowsOfExchange(emit, inside) == Layout::R)
    dealt = emit.getBuilder().getI64IntegerAttr(length);
  auto plan = emit.create<ExchangePlanOp>(TypeRange{counts, origins}, indices,
                                          block, dealt);
  Exchange &exchange = routed.get(kind);
  exchange.origins = plan.getOrigins();
  exchange.send = plan.getCounts();
  exchange.recv = emit.along(Axis::Ep).allToAll(
      exchange.send, 0, 0, uncharged(staticBytes(exchange.send)));
  return success();
}

/// Which copies the experts of this device want of the gathered rows.
LogicalResult Exchanges::planGathered(const Emitter &emit, DispatchOp dispatch,
                                      Routed &routed, Layout inside) {
  Homes kind = homesIn(emit, inside);
  Layout layout =
      kind == Homes::Own && emit.getSize(Axis::Etp) > 1 ? Layout::T : Layout::R;
  Value indices =
      getGathered(emit, dispatch, dispatch.getIndices(), layout, -1);
  if (!indices)
    return failure();
  // Copies of whole rows are of one home, but for those made of copies of own
  // rows.
  bool fromOwn = kind == Homes::All && routed.get(Homes::Own).origins;
  int64_t homes = fromOwn ? emit.getSize(Axis::Etp) : 1;
  int64_t local = cost::ceilDiv(dispatch.getExperts(), emit.getSize(Axis::Ep));
  OpBuilder &builder = emit.getBuilder();
  Value first = emit.along(Axis::Ep).getOffset(local);
  indices = emit.create<LocalExpertsOp>(indices.getType(), indices, first,
                                        builder.getI64IntegerAttr(local));
  Type i32 = builder.getI32Type();
  auto plan = emit.create<ExchangePlanOp>(
      TypeRange{RankedTensorType::get({1, homes, local}, i32),
                RankedTensorType::get({ShapedType::kDynamic}, i32)},
      indices, rows.getTokens()->blocks.block, /*dealt=*/IntegerAttr());
  Exchange &exchange = routed.get(kind);
  exchange.origins = plan.getOrigins();
  exchange.send = exchange.recv = plan.getCounts();
  return success();
}

Exchange *Exchanges::begin(const Emitter &emit, DispatchOp op, Layout inside) {
  Routed &entry = routed[op];
  if (failed(plan(emit, op, entry, inside)))
    return nullptr;
  return &entry.get(homesIn(emit, inside));
}

const Exchange *Exchanges::get(const Emitter &emit, DispatchOp dispatch,
                               Layout inside) {
  Routed &entry = routed[dispatch];
  Exchange &exchange = entry.get(homesIn(emit, inside));
  if (!exchange.send && failed(plan(emit, dispatch, entry, inside)))
    return nullptr;
  return &exchange;
}

Value Exchanges::getCounts(const Emitter &emit, DispatchOp dispatch,
                           Layout inside) {
  Routed &entry = routed[dispatch];
  Homes kind = homesIn(emit, inside);
  Value &homes = entry.get(kind).homes;
  if (homes)
    return homes;
  auto known = [&](Homes other) { return entry.get(other).homes; };
  auto gather = [&](Homes from, Axis axis) {
    Emitter over = emit.along(axis);
    return over.allGather(
        known(from), 0,
        uncharged(staticBytes(known(from)) * double(over.ranks())));
  };
  if (kind == Homes::All)
    homes = known(Homes::OverC) ? gather(Homes::OverC, Axis::Q)
                                : gather(Homes::Own, Axis::Etp);
  else if (kind == Homes::OverC)
    homes = gather(Homes::Own, Axis::C);
  else if (known(Homes::OverC))
    homes = emit.along(Axis::C).allSlice(known(Homes::OverC), 0);
  else
    homes = emit.along(Axis::Etp).allSlice(known(Homes::All), 0);
  return homes;
}
