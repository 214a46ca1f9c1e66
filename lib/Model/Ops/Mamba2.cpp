//===- Mamba2.cpp - A state space of heads in groups ----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/Ops/Mamba2.h"

#include "States.h"

#include "shardopt/Model/Heads.h"

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::detail;

Rule Mamba2::rule(Dim dim, Span<const Placement> incoming,
                  const Context &context) const {
  return stateRule(dim, incoming, context,
                   double(heads * headDim) * activationBytes,
                   "sharding dim 1 is not one of a state space");
}

/// One step: the state is read, decayed, written with x B and asked by C: 5
/// operations an element.
static Kernel stepOf(const Mamba2 &op, const StatePart &part) {
  Kernel kernel;
  kernel.kind = KernelKind::BatchedGemm;
  kernel.rows = part.sequences;
  kernel.k = double(op.stateDim);
  kernel.n = double(op.headDim);
  kernel.count = part.heads;
  kernel.flops = 5 * part.sequences * part.state;
  kernel.bytes =
      part.sequences * (2 * part.state * op.stateBytes +
                        (part.channels + part.columns) * op.activationBytes);
  return kernel;
}

/// Chunks of c tokens: a token takes c of C B once a group, the decays and c
/// values once a head, and a head's state for the next chunk and for what it is
/// asked. A chunk's state is written once and read once; the first is read, the
/// last kept.
static Kernel chunksOf(const Mamba2 &op, const StatePart &part, double groups) {
  double c = std::min(Mamba2::chunk, part.prompt);
  double n = double(op.stateDim), p = double(op.headDim);
  Kernel kernel;
  kernel.kind = KernelKind::BatchedGemm;
  kernel.rows = part.tokens();
  kernel.k = n;
  kernel.n = p;
  kernel.count = part.heads;
  kernel.flops = part.tokens() * (groups * 2 * c * n +
                                  part.heads * (c + 2 * c * p + 4 * n * p));
  kernel.bytes =
      part.tokens() * (part.channels + part.columns) * op.activationBytes +
      2 * part.tokens() / c * part.state * op.activationBytes +
      2 * part.sequences * part.state * op.stateBytes;
  return kernel;
}

OpCost Mamba2::cost(Dim dim, Span<const Placement> incoming,
                    const Context &context) const {
  Layout layout = headsLayout(dim, incoming[0].layout, context);
  bool cuts = dim == Dim::Zero, isOne = groups == 1;
  int64_t tp = cuts ? context.degrees.tp : 1;
  double own = isOne ? 1 : double(localHeads(groups, tp));

  StatePart part = statePart(layout, context);
  part.heads =
      isOne ? double(localHeads(heads, tp)) : own * double(heads / groups);
  part.columns = part.heads * double(headDim);
  part.channels = part.columns + 2 * own * double(stateDim);
  part.state = part.columns * double(stateDim);
  OpCost cost = stateCost(*this, part,
                          context.isPrefill() ? chunksOf(*this, part, own)
                                              : stepOf(*this, part),
                          layout, context);
  if (cuts && isOne && norms)
    cost.collectives = {
        {CollectiveKind::AllReduce, Axis::Tp, context.rows * 4, "norm"}};
  return cost;
}
