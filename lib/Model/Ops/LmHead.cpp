//===- LmHead.cpp - Final norm, logits and greedy argmax ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/Ops/LmHead.h"

#include "Detail.h"

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::detail;

Span<const DimChoice> LmHead::choices() const {
  static constexpr auto list = cuts("hidden", "vocab");
  return {list.data(), list.size()};
}

Rule LmHead::rule(Dim dim, Span<const Placement> incoming,
                  const Context &context) const {
  Rule rule;
  rule.operands = {{placed(incoming[0], weightOpInput(dim, incoming[0].layout)),
                    context.sequences}};
  rule.results = {{{Layout::R, 4}}}; // a token id
  return rule;
}

OpCost LmHead::cost(Dim dim, Span<const Placement> incoming,
                    const Context &context) const {
  Layout layout = weightOpInput(dim, incoming[0].layout);
  double rows = context.sequences;
  double localRows = context.localRows(layout, rows);
  double h = double(hidden), n = context.tp();
  double columns = double(vocab);
  double bestBytes = rows * 8; // value and index of one rank's maximum

  OpCost cost;
  cost.weightBytes = columns * h * bytesPerWeight(weights);
  if (dim != Dim::None)
    cost.weightBytes /= n;

  double features = h, localColumns = columns;
  switch (dim) {
  case Dim::Zero:
    features = h / n;
    cost.collectives = {
        {CollectiveKind::AllReduce, Axis::Tp, rows * 4 * double(normSums),
         "norm"},
        {CollectiveKind::ReduceScatter, Axis::Tp,
         rows * columns * activationBytes, "logits"},
        {CollectiveKind::AllGather, Axis::Tp, bestBytes * n, "candidates"}};
    break;
  case Dim::One:
    localColumns = double(ceilDiv(vocab, context.degrees.tp));
    cost.collectives = {
        {CollectiveKind::AllGather, Axis::Tp, bestBytes * n, "candidates"}};
    break;
  case Dim::None:
    if (layout == Layout::T)
      cost.collectives = {
          {CollectiveKind::AllGather, Axis::Tp, bestBytes, "candidates"}};
    break;
  }
  cost.kernels = {memoryKernel(4 * localRows * features * activationBytes),
                  gemm(localRows, features, localColumns, cost.weightBytes,
                       weights, activationBytes)};
  return cost;
}
