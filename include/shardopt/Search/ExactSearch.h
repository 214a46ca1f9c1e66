//===- ExactSearch.h - The optimum of a decomposable simulator --*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_EXACTSEARCH_H
#define SHARDOPT_SEARCH_EXACTSEARCH_H

#include "shardopt/Search/Simulator.h"
#include "shardopt/Search/StrategySpace.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace shardopt::search {

/// The batches [first, last] of a combination of the other degrees, by number
/// as a space has them.
struct BatchInterval {
  uint32_t grid = 0, first = 0, last = 0;
  double bound = 0; ///< no strategy in it has a better value of the goal
};

/// Ranges that together hold all that is feasible in a space; empty where
/// nothing is known.
using BatchIntervals = std::vector<BatchInterval>;

/// What exact search found.
struct ExactResult {
  /// The optimum, or the best so far if stopped; none if nothing is feasible.
  std::optional<Plan> best;
  /// No strategy has a better value of the goal; none if nothing is feasible,
  /// or if the search was stopped before anything was known.
  std::optional<double> bound;
  /// Every other strategy is known to be no better.
  bool proved = false;
  uint64_t degreeTuples = 0; ///< in the space
  uint64_t solvedTuples = 0; ///< those whose dims had to be optimised
};

/// The optimum of the space: degree tuples in the order of their bounds, the
/// dims of each solved exactly as long as its bound is not worse than the best
/// found. Among equal optima the smallest degrees win, then the smallest dims,
/// so that the answer does not depend on `threads`. No simulator call is made.
/// `stopRequested` is polled between tuples; it may be empty. Where batches
/// were bounded in ranges, and the search was not stopped, `left` gets these
/// ranges.
ExactResult findOptimum(const StrategySpace &space,
                        const Decomposition &decomposition, Goal goal,
                        unsigned threads = 1,
                        const std::function<bool()> &stopRequested = {},
                        BatchIntervals *left = nullptr);

/// The same of `space` with less in it than a search had that left `ranges`:
/// the dims are others of the same, or `decomposition` refuses more. What the
/// first search bounded is bounded again only where it may hold the optimum.
ExactResult findOptimumWithin(const BatchIntervals &ranges,
                              const StrategySpace &space,
                              const Decomposition &decomposition, Goal goal,
                              unsigned threads = 1,
                              const std::function<bool()> &stopRequested = {});

/// The optima over the dims of the `count` best degree tuples, best first; of
/// equals the smaller degrees first, so that the answer does not depend on
/// `threads`. Fewer where fewer are feasible, or if stopped. No simulator call
/// is made.
std::vector<Plan>
findBestPlans(const StrategySpace &space, const Decomposition &decomposition,
              Goal goal, size_t count, unsigned threads = 1,
              const std::function<bool()> &stopRequested = {});

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_EXACTSEARCH_H
