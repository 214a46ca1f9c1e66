//===- Linear.cpp - A plain linear layer ----------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/Ops/Linear.h"

#include "Detail.h"

#include "shardopt/Model/Heads.h"

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::detail;

Span<const DimChoice> Linear::choices() const {
  static constexpr auto list = cuts("input", "columns");
  return {list.data(), list.size()};
}

Rule Linear::rule(Dim dim, Span<const Placement> incoming,
                  const Context &context) const {
  Layout from = incoming[0].layout;
  Rule rule;
  rule.operands = {
      {placed(incoming[0], weightOpInput(dim, from)), context.rows}};
  rule.results = {{{weightOpResult(dim, from), double(out) * activationBytes}}};
  return rule;
}

/// The share `share` of the columns that engines project apart, of `rows` rows
/// of `k` numbers.
static Pass passApart(const Linear &op, double rows, double k, double share) {
  double columns = double(op.apart) * share;
  return {Pass::Kind::Gate,
          2 * k * columns + op.activationBytes * rows * (k + columns)};
}

OpCost Linear::cost(Dim dim, Span<const Placement> incoming,
                    const Context &context) const {
  double rows = context.rows;
  double k = double(in), columns = double(out);
  double n = context.tp(), wb = bytesPerWeight(weights);
  Layout from = incoming[0].layout;

  OpCost cost;
  switch (dim) {
  case Dim::Zero:
    cost.weightBytes = k * columns * wb / n;
    cost.kernels = {
        gemm(rows, k / n, columns, cost.weightBytes, weights, activationBytes)};
    // Where whole rows arrive they are normalised before they are cut.
    if (innerNorm && (from == Layout::H || from == Layout::P))
      cost.collectives = {
          {CollectiveKind::AllReduce, Axis::Tp, rows * 4, "norm"}};
    break;
  case Dim::One: {
    double local = heads ? double(localHeads(heads, context.degrees.tp) *
                                      ((out - shared) / heads) +
                                  shared)
                         : columns / n;
    cost.weightBytes = k * local * wb;
    cost.kernels = {
        gemm(rows, k, local, cost.weightBytes, weights, activationBytes)};
    break;
  }
  case Dim::None:
    cost.weightBytes = k * columns * wb;
    cost.kernels = {gemm(context.localRows(passThrough(from), rows), k, columns,
                         cost.weightBytes, weights, activationBytes)};
    break;
  }
  cost.kernels[0].sharesRows = !innerNorm;
  if (apart > 0)
    cost.passes = {passApart(*this, cost.kernels[0].rows, cost.kernels[0].k,
                             cost.kernels[0].n / columns)};
  if (innerNorm)
    cost.passes = {{Pass::Kind::Norm, 2 * activationBytes * rows * k}};
  return cost;
}
