//===- GatedDeltaNet.cpp - Linear attention with a state ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Ops/GatedDeltaNet.h"

#include "Detail.h"

#include "shardopt/Cost/Heads.h"

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::detail;

Span<const DimChoice> GatedDeltaNet::choices() const {
  static constexpr DimChoice list[] = {{Dim::Zero, "heads"},
                                       {Dim::None, "none"}};
  return {list, 2};
}

Rule GatedDeltaNet::rule(Dim dim, Span<const Placement> incoming,
                         const Context &context) const {
  Rule rule;
  if (context.degrees.cp > 1)
    rule.illegal = "context parallelism cuts positions, and a state has none";
  else if (dim == Dim::One)
    rule.illegal = "sharding dim 1 is not one of a gated delta net";
  if (!rule.isLegal())
    return rule;
  const Layout layout = headsLayout(dim, incoming[0].layout, context);
  rule.operands = {
      {placed(incoming[0], layout), static_cast<double>(context.rows)}};
  rule.results = {
      {{layout, static_cast<double>(valueHeads * valueDim) * activationBytes}}};
  return rule;
}

namespace {

/// What a device has of the op.
struct Part {
  double sequences;
  double valueHeads;
  double channels; ///< of the convolution
  double state;    ///< elements of the states of a sequence
};

} // namespace

/// One step: the state is read, decayed, compared with the value, written and
/// asked: 7 operations an element.
static Kernel step(const GatedDeltaNet &op, const Part &part) {
  const double columns = part.channels + part.valueHeads * double(op.valueDim);
  Kernel kernel;
  kernel.kind = KernelKind::BatchedGemm;
  kernel.rows = part.sequences;
  kernel.k = double(op.keyDim);
  kernel.n = double(op.valueDim);
  kernel.count = part.valueHeads;
  kernel.flops = 7 * part.sequences * part.state;
  kernel.bytes = part.sequences * (2 * part.state * op.stateBytes +
                                   columns * op.activationBytes);
  return kernel;
}

/// Chunks of c tokens: a token of a head takes c of [c, c] by keys three times
/// (k k, q k and the keys of the rule) and by values twice, the inverse of a
/// triangle, and the state by keys, by queries and for the next one. A chunk's
/// state is written once and read once; the first is read, the last kept.
static Kernel chunks(const GatedDeltaNet &op, const Part &part, double prompt) {
  const double c = std::min(GatedDeltaNet::chunk, prompt);
  const double dk = double(op.keyDim), dv = double(op.valueDim);
  const double tokens = part.sequences * prompt;
  const double columns = part.channels + part.valueHeads * dv;
  Kernel kernel;
  kernel.kind = KernelKind::BatchedGemm;
  kernel.rows = tokens;
  kernel.k = dk;
  kernel.n = dv;
  kernel.count = part.valueHeads;
  kernel.flops = tokens * part.valueHeads *
                 (2 * c * (3 * dk + 2 * dv) + c * c + 6 * dk * dv);
  kernel.bytes = tokens * columns * op.activationBytes +
                 2 * tokens / c * part.state * op.activationBytes +
                 2 * part.sequences * part.state * op.stateBytes;
  return kernel;
}

OpCost GatedDeltaNet::cost(Dim dim, Span<const Placement> incoming,
                           const Context &context) const {
  const auto b = static_cast<double>(context.microBatch);
  const double prompt =
      context.isPrefill() ? static_cast<double>(context.workload.context) : 1;
  const double ofEach = double(valueHeads / heads);
  const Layout layout = headsLayout(dim, incoming[0].layout, context);
  const double groups = dim == Dim::Zero
                            ? double(localHeads(heads, context.degrees.tp))
                            : double(heads);

  Part part;
  part.sequences = context.localRows(layout, b);
  part.valueHeads = groups * ofEach;
  part.channels = groups * (2 * double(keyDim) + ofEach * double(valueDim));
  part.state = part.valueHeads * double(keyDim) * double(valueDim);

  OpCost cost;
  const double kept = part.channels * double(taps - 1) * convBytes;
  const double tokens = part.sequences * prompt;
  // Convolution, rule, gated norm.
  cost.kernels = {memoryKernel(2 * tokens * part.channels * activationBytes +
                               2 * part.sequences * kept),
                  context.isPrefill() ? chunks(*this, part, prompt)
                                      : step(*this, part),
                  memoryKernel(3 * tokens * part.valueHeads * double(valueDim) *
                               activationBytes)};
  cost.weightBytes = part.channels * double(taps) * activationBytes;
  const double held = layout == Layout::T
                          ? static_cast<double>(context.microBatches) *
                                context.localRows(Layout::T, b)
                          : static_cast<double>(context.groupBatch);
  cost.cacheBytes = held * (part.state * stateBytes + kept);
  return cost;
}
