//===- Plan.h - A plan and what there is to say of it -----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_PLANNING_PLAN_H
#define SHARDOPT_PLANNING_PLAN_H

#include "shardopt/Planning/Engines.h"
#include "shardopt/Planning/Scenario.h"
#include "shardopt/Search/Driver.h"
#include "shardopt/Search/Infeasible.h"
#include "shardopt/Support/Suggest.h"

#include <array>
#include <optional>
#include <string>

namespace shardopt {

/// Megatron's dims (`search::MegatronVariant`, in its order), each with its own
/// best degrees; none where nothing is feasible, or for a black box.
using Baselines = std::array<std::optional<search::Plan>, 3>;

/// The limit that binds, and what takes most of it.
struct Binding {
  search::BindingConstraint constraint;
  /// Memory: "weights" or "kv_cache"; SLO: "compute", "memory" or "collective"
  /// time; whichever is largest. Structural: "devices", "stages", "experts",
  /// "dims", or "request" if that leaves no strategy. Nothing binds: "batch" if
  /// no larger one is allowed. Else, and where a black box knows, empty.
  std::string part;
  /// With "dims": the op that no dim is legal for at the degrees, and why.
  /// Empty where every op has one, and they do not go together.
  std::string why;
  /// The batch at which it binds, where that is not the plan's own.
  std::optional<int64_t> batch;
};

/// All that reports tell.
struct PlanSummary {
  explicit PlanSummary(std::shared_ptr<const Scenario> scenario)
      : scenario(std::move(scenario)) {}

  std::shared_ptr<const Scenario> scenario;
  search::Goal goal = search::Goal::Throughput;

  /// The strategy that was found, or that was there already; none if nothing is
  /// feasible. Only one that was there already may be invalid.
  std::optional<search::Plan> plan;
  std::string planName = "optimum"; ///< heading of its column
  /// The optimum, where a plan that an engine runs is taken in its place.
  std::optional<search::Plan> free;

  std::string searcher; ///< empty: nothing was searched
  uint64_t seed = 0;
  search::Accounting accounting = search::Accounting::Asked;
  search::SearchResult search;
  /// Why the simulator could not go on and ended the search; none: it did.
  std::optional<Error> breakdown;
  uint64_t resumedEvaluations = 0; ///< that a checkpoint had
  double wallSeconds = 0;

  /// Why there is no strategy to look at: pins, lists and the number of devices
  /// contradict each other. None: there are some.
  std::optional<Error> emptySpace;

  Baselines baselines;
  /// The best plan of each engine, by `Engine`; none where it has none, or
  /// where they were not looked for.
  std::array<std::optional<search::Plan>, std::size(allEngines)> enginePlans;
  /// Whether reports say which engines run the plan: where degrees of engines
  /// are open, or the plan has others than every strategy has.
  bool tellsEngines = false;
  /// Among which batches the search was, in words; empty: those that are
  /// listed.
  std::string batches;

  Binding binding;
  std::optional<search::NextFeasible> nextFeasible;
};

/// The report as JSON, schema 1 (docs/Search.md), with a line break at its end.
std::string reportJson(const PlanSummary &summary);

/// The same for people, a table. The same summary gives the same text: it tells
/// no wall time.
std::string planTable(const PlanSummary &summary);

/// What binds an invalid `plan`, and what takes most of it.
Binding explainInvalid(const Scenario &scenario, const search::Plan &plan);

/// "memory: batch 1024 would need 105.3 GB of 72 GB a device, most of it kv
/// cache"; empty if nothing is known to bind.
std::string describe(const Binding &binding, const Scenario &scenario);

/// The share of the goal that `plan` loses of `optimum`.
double lossOf(const Evaluation &plan, const Evaluation &optimum,
              search::Goal goal);

/// Why `summary` has no plan, and what would give one; none if it has one.
std::optional<Error> failureOf(const PlanSummary &summary);

/// "max-devices=128 instead of 64".
std::string describe(const search::Change &change, const Scenario &scenario);

} // namespace shardopt

#endif // SHARDOPT_PLANNING_PLAN_H
