//===- Dispatch.cpp - Exchange of tokens on their way to experts ----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/Ops/Dispatch.h"

#include "Exchange.h"

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::detail;

/// The layout in which rows are exchanged: `l` of the formulas.
static Layout exchangeLayout(Dim dim, Layout incoming, const Context &context) {
  Layout none = context.degrees.gathers() ? Layout::R : passThrough(incoming);
  return activationLayout(dim, none);
}

Span<const DimChoice> Dispatch::choices() const {
  static constexpr auto list = cuts("tokens", "hidden");
  return {list.data(), list.size()};
}

/// How a gather takes rows that come in `from` to exchange them in `layout`.
/// Rows that lie whole, or in T, go as they lie where all of every row goes.
static OperandRule gathered(const Placement &from, Layout layout,
                            const Context &context) {
  OperandRule rule;
  rule.rows = context.rows;
  rule.copy =
      layout == Layout::R ? OperandRule::Copy::Whole : OperandRule::Copy::None;
  Layout taken = layout;
  if (layout == Layout::R)
    taken = passThrough(from.layout);
  else if (from.layout == Layout::R &&
           (layout == Layout::T || context.grid.isQOutside()))
    taken = Layout::R;
  else if (layout == Layout::H && context.grid.isQOutside())
    taken = cutOverQ(Layout::H, context.grid);
  rule.required = placed(from, taken);
  return rule;
}

Rule Dispatch::rule(Dim dim, Span<const Placement> incoming,
                    const Context &context) const {
  Layout layout = exchangeLayout(dim, incoming[0].layout, context);
  const StageGrid &grid = context.grid;
  Rule rule;
  if (context.degrees.gathers()) {
    rule.operands = {gathered(incoming[0], layout, context)};
    rule.results = {{{layout, incoming[0].rowBytes, Axis::Etp}}};
    return rule;
  }
  Layout cut = cutOverQ(layout, grid);
  rule.operands = {
      {placed(incoming[0], grid.isQOutside() ? cut : layout), context.rows}};
  rule.results = {
      {{grid.isQOutside() ? layout : cut, incoming[0].rowBytes, Axis::Etp}}};
  return rule;
}

/// The collectives of a gather into `layout` of rows in `from`.
static void addGather(Layout layout, Layout from, double bytes,
                      const Context &context, OpCost &cost) {
  double x = context.ranks(Axis::Etp);
  bool isQOutside = context.grid.isQOutside();
  auto gather = [&](Axis axis, double bytes) {
    cost.collectives.push_back(
        {CollectiveKind::AllGather, axis, bytes, "exchange"});
  };
  if (layout == Layout::R) {
    gather(from == Layout::T ? Axis::Stage : Axis::Dp, bytes);
  } else if (from == Layout::R && isQOutside) {
    // Every replica has all of its rows: each device takes part of them.
    gather(Axis::Dp, bytes / x);
  } else {
    // Columns are cut finer inside than outside.
    if (layout == Layout::H && !isQOutside)
      cost.collectives.push_back(
          {CollectiveKind::AllToAll, Axis::Q,
           bytes / double(context.degrees.dp) * context.ranks(Axis::Q) / x,
           "columns"});
    gather(Axis::Ep, bytes / x);
  }
}

OpCost Dispatch::cost(Dim dim, Span<const Placement> incoming,
                      const Context &context) const {
  Layout layout = exchangeLayout(dim, incoming[0].layout, context);
  double rowBytes = double(hidden) * activationBytes;
  OpCost cost;
  if (context.degrees.gathers()) {
    double all = stageRows(context);
    cost.kernels = {expertsKernel(
        heldBytes(layout, all, rowBytes, context) +
        heldBytes(layout, context.routing.copies, rowBytes, context))};
    addGather(layout, incoming[0].layout, all * rowBytes, context, cost);
    return cost;
  }
  double k = double(topK);
  ExchangedBytes bytes = exchangedBytes(layout, k, rowBytes, context);
  cost.kernels = {expertsKernel(bytes.outside / k + bytes.inside)};
  cost.collectives = {{CollectiveKind::AllToAll, Axis::Ep,
                       bytes.outside * context.routing.imbalance, "exchange"}};
  return cost;
}
