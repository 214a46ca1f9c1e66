//===- Embedding.cpp - Token embedding ------------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/Ops/Embedding.h"

#include "Detail.h"

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::detail;

static Layout resultLayout(Dim dim) {
  switch (dim) {
  case Dim::Zero:
    return Layout::P;
  case Dim::One:
    return Layout::H;
  case Dim::None:
    return Layout::R;
  }
  return Layout::R;
}

Span<const DimChoice> Embedding::choices() const {
  static constexpr auto list = cuts("vocab", "hidden");
  return {list.data(), list.size()};
}

Rule Embedding::rule(Dim dim, Span<const Placement> incoming,
                     const Context &context) const {
  Rule rule;
  rule.results = {{{resultLayout(dim), double(hidden) * activationBytes}}};
  return rule;
}

OpCost Embedding::cost(Dim dim, Span<const Placement> incoming,
                       const Context &context) const {
  double h = double(hidden);
  OpCost cost;
  double bytes = 2 * context.rows * h * activationBytes;
  if (dim == Dim::One)
    bytes /= context.tp();
  cost.kernels = {memoryKernel(bytes)};
  cost.weightBytes = double(vocab) * h * bytesPerWeight(weights);
  if (dim != Dim::None)
    cost.weightBytes /= context.tp();
  return cost;
}
