//===- Norm.cpp - Norms, alone or after a residual add --------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/Ops/Norm.h"

#include "Detail.h"

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::detail;

Span<const DimChoice> Norm::choices() const {
  static constexpr auto list = cuts("tokens", "hidden");
  return {list.data(), list.size()};
}

Rule Norm::rule(Dim dim, Span<const Placement> incoming,
                const Context &context) const {
  Layout anchor = activationLayout(dim, Layout::R);
  Rule rule;
  for (const Placement &operand : incoming) {
    Placement taken = placed(operand, anchor);
    rule.operands.push_back({taken, context.rows});
    rule.results.push_back({taken});
  }
  return rule;
}

OpCost Norm::cost(Dim dim, Span<const Placement> incoming,
                  const Context &context) const {
  Layout anchor = activationLayout(dim, Layout::R);
  double rows = context.rows;
  OpCost cost;
  // Two reads and two writes: the operand or residual, and the norm.
  double features = double(hidden);
  if (anchor == Layout::H)
    features /= context.tp();
  cost.kernels = {memoryKernel(4 * context.localRows(anchor, rows) * features *
                               activationBytes)};
  if (anchor == Layout::H)
    cost.collectives = {
        {CollectiveKind::AllReduce, Axis::Tp, rows * 4 * double(sums), "norm"}};
  return cost;
}
