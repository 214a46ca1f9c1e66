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
/// `stopRequested` is polled between tuples; it may be empty.
ExactResult findOptimum(const StrategySpace &space,
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
