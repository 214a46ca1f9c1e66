//===- Detail.h - What the rules of several ops share -----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_OPS_DETAIL_H
#define SHARDOPT_MODEL_OPS_DETAIL_H

#include "shardopt/Model/OpModel.h"

#include <array>

namespace shardopt::cost::detail {

/// The choices of an op whose dims 0 and 1 cut what the names say.
constexpr std::array<DimChoice, 3> cuts(const char *zero, const char *one) {
  return {{{Dim::Zero, zero}, {Dim::One, one}, {Dim::None, "none"}}};
}

/// The layout in which an op with a weight [in, out] takes its operand: cut
/// features for dim 0 (it contracts over them) and both, whole rows for dim 1;
/// none takes rows as they are cut.
inline Layout weightOpInput(Dim dim, Layout incoming) {
  if (dim == dimBoth)
    return Layout::H;
  switch (dim) {
  case Dim::Zero:
    return Layout::H;
  case Dim::One:
    return Layout::R;
  case Dim::None:
    return passThrough(incoming);
  }
  return Layout::R;
}

/// The layout in which such an op leaves its result.
inline Layout weightOpResult(Dim dim, Layout incoming) {
  if (dim == dimBoth)
    return Layout::H;
  switch (dim) {
  case Dim::Zero:
    return Layout::P;
  case Dim::One:
    return Layout::H;
  case Dim::None:
    return passThrough(incoming);
  }
  return Layout::R;
}

/// The layout that an op of activations has for dim 0 and dim 1; `none` for
/// dim none.
inline Layout activationLayout(Dim dim, Layout none) {
  switch (dim) {
  case Dim::Zero:
    return Layout::T;
  case Dim::One:
    return Layout::H;
  case Dim::None:
    return none;
  }
  return none;
}

/// `incoming` in another layout, with its own row.
inline Placement placed(const Placement &incoming, Layout layout) {
  return {layout, incoming.rowBytes, incoming.over};
}

/// Whether dim none of attention cuts the positions of prompts over tp, whose
/// ranks share the context. Each has the queries of its own, heads whole, and
/// gathers the keys of all.
inline bool cutsPositions(const Context &context) {
  return context.isPrefill() && context.degrees.cp > 1 &&
         context.degrees.cp == context.degrees.tp;
}

/// What dim none of attention makes of `incoming`: sequences stay cut where
/// tokens are. A block of tokens of prompts must be whole prompts, unless
/// positions are cut.
inline Layout sequenceLayout(Layout incoming, const Context &context) {
  if (cutsPositions(context))
    return Layout::T;
  return incoming == Layout::T && context.wholeSequences ? Layout::T
                                                         : Layout::R;
}

/// What an op that caches makes of `incoming`, sharded on heads in any dim but
/// none.
inline Layout headsLayout(Dim dim, Layout incoming, const Context &context) {
  return dim == Dim::None ? sequenceLayout(incoming, context) : Layout::H;
}

/// Why an op that caches cannot have `dim` with the degrees, or null.
inline const char *whyNotCutByHeads(Dim dim, const Context &context) {
  if (context.degrees.cp == 1 || dim == Dim::Zero ||
      (dim == Dim::None && cutsPositions(context)))
    return nullptr;
  return context.isPrefill()
             ? "context parallelism needs sharded heads, sharding dim 0, or "
               "sharded positions, sharding dim none with cp = tp"
             : "context parallelism needs sharded heads, sharding dim 0";
}

/// The sum, weighted by log-sum-exps, of what the cp ranks that share a
/// sequence made of its positions: `width` features for each of `localHeads`
/// heads of `sequences` sequences. An all-to-all over heads, and a kernel.
inline void addMerge(double sequences, double localHeads, double width,
                     double activationBytes, const Context &context,
                     OpCost &cost) {
  auto cp = double(context.degrees.cp);
  double rowBytes = width * activationBytes;
  cost.collectives.push_back({CollectiveKind::AllToAll, Axis::Cp,
                              sequences * cp * localHeads * (rowBytes + 4),
                              "merge"});
  cost.kernels.push_back(
      memoryKernel(sequences * localHeads * ((cp + 1) * rowBytes + 4 * cp)));
}

/// Pairs of tokens of one prompt: the later one attends to the earlier one.
inline double causalPairs(const Context &context) {
  auto prompt = double(context.workload.context);
  auto length = double(context.attendedLength());
  return prompt * length - length * length / 2;
}

} // namespace shardopt::cost::detail

#endif // SHARDOPT_MODEL_OPS_DETAIL_H
