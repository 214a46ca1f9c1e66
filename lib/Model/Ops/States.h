//===- States.h - What ops with a state share -------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_OPS_STATES_H
#define SHARDOPT_MODEL_OPS_STATES_H

#include "Detail.h"

#include "shardopt/Model/Ops/StateModel.h"

namespace shardopt::cost::detail {

/// What a device has of an op with a short convolution and a state.
struct StatePart {
  double sequences;
  double prompt;   ///< tokens of a sequence
  double heads;    ///< that have a state
  double columns;  ///< of the result
  double channels; ///< of the convolution
  double state;    ///< elements of the states of a sequence

  double tokens() const { return sequences * prompt; }
};

/// Dim 0 cuts heads, and there is no dim 1: `noSuchDim` says so.
inline Rule stateRule(Dim dim, Span<const Placement> incoming,
                      const Context &context, double rowBytes,
                      const char *noSuchDim) {
  Rule rule;
  if (context.degrees.cp > 1)
    rule.illegal = "context parallelism shards positions, and a state has none";
  else if (dim == Dim::One)
    rule.illegal = noSuchDim;
  if (!rule.isLegal())
    return rule;
  Layout layout = headsLayout(dim, incoming[0].layout, context);
  rule.operands = {{placed(incoming[0], layout), context.rows}};
  rule.results = {{{layout, rowBytes}}};
  return rule;
}

/// Sequences and tokens of a device, whose input is in `layout`.
inline StatePart statePart(Layout layout, const Context &context) {
  StatePart part = {};
  part.sequences = context.localRows(layout, context.sequences);
  part.prompt = context.isPrefill() ? double(context.workload.context) : 1;
  return part;
}

/// Convolution, `mixing`, which reads and writes the state, and gated norm.
inline OpCost stateCost(const StateModel &op, const StatePart &part,
                        const Kernel &mixing, Layout layout,
                        const Context &context) {
  OpCost cost;
  double kept = part.channels * double(op.taps - 1) * op.convBytes;
  cost.kernels = {
      memoryKernel(2 * part.tokens() * part.channels * op.activationBytes +
                   2 * part.sequences * kept),
      mixing,
      memoryKernel(3 * part.tokens() * part.columns * op.activationBytes)};
  cost.weightBytes = part.channels * double(op.taps) * op.activationBytes;
  double held = layout == Layout::T
                    ? double(context.microBatches) *
                          context.localRows(Layout::T, context.sequences)
                    : double(context.groupBatch);
  cost.cacheBytes = held * (part.state * op.stateBytes + kept);
  return cost;
}

} // namespace shardopt::cost::detail

#endif // SHARDOPT_MODEL_OPS_STATES_H
