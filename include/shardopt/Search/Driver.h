//===- Driver.h - Run a searcher against a simulator ------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_DRIVER_H
#define SHARDOPT_SEARCH_DRIVER_H

#include "shardopt/Search/Objective.h"
#include "shardopt/Search/Searcher.h"
#include "shardopt/Search/Simulator.h"

#include <cstdint>
#include <functional>
#include <optional>

namespace shardopt::search {

/// One evaluation, as a trace shows it.
struct TraceEntry {
  uint64_t index; ///< from 0
  const Strategy &strategy;
  const Evaluation &evaluation;
  bool repeated;          ///< answered by the cache
  const Evaluation *best; ///< the best valid one so far; null if none
};

struct DriverOptions {
  /// Evaluations, a hard cap: valid or not, repeated or not.
  uint64_t budget = 4000;
  unsigned threads = 1;
  /// Polled between evaluations; may be empty.
  std::function<bool()> stopRequested = {};
  /// Called once an evaluation, in order, on the caller's thread; may be empty.
  std::function<void(const TraceEntry &)> trace = {};
};

/// Why a search ended.
enum class StopReason : uint8_t {
  Done,      ///< the searcher has no more to propose
  Budget,    ///< all evaluations are spent
  Requested, ///< the stop request
};

/// "done", "budget", "requested".
const char *spell(StopReason reason);

/// What a search found.
struct SearchResult {
  /// The best valid strategy, the first found of equals; none if there is none.
  std::optional<Plan> best;
  /// Where nothing was valid, the strategy that exceeds the limits least.
  std::optional<Plan> leastViolating;

  uint64_t evaluations = 0;         ///< strategies that the searcher asked for
  uint64_t distinctEvaluations = 0; ///< of these, different ones
  uint64_t rejected = 0; ///< draws that the searcher discarded itself

  /// The best is the optimum; or, without one, nothing is feasible.
  bool proved = false;
  /// No strategy has a better value of the goal, in its unit; none if unknown.
  std::optional<double> bound;
  StopReason stopped = StopReason::Done;
};

/// bound/best - 1, best and bound in the unit of the goal: at least 0 for
/// throughput and at most 0 for latency, up to rounding; none without both.
std::optional<double> gap(const SearchResult &result,
                          const Objective &objective);

/// Asks, evaluates, tells until the searcher is done, the budget is spent or a
/// stop is requested. Evaluations run on `threads` threads behind a cache; the
/// result is the same for any number of them.
SearchResult runSearch(Searcher &searcher, const Simulator &simulator,
                       const Objective &objective,
                       const DriverOptions &options);

/// Fills in `bound` and `proved` of a search whose searcher knew none, by exact
/// search of the same space: the distance of any searcher to the true optimum.
/// Makes no evaluation; does nothing for a black box.
void certify(SearchResult &result, const StrategySpace &space,
             const Simulator &simulator, const Objective &objective,
             const DriverOptions &options);

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_DRIVER_H
