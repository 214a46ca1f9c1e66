//===- Simulator.h - Oracles from strategies to metrics ---------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_SIMULATOR_H
#define SHARDOPT_SEARCH_SIMULATOR_H

#include "shardopt/Model/Strategy.h"
#include "shardopt/Search/Objective.h"
#include "shardopt/Search/StrategySpace.h"

#include <optional>
#include <vector>

namespace shardopt::search {

/// A strategy and what a simulator says of it.
struct Plan {
  Strategy strategy;
  Evaluation evaluation;
};

/// What is known of all strategies of given degrees without solving them.
struct DegreeBound {
  /// None, or why no choice of dims is feasible.
  Reason infeasible = Reason::None;
  /// No strategy of these degrees has a better value of the goal: at least its
  /// throughput, or at most its latency. Rounding may make it worse than that
  /// by 1e-12 of itself. Meaningless if infeasible.
  double bound = 0;
};

/// What exact search needs of a simulator that can be opened: for fixed
/// degrees, a bound and an optimum over all dims. Both functions may be called
/// from several threads at once and depend on nothing but their arguments.
class Decomposition {
public:
  virtual ~Decomposition();

  /// Bounds the goal over the dims in `domains`; cheap compared with `solve`.
  virtual DegreeBound bound(const Degrees &degrees, const DimDomains &domains,
                            Goal goal) const = 0;

  /// Bounds the goal over the dims in `domains` and all batches from that of
  /// `least` to `most`; the throughput of each is at most the bound, and
  /// nothing is feasible with a larger one that is not with a smaller one.
  /// `isQuick` asks for less work, and may be looser. None: batches are bounded
  /// one by one.
  virtual std::optional<DegreeBound>
  boundBatches(const Degrees &least, int64_t most, const DimDomains &domains,
               Goal goal, bool isQuick) const {
    return std::nullopt;
  }

  /// The optimum over the dims in `domains`, the lexicographically smallest of
  /// several, with the evaluation that the simulator would give; none if
  /// nothing is feasible, or if nothing feasible has a value of the goal as
  /// good as `incumbent` (an equal one is as good).
  virtual std::optional<Plan> solve(const Degrees &degrees,
                                    const DimDomains &domains, Goal goal,
                                    std::optional<double> incumbent) const = 0;

  /// Where some `solve` so far could not prove what it returned, which is then
  /// the best that was found: no dims of such degrees are better than this
  /// value of the goal.
  virtual std::optional<double> missedBound(Goal goal) const {
    return std::nullopt;
  }
};

/// `evaluation`, or a failed one in its place if a metric is not finite or less
/// than 0: what arithmetic on logarithms cannot stand.
Evaluation withFiniteMetrics(const Evaluation &evaluation);

/// Any simulator, from a strategy to its metrics, which are finite. `evaluate`
/// is pure and may be called from several threads at once; a strategy has one
/// dim for every op.
class Simulator {
public:
  virtual ~Simulator();

  virtual Evaluation evaluate(const Strategy &strategy) const = 0;

  /// The simulator's inside, of the same lifetime; null for a black box.
  virtual const Decomposition *decomposition() const { return nullptr; }
};

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_SIMULATOR_H
