//===- OutProj.cpp - Projection of the heads to the hidden size -----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/Ops/OutProj.h"

#include "Detail.h"

#include "shardopt/Model/Heads.h"

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::detail;

Span<const DimChoice> OutProj::choices() const {
  static constexpr auto list = cuts("heads", "hidden");
  return {list.data(), list.size()};
}

Rule OutProj::rule(Dim dim, Span<const Placement> incoming,
                   const Context &context) const {
  Layout in = incoming[0].layout;
  Rule rule;
  rule.operands = {{placed(incoming[0], weightOpInput(dim, in)), context.rows}};
  rule.results = {
      {{weightOpResult(dim, in), double(hidden) * activationBytes}}};
  return rule;
}

OpCost OutProj::cost(Dim dim, Span<const Placement> incoming,
                     const Context &context) const {
  double rows = context.rows;
  double h = double(hidden), n = context.tp();
  double in = double(heads * headDim);
  double wb = bytesPerWeight(weights);

  OpCost cost;
  switch (dim) {
  case Dim::Zero: {
    double local = double(localHeads(heads, context.degrees.tp) * headDim);
    cost.weightBytes = local * h * wb;
    cost.kernels = {
        gemm(rows, local, h, cost.weightBytes, weights, activationBytes)};
    break;
  }
  case Dim::One:
    cost.weightBytes = in * h * wb / n;
    cost.kernels = {
        gemm(rows, in, h / n, cost.weightBytes, weights, activationBytes)};
    break;
  case Dim::None:
    cost.weightBytes = in * h * wb;
    cost.kernels = {
        gemm(context.localRows(passThrough(incoming[0].layout), rows), in, h,
             cost.weightBytes, weights, activationBytes)};
    break;
  }
  return cost;
}
