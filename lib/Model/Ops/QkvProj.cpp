//===- QkvProj.cpp - Fused query, key and value projection ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/Ops/QkvProj.h"

#include "Detail.h"

#include "shardopt/Model/Heads.h"

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::detail;

Span<const DimChoice> QkvProj::choices() const {
  static constexpr auto list = cuts("hidden", "heads");
  return {list.data(), list.size()};
}

double QkvProj::columns(int64_t queryHeads, int64_t keyHeads) const {
  int64_t queries = gated ? 2 * queryHeads : queryHeads;
  return double((queries + 2 * keyHeads) * headDim);
}

Rule QkvProj::rule(Dim dim, Span<const Placement> incoming,
                   const Context &context) const {
  Layout in = incoming[0].layout;
  Rule rule;
  rule.operands = {{placed(incoming[0], weightOpInput(dim, in)), context.rows}};
  rule.results = {
      {{weightOpResult(dim, in), columns(heads, kvHeads) * activationBytes}}};
  return rule;
}

OpCost QkvProj::cost(Dim dim, Span<const Placement> incoming,
                     const Context &context) const {
  int64_t tp = context.degrees.tp;
  double rows = context.rows;
  double h = double(hidden), n = context.tp();
  double all = columns(heads, kvHeads);
  double wb = bytesPerWeight(weights);

  OpCost cost;
  switch (dim) {
  case Dim::Zero:
    cost.weightBytes = h * all * wb / n;
    cost.kernels = {
        gemm(rows, h / n, all, cost.weightBytes, weights, activationBytes)};
    break;
  case Dim::One: {
    double local =
        columns(localHeads(heads, tp), localKvHeads(heads, kvHeads, tp));
    cost.weightBytes = h * local * wb;
    cost.kernels = {
        gemm(rows, h, local, cost.weightBytes, weights, activationBytes)};
    break;
  }
  case Dim::None:
    cost.weightBytes = h * all * wb;
    cost.kernels = {
        gemm(context.localRows(passThrough(incoming[0].layout), rows), h, all,
             cost.weightBytes, weights, activationBytes)};
    break;
  }
  return cost;
}
