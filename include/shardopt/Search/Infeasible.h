//===- Infeasible.h - What binds, and what would fit ------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_INFEASIBLE_H
#define SHARDOPT_SEARCH_INFEASIBLE_H

#include "shardopt/Search/Driver.h"
#include "shardopt/Search/Objective.h"
#include "shardopt/Search/Simulator.h"
#include "shardopt/Search/StrategySpace.h"

#include <functional>
#include <optional>
#include <string>

namespace shardopt::search {

/// The limit that keeps a plan from being better, or from being at all.
struct BindingConstraint {
  Reason kind = Reason::None;
  /// GB (memory, activations) or ms (SLO) that are needed; else 0.
  double value = 0;
  double limit = 0; ///< GB or ms that are available; else 0
};

/// What binds an invalid strategy: the reason of its evaluation.
BindingConstraint bindingConstraint(const Evaluation &invalid,
                                    const Objective &objective);

/// One change to what was asked for.
struct Change {
  enum class Kind : uint8_t {
    Devices,     ///< more of them, the fewest that will do
    Slo,         ///< a longer latency, in ms
    Batch,       ///< a smaller batch than the list allows
    Activations, ///< more room for values between ops, in GB
  };
  Kind kind;
  double from; ///< what was asked for (of a batch list, its smallest)
  double to;   ///< what would do

  /// How much is changed: the factor between `from` and `to`, above 1.
  double factor() const { return to > from ? to / from : from / to; }
};

/// A plan that is feasible after one change.
struct NextFeasible {
  Change change;
  Plan plan;
};

/// `least`, above 0, rounded up to three significant digits: a limit to type.
double roundUpLimit(double least);

/// The best plan of `space` for `goal` under an SLO (ms; infinity for none),
/// by whatever search the caller prefers; none if nothing feasible was found.
using FeasibilityProbe = std::function<std::optional<Plan>(
    const StrategySpace &space, double sloMs, Goal goal)>;

/// For a request without a feasible plan: the smallest single change, by
/// its factor, after which something is, and the plan that it allows. Of equal
/// factors the SLO comes first, then the batch, then devices. None if no
/// single change helps. `sloMs` is the SLO asked for, infinity for none.
/// `stopRequested` is polled between probes; it may be empty, and what is found
/// after a stop is not the smallest change.
std::optional<NextFeasible>
findNextFeasible(const SpaceFacts &facts, const SpaceRequest &request,
                 double sloMs, Goal goal, const FeasibilityProbe &probe,
                 const std::function<bool()> &stopRequested = {});

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_INFEASIBLE_H
