//===- Combine.cpp - Exchange of tokens on their way back -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Ops/Combine.h"

#include "Detail.h"

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::detail;

static Layout exchangeLayout(Dim dim, Layout incoming) {
  // Linear: a partial sum can be added up after the exchange.
  const Layout none = incoming == Layout::H ? Layout::R : incoming;
  return activationLayout(dim, none);
}

Span<const DimChoice> Combine::choices() const {
  static constexpr auto list = cuts("tokens", "hidden");
  return {list.data(), list.size()};
}

Rule Combine::rule(Dim dim, Span<const Placement> incoming,
                   const Context &context) const {
  const Placement taken =
      placed(incoming[0], exchangeLayout(dim, incoming[0].layout));
  Rule rule;
  rule.operands = {{taken, context.routing.copies}};
  rule.results = {{taken}};
  return rule;
}

OpCost Combine::cost(Dim dim, Span<const Placement> incoming,
                     const Context &context) const {
  const Layout layout = exchangeLayout(dim, incoming[0].layout);
  const double k = static_cast<double>(topK);
  const double rowBytes = static_cast<double>(hidden) * activationBytes *
                          featureShare(layout, context);
  const double received =
      context.localRows(layout, static_cast<double>(context.rows)) * k *
      rowBytes;
  const double sent =
      context.localRows(layout, context.routing.copies) * rowBytes;

  OpCost cost;
  cost.kernels = {memoryKernel(received + received / k + sent)};
  cost.collectives = {{CollectiveKind::AllToAll, GridAxis::Ep,
                       received * context.routing.imbalance, "exchange"}};
  return cost;
}
