//===- Descent.h - Multipliers that approach their best ---------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SELECTION_DESCENT_H
#define SHARDOPT_SOLVERS_SELECTION_DESCENT_H

#include "shardopt/Solvers/Selection/Incumbent.h"
#include "shardopt/Solvers/Selection/Multipliers.h"
#include "shardopt/Solvers/Selection/TreeReweighted.h"
#include "shardopt/Support/Rng.h"

namespace shardopt::solve {

/// Looks for multipliers. First the same price at all times is doubled until
/// what the messages choose fits; then each step passes messages there and back
/// and adapts the prices, at a rate that falls over the steps of the schedule.
/// The choices are solutions by themselves.
///
/// What prices are adapted to is what the choice uses, so that choices come to
/// fit, or, for the best bound, what is used in the mean where each node takes
/// its strategies the more often the less they cost above its best one: the
/// bound changes with the prices by that, less what there is, once messages
/// have settled, while choices that fit say little about it.
class Descent {
public:
  explicit Descent(const Network &network);
  /// Goes on from a descent of `old`, a network of the same graph before
  /// strategies and nodes were removed, with what of its prices and messages is
  /// still of use.
  Descent(const Network &network, const Descent &before, const Network &old);

  /// The number of steps after which the rate has come to its end.
  void setSchedule(int64_t steps) { numSteps = std::max<int64_t>(1, steps); }
  /// Whether the second half of the schedule looks for the best bound, not for
  /// solutions.
  void aimAtBound(bool does) { forBound = does; }
  /// One step; solutions go into `incumbent`. The schedule is taken to be done
  /// to the part of `hurry` at least, for searches that time ends.
  void step(Incumbent &incumbent, double hurry = 0);

  /// Perturbs the prices by factors of up to e^spread, and takes the schedule
  /// back to where a part of it is done.
  void restart(double part, double spread, Rng &rng);

  bool isDone() const { return started && done >= 1; }
  int64_t stepsDone() const { return steps; }
  uint64_t work() const { return visited; }
  /// Table entries that a step visits.
  uint64_t workOfStep() const;

  const Multipliers &multipliers() const { return prices; }
  const TreeReweighted &messages() const { return trees; }
  /// What each strategy costs above the best one of its node, memory and
  /// messages included.
  std::vector<double> rises() const { return trees.rises(pricedCosts()); }

private:
  double sweep(bool forward, Incumbent &incumbent);
  /// Of strategies, with what their memory costs.
  std::vector<double> pricedCosts() const;
  /// What is used at each time, in the mean where nodes take strategies as
  /// their costs with messages say; `bound` is about the cost of all nodes.
  /// `part` of the search for it is done.
  std::vector<double> meanUsage(double bound, double part) const;

  const Network &network;
  TreeReweighted trees;
  Multipliers prices;
  std::vector<double> unary;
  Assignment decoded;
  bool started = false, forBound = false;
  double firstPrice = 0x1p-20;
  int64_t steps = 0, numSteps = 1;
  double done = 0; ///< the part of the schedule
  uint64_t visited = 0;
};

} // namespace shardopt::solve

#endif // SHARDOPT_SOLVERS_SELECTION_DESCENT_H
