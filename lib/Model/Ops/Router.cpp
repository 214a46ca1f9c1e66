//===- Router.cpp - Choice of the experts of a token ----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/Ops/Router.h"

#include "Detail.h"

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::detail;

/// Where the tokens are once the router has read them. Replicated tokens are
/// cut for dim 0 without a copy, and stay replicated.
static Layout tokensLayout(Dim dim, Layout incoming) {
  switch (dim) {
  case Dim::Zero:
    return incoming == Layout::R ? Layout::R : Layout::H;
  case Dim::One:
    return Layout::R;
  case Dim::None:
    return passThrough(incoming);
  }
  return Layout::R;
}

Span<const DimChoice> Router::choices() const {
  static constexpr auto list = cuts("hidden", "experts");
  return {list.data(), list.size()};
}

Rule Router::rule(Dim dim, Span<const Placement> incoming,
                  const Context &context) const {
  Layout in = incoming[0].layout;
  Rule rule;
  rule.operands = {{placed(incoming[0], weightOpInput(dim, in)), context.rows}};
  Placement choice = {dim == Dim::None ? passThrough(in) : Layout::R,
                      double(4 * topK)};
  rule.results = {
      {placed(incoming[0], tokensLayout(dim, in)), scalesTokens ? -1 : 0},
      {choice},
      {choice}};
  return rule;
}

OpCost Router::cost(Dim dim, Span<const Placement> incoming,
                    const Context &context) const {
  double rows = context.rows;
  double h = double(hidden), n = context.tp();
  double columns = double(experts);
  double wb = bytesPerWeight(weights);
  double logitBytes = rows * columns * 4;

  OpCost cost;
  switch (dim) {
  case Dim::Zero:
    cost.weightBytes = h * columns * wb / n;
    cost.kernels = {
        gemm(rows, h / n, columns, cost.weightBytes, weights, activationBytes)};
    cost.collectives = {
        {CollectiveKind::AllReduce, Axis::Tp, logitBytes, "logits"}};
    break;
  case Dim::One: {
    double local = double(ceilDiv(experts, context.degrees.tp));
    cost.weightBytes = h * local * wb;
    cost.kernels = {
        gemm(rows, h, local, cost.weightBytes, weights, activationBytes)};
    cost.collectives = {
        {CollectiveKind::AllGather, Axis::Tp, logitBytes, "logits"}};
    break;
  }
  case Dim::None:
    cost.weightBytes = h * columns * wb;
    cost.kernels = {
        gemm(context.localRows(passThrough(incoming[0].layout), rows), h,
             columns, cost.weightBytes, weights, activationBytes)};
    break;
  }
  if (scalesTokens) {
    Layout layout = tokensLayout(dim, incoming[0].layout);
    cost.kernels.push_back(memoryKernel(2 * context.localRows(layout, rows) *
                                        (layout == Layout::H ? h / n : h) *
                                        activationBytes));
  }
  return cost;
}
