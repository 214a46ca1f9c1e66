//===- Planner.h - From a request to a plan ---------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_PLANNING_PLANNER_H
#define SHARDOPT_PLANNING_PLANNER_H

#include "shardopt/Planning/Plan.h"
#include "shardopt/Search/Driver.h"
#include "shardopt/Search/SearcherOptions.h"
#include "shardopt/Search/StrategySpace.h"
#include "shardopt/Support/Stop.h"

#include <functional>

namespace shardopt {

/// What to search, and how.
struct PlanRequest {
  search::SpaceRequest space;
  /// The engine that has to run the plan; none: it need not be one's.
  std::optional<Engine> engine;
  /// The share of the goal that a plan may lose which an engine runs, where the
  /// space has degrees of engines: the best such plan is taken in place of the
  /// optimum. 0: the optimum is taken.
  double runnableLoss = 0;
  search::Goal goal = search::Goal::Throughput;
  std::string searcher; ///< by name; empty: the best that applies
  search::SearcherOptions options;
  uint64_t seed = 0;
  /// Most evaluations; 0: 4000, or for Megatron's searchers, which try all
  /// degrees, as many as there are.
  uint64_t budget = 0;
  /// Which evaluations count.
  search::Accounting accounting = search::Accounting::Asked;
  unsigned threads = 1;
  const StopToken *stop = nullptr; ///< may be null
  /// A file that keeps the evaluations; a search whose file is there goes on
  /// from it. Empty: none.
  std::string checkpoint;
  /// Tells the program from others in a checkpoint: a fingerprint of it.
  std::string program;
  /// Told what goes wrong without ending the search, from any thread, one at a
  /// time; may be empty.
  std::function<void(const Error &)> warn;
  /// Told every evaluation, in order; may be empty.
  std::function<void(const search::TraceEntry &)> trace;
  /// Told the same, with the bound on the goal if there is one; may be empty.
  std::function<void(const search::TraceEntry &, std::optional<double> bound)>
      progress;
};

/// Runs the search, and what makes its report: the distance to the optimum and
/// to Megatron's plans, what binds, and if nothing is feasible, what would be.
/// A space that leaves one strategy is evaluated, not searched. An unknown
/// searcher, options that do not go with it, a checkpoint that cannot be used,
/// and a result that does not stand `verifyResult` are errors.
ErrorOr<PlanSummary> makePlan(std::shared_ptr<const Scenario> scenario,
                              const PlanRequest &request);

} // namespace shardopt

#endif // SHARDOPT_PLANNING_PLANNER_H
