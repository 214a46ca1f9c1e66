//===- GatedDeltaNet.cpp - Linear attention with a state ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/Ops/GatedDeltaNet.h"

#include "States.h"

#include "shardopt/Model/Heads.h"

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::detail;

Rule GatedDeltaNet::rule(Dim dim, Span<const Placement> incoming,
                         const Context &context) const {
  return stateRule(dim, incoming, context,
                   double(valueHeads * valueDim) * activationBytes,
                   "sharding dim 1 is not one of a gated delta net");
}

/// One step: the state is read, decayed, compared with the value, written and
/// asked: 7 operations an element.
static Kernel step(const GatedDeltaNet &op, const StatePart &part) {
  double columns = part.channels + part.columns;
  Kernel kernel;
  kernel.kind = KernelKind::BatchedGemm;
  kernel.rows = part.sequences;
  kernel.k = double(op.keyDim);
  kernel.n = double(op.valueDim);
  kernel.count = part.heads;
  kernel.flops = 7 * part.sequences * part.state;
  kernel.bytes = part.sequences * (2 * part.state * op.stateBytes +
                                   columns * op.activationBytes);
  return kernel;
}

/// Chunks of c tokens: a token of a head takes c of [c, c] by keys three times
/// (k k, q k and the keys of the rule) and by values twice, the inverse of a
/// triangle, and the state by keys, by queries and for the next one. A chunk's
/// state is written once and read once; the first is read, the last kept.
static Kernel chunks(const GatedDeltaNet &op, const StatePart &part) {
  double c = std::min(GatedDeltaNet::chunk, part.prompt);
  double dk = double(op.keyDim), dv = double(op.valueDim);
  double tokens = part.tokens();
  double columns = part.channels + part.columns;
  Kernel kernel;
  kernel.kind = KernelKind::BatchedGemm;
  kernel.rows = tokens;
  kernel.k = dk;
  kernel.n = dv;
  kernel.count = part.heads;
  kernel.flops =
      tokens * part.heads * (2 * c * (3 * dk + 2 * dv) + c * c + 6 * dk * dv);
  kernel.bytes = tokens * columns * op.activationBytes +
                 2 * tokens / c * part.state * op.activationBytes +
                 2 * part.sequences * part.state * op.stateBytes;
  return kernel;
}

OpCost GatedDeltaNet::cost(Dim dim, Span<const Placement> incoming,
                           const Context &context) const {
  double ofEach = double(valueHeads / heads);
  Layout layout = headsLayout(dim, incoming[0].layout, context);
  double groups = dim == Dim::Zero
                      ? double(localHeads(heads, context.degrees.tp))
                      : double(heads);
  StatePart part = statePart(layout, context);
  part.heads = groups * ofEach;
  part.columns = part.heads * double(valueDim);
  part.channels = groups * (2 * double(keyDim) + ofEach * double(valueDim));
  part.state = part.columns * double(keyDim);
  return stateCost(*this, part,
                   context.isPrefill() ? chunks(*this, part)
                                       : step(*this, part),
                   layout, context);
}
