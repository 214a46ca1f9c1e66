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

static bool cutsRows(const Emitter &emit, Layout layout) {
  return layout == Layout::T && emit.tp() > 1;
}

//===----------------------------------------------------------------------===//
// Indices and weights of the router
//===----------------------------------------------------------------------===//

void Exchanges::defineRouting(const Emitter &emit, Value global, Value local,
                              Layout layout) {
  const RowSpace &tokens = *rows.getTokens();
  if (cutsRows(emit, layout)) {
    auto type = cast<RankedTensorType>(local.getType());
    double bytes = tokens.cost * type.getDimSize(1) * 4;
    local = emit.trimRows(emit.allGather(local, 0, uncharged(bytes)), tokens);
  }
  routing[global] = {local, {}};
}

Value Exchanges::getRouting(const Emitter &emit, Operation *user, Value global,
                            Layout layout, int fill) {
  RoutingCopies &copies = routing[global];
  if (!copies.complete)
    copies.complete = values.lookupPlain(global);
  if (!copies.complete) {
    auto diagnostic = user->emitOpError(
        "reads indices or weights that are cut over devices: expected those "
        "of an 'llm.router', or an argument");
    diagnostic.attachNote(global.getLoc()) << "made here";
    return {};
  }
  if (!cutsRows(emit, layout))
    return copies.complete;
  if (!copies.block)
    copies.block = emit.allSlice(
        emit.padRows(copies.complete, *rows.getTokens(), fill), 0);
  return copies.block;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// Which copies go where, and how many come from where. Rows of padding have
/// expert -1 and are not sent.
LogicalResult Exchanges::plan(const Emitter &emit, DispatchOp dispatch,
                              Routed &routed, Layout layout) {
  bool blocks = cutsRows(emit, layout);
  Value indices = getRouting(emit, dispatch, dispatch.getIndices(), layout, -1);
  if (!indices)
    return failure();
  int64_t groups = emit.getSize(GridAxis::Ep);
  int64_t homes = blocks ? 1 : emit.tp();
  int64_t local = cost::ceilDiv(dispatch.getExperts(), groups);
  Type i32 = emit.getBuilder().getI32Type();
  auto counts = RankedTensorType::get({groups, homes, local}, i32);
  auto origins = RankedTensorType::get({ShapedType::kDynamic}, i32);
  Value block = rows.getTokens()->blocks.block;
  if (!block)
    block = emit.getIndex(1);
  auto plan =
      emit.create<ExchangePlanOp>(TypeRange{counts, origins}, indices, block);
  Exchange &exchange = routed.get(blocks);
  exchange.origins = plan.getOrigins();
  exchange.send = plan.getCounts();
  exchange.recv = emit.allToAll(exchange.send, GridAxis::Ep, 0, 0,
                                uncharged(staticBytes(exchange.send)));
  return success();
}

Exchange *Exchanges::begin(const Emitter &emit, DispatchOp op, Layout layout) {
  Routed &entry = routed[op];
  if (failed(plan(emit, op, entry, layout)))
    return nullptr;
  return &entry.get(cutsRows(emit, layout));
}

const Exchange *Exchanges::get(const Emitter &emit, DispatchOp dispatch,
                               Layout layout) {
  Routed &entry = routed[dispatch];
  Exchange &exchange = entry.get(cutsRows(emit, layout));
  if (!exchange.send && failed(plan(emit, dispatch, entry, layout)))
    return nullptr;
  return &exchange;
}

Value Exchanges::getCounts(const Emitter &emit, DispatchOp dispatch,
                           Layout layout) {
  bool blocks = cutsRows(emit, layout);
  Routed &entry = routed[dispatch];
  Value &homes = entry.get(blocks).homes;
  if (homes)
    return homes;
  Value other = entry.get(!blocks).homes;
  homes = blocks ? emit.allSlice(other, 0)
                 : emit.allGather(other, 0,
                                  uncharged(staticBytes(other) * emit.tp()));
  return homes;
}
