//===- BatchSearch.h - Exact search over ranges of batches ------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_SEARCH_BATCHSEARCH_H
#define SHARDOPT_LIB_SEARCH_BATCHSEARCH_H

#include "shardopt/Search/ExactSearch.h"
#include "shardopt/Search/Simulator.h"
#include "shardopt/Search/StrategySpace.h"

#include <functional>
#include <optional>
#include <vector>

namespace shardopt::search {

/// The best plans of a space, as `findBestPlans` promises them.
struct BatchResult {
  std::vector<Plan> plans; ///< best first
  /// No strategy that is not solved has a better value; none: nothing more is
  /// feasible. Only of a search that was stopped.
  std::optional<double> open;
  bool isStopped = false;
  uint64_t solvedTuples = 0;
  BatchIntervals ranges; ///< that were left, and those that were solved
};

/// The optima over the dims of the `count` best degree tuples, without a look
/// at most of the batches: ranges of them are bounded, best bound first, and
/// those that may hold something better are halved, down to single batches,
/// which are solved. The answer does not depend on `threads`. The first ranges
/// are `known` where those are not empty.
BatchResult searchBatches(const StrategySpace &space,
                          const Decomposition &decomposition, Goal goal,
                          size_t count, unsigned threads,
                          const std::function<bool()> &stopRequested,
                          const BatchIntervals &known = {});

} // namespace shardopt::search

#endif // SHARDOPT_LIB_SEARCH_BATCHSEARCH_H
