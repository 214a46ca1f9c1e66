//===- OptimalDims.h - Exact optimisation of dims for fixed degrees -------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_DIMS_OPTIMALDIMS_H
#define SHARDOPT_SEARCH_DIMS_OPTIMALDIMS_H

#include "shardopt/Cost/Tables/Tables.h"
#include "shardopt/Support/Goal.h"

#include <limits>

namespace shardopt::cost {

/// All dims; those that an op lacks are illegal.
inline constexpr DimSet allDims = DimSet(-1);

/// Dims and what `evaluate` says of them.
struct Optimum {
  std::vector<Dim> dims;
  Evaluation evaluation;
};

/// What is known without solving.
struct DimsBound {
  /// Why nothing is feasible, or None.
  Reason infeasible = Reason::None;
  /// At least the throughput, or at most the latency (ms), of any choice of
  /// dims, but for rounding (1e-12 of itself).
  double value = 0;
  /// The least memory that any choice of dims needs on the fullest device;
  /// infinite if no dims are legal.
  double leastBytes = std::numeric_limits<double>::infinity();
};

/// Bounds the goal over all dims in `domains`, one set a variable.
DimsBound boundDims(const Tables &tables, Span<const DimSet> domains,
                    Goal goal);

/// The least that any choice of dims takes for values between ops at its
/// fullest moment; infinite if no dims are legal. The tables are of limited
/// ones.
double leastLiveBytes(const Tables &tables, Span<const DimSet> domains);

/// The best dims in `domains`, exactly: no valid choice is better, and of those
/// that `evaluate` finds equal it is the lexicographically smallest. None if
/// nothing is valid, or nothing is as good as `incumbent` (tokens/s per device,
/// or ms).
std::optional<Optimum> optimalDims(const Tables &tables,
                                   Span<const DimSet> domains, Goal goal,
                                   std::optional<double> incumbent = {});

} // namespace shardopt::cost

#endif // SHARDOPT_SEARCH_DIMS_OPTIMALDIMS_H
