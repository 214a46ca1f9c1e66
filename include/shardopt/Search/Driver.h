//===- Driver.h - Run a searcher against a simulator ------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_DRIVER_H
#define SHARDOPT_SEARCH_DRIVER_H

#include "shardopt/Search/ExactSearch.h"
#include "shardopt/Search/Objective.h"
#include "shardopt/Search/Searcher.h"
#include "shardopt/Search/Simulator.h"

#include <cstdint>
#include <functional>
#include <optional>

namespace shardopt::search {

/// What is charged to the budget of a search.
enum class Accounting : uint8_t {
  Asked, ///< every strategy that is asked for: valid or not, repeated or not
  New,   ///< those that are neither repeated nor of infeasible degrees
  Draws, ///< every strategy that is asked for, and every rejected draw
};

/// "asked", "new", "draws".
const char *spell(Accounting accounting);

/// One evaluation, as a trace shows it. Counts are as of this evaluation, which
/// they include.
struct TraceEntry {
  uint64_t index; ///< from 0
  const Strategy &strategy;
  const Evaluation &evaluation;
  bool repeated;    ///< answered by the cache
  bool hopeless;    ///< of degrees that no dims make feasible
  uint64_t charged; ///< to the budget, so far
  /// Draws that the searcher rejected until it returned the strategies that
  /// were asked for together with this one.
  uint64_t rejected;
  const Evaluation *best; ///< the best valid one so far; null if none
};

struct DriverOptions {
  /// A hard cap on what `accounting` charges.
  uint64_t budget = 4000;
  Accounting accounting = Accounting::Asked;
  /// Whether degrees are known to be infeasible without an evaluation; empty
  /// where nothing is known. A pure function.
  std::function<bool(const Degrees &)> isHopeless = {};
  /// Threads that evaluate; no result depends on them.
  unsigned threads = 1;
  /// Strategies that the simulator evaluates at once, on as many threads: so
  /// many are asked for before the first of them is told. What the searcher
  /// proposes depends on it.
  unsigned workers = 1;
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
  uint64_t hopelessEvaluations = 0; ///< repeated or not, of infeasible degrees
  uint64_t rejected = 0;     ///< draws that the searcher discarded itself
  std::vector<Count> counts; ///< what else it counts
  uint64_t charged = 0;      ///< to the budget

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
/// stop is requested. Evaluations run behind a cache; the result is the same
/// for any number of threads. With several workers more is asked for while
/// something is pending; all is told in the order in which it was asked for, so
/// that the result is the same however long each evaluation takes.
///
/// Where only new evaluations are charged, the budget also counts as spent when
/// 25 times as many were asked for, so that a searcher that has collapsed to
/// what it knows ends. Where draws are charged, strategies are asked for one at
/// a time, and a strategy that the budget ends before is not evaluated.
SearchResult runSearch(Searcher &searcher, const Simulator &simulator,
                       const Objective &objective,
                       const DriverOptions &options);

/// Fills in `bound` and `proved` of a search whose searcher knew none, from
/// what exact search of the same space found: the distance of any searcher to
/// the true optimum.
void certify(SearchResult &result, const ExactResult &exact,
             const Objective &objective);

/// The same, of an exact search that is made where it is needed. Makes no
/// evaluation; does nothing for a black box.
void certify(SearchResult &result, const StrategySpace &space,
             const Simulator &simulator, const Objective &objective,
             const DriverOptions &options);

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_DRIVER_H
