//===- Exchange.cpp - Exchange of token copies between dispatch and combine
//-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/Transforms/Partition/Partitioner.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;
using cost::Axis;
using cost::Layout;

/// Bytes of a tensor of static shape.
static double staticBytes(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getNumElements() * type.getElementTypeBitWidth() / 8.0;
}

bool Partitioner::exchangesNothing() const {
  return tp() == 1 && getSize(Axis::Ep) == 1;
}

bool Partitioner::cutsRows(Layout layout) const {
  return layout == Layout::T && tp() > 1;
}

//===----------------------------------------------------------------------===//
// Indices and weights of the router
//===----------------------------------------------------------------------===//

void Partitioner::defineRouting(Value global, Value local, Layout layout) {
  if (cutsRows(layout)) {
    auto type = cast<RankedTensorType>(local.getType());
    double bytes = tokens.cost * type.getDimSize(1) * 4;
    local = trimRows(allGather(local, 0, bytes, Charge::Free), &tokens);
  }
  routing[global] = {local, {}};
}

Value Partitioner::getRouting(Value global, Layout layout, int fill) {
  RoutingCopies &copies = routing[global];
  if (!copies.complete)
    copies.complete = getPlain(global);
  if (!cutsRows(layout))
    return copies.complete;
  if (!copies.block)
    copies.block = allSlice(padRows(copies.complete, &tokens, fill), 0);
  return copies.block;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// Which copies go where, and how many come from where. Rows of padding have
/// expert -1 and are not sent.
void Partitioner::planExchange(Routed &routed, Layout layout) {
  Exchange &exchange = routed.get(cutsRows(layout));
  Value indices = getRouting(routed.dispatch.getIndices(), layout, -1);
  int64_t groups = getSize(Axis::Ep);
  int64_t homes = cutsRows(layout) ? 1 : tp();
  int64_t local = cost::ceilDiv(routed.dispatch.getExperts(), groups);
  Type i32 = builder.getI32Type();
  auto counts = RankedTensorType::get({groups, homes, local}, i32);
  auto origins = RankedTensorType::get({ShapedType::kDynamic}, i32);
  Value block = tokens.block ? tokens.block : getIndex(1);
  auto plan =
      create<ExchangePlanOp>(TypeRange{counts, origins}, indices, block);
  exchange.origins = plan.getOrigins();
  exchange.send = plan.getCounts();
  exchange.recv = allToAll(exchange.send, Axis::Ep, 0, 0,
                           staticBytes(exchange.send), Charge::Free);
}

Exchange &Partitioner::beginExchange(DispatchOp op, Layout layout) {
  Routed &entry = routed[op.getCounts()];
  entry.dispatch = op;
  planExchange(entry, layout);
  return entry.get(cutsRows(layout));
}

const Exchange &Partitioner::getExchange(Value counts, Layout layout) {
  Routed &entry = routed[counts];
  assert(entry.dispatch && "a dispatch begins an exchange");
  Exchange &exchange = entry.get(cutsRows(layout));
  if (!exchange.send)
    planExchange(entry, layout);
  return exchange;
}

Value Partitioner::getCounts(Value counts, Layout layout) {
  auto it = routed.find(counts);
  if (it == routed.end())
    return getPlain(counts);
  bool blocks = cutsRows(layout);
  Value &homes = it->second.get(blocks).homes;
  if (homes)
    return homes;
  Value other = it->second.get(!blocks).homes;
  homes = blocks ? allSlice(other, 0)
                 : allGather(other, 0, staticBytes(other) * tp(), Charge::Free);
  return homes;
}
