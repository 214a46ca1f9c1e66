//===- Combine.cpp - Exchange of tokens on their way back -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/Ops/Combine.h"

#include "Exchange.h"

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::detail;

/// The layout in which results are exchanged: `l` of the formulas.
static Layout exchangeLayout(Dim dim, Layout incoming, const Context &context) {
  // Linear: a partial sum can be added up after the exchange.
  Layout none = incoming == Layout::H ? Layout::R : incoming;
  return activationLayout(dim, none);
}

/// What a gather takes `layout` for: rows of local experts are summed where
/// they are, so that over a group of one device they are a partial sum as well.
static Layout summedLayout(Layout layout, const Context &context) {
  return context.grid.etp() == 1 ? Layout::P : layout;
}

Span<const DimChoice> Combine::choices() const {
  static constexpr auto list = cuts("tokens", "hidden");
  return {list.data(), list.size()};
}

Rule Combine::rule(Dim dim, Span<const Placement> incoming,
                   const Context &context) const {
  const StageGrid &grid = context.grid;
  bool isGather = context.degrees.gathers();
  Layout from =
      isGather ? summedLayout(incoming[0].layout, context) : incoming[0].layout;
  Layout layout = exchangeLayout(dim, from, context);
  Layout cut = cutOverQ(layout, grid);
  Rule rule;
  // Outside, over tp.
  Placement left{grid.isQOutside() ? cut : layout, incoming[0].rowBytes,
                 Axis::Tp};
  OperandRule taken{placed(incoming[0], grid.isQOutside() ? layout : cut),
                    isGather ? stageRows(context) : context.routing.copies};
  if (isGather && from == Layout::P) {
    // It is reduced along with the exchange, if at all.
    taken.required.layout = incoming[0].layout;
    if (layout != Layout::H)
      left.layout = layout;
  }
  rule.operands = {taken};
  rule.results = {{left}};
  return rule;
}

/// The collectives of a reduce-scatter of what lies in `from` into `layout`.
static void addScatter(Layout layout, Layout from, double bytes,
                       const Context &context, OpCost &cost) {
  double x = context.ranks(Axis::Etp);
  auto scatter = [&](Axis axis, double bytes, const char *name) {
    cost.collectives.push_back(
        {CollectiveKind::ReduceScatter, axis, bytes, name});
  };
  if (layout == Layout::P) {
    scatter(Axis::Dp, bytes, "exchange");
  } else if (from == Layout::P && layout == Layout::T) {
    scatter(Axis::Stage, bytes, "exchange");
  } else if (from == Layout::P) {
    scatter(Axis::C, bytes, "columns");
    scatter(Axis::Outer, bytes / context.ranks(Axis::C), "exchange");
  } else {
    double parts = x;
    if (layout == Layout::R)
      parts = context.grid.isQOutside() ? 1 : context.ranks(Axis::Q);
    scatter(Axis::Ep, bytes / parts, "exchange");
  }
}

OpCost Combine::cost(Dim dim, Span<const Placement> incoming,
                     const Context &context) const {
  double rowBytes = double(hidden) * activationBytes;
  OpCost cost;
  if (context.degrees.gathers()) {
    Layout from = summedLayout(incoming[0].layout, context);
    double all = stageRows(context);
    cost.kernels = {expertsKernel(
        heldBytes(from, context.routing.copies, rowBytes, context) +
        heldBytes(from, all, rowBytes, context))};
    addScatter(exchangeLayout(dim, from, context), from, all * rowBytes,
               context, cost);
    return cost;
  }
  Layout layout = exchangeLayout(dim, incoming[0].layout, context);
  double k = double(topK);
  ExchangedBytes bytes = exchangedBytes(layout, k, rowBytes, context);
  cost.kernels = {
      expertsKernel(bytes.outside + bytes.outside / k + bytes.inside)};
  cost.collectives = {{CollectiveKind::AllToAll, Axis::Ep,
                       bytes.outside * context.routing.imbalance, "exchange"}};
  return cost;
}
