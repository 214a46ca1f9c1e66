//===- Team.h - Searches that share what they find --------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_SOLVERS_SELECTION_TEAM_H
#define SHARDOPT_LIB_SOLVERS_SELECTION_TEAM_H

#include "Worker.h"

namespace shardopt::solve {

/// The workers on one network. They share the best assignment between rounds,
/// so that what they find does not depend on threads.
///
/// The first worker spends about half of the time on the bound, and then, on
/// small networks, half of the rest on branch and bound. Each time that nothing
/// better was found for some rounds, another one starts anew from other prices,
/// without the best assignment; when its rounds alone are over, the better
/// parts of what it found go into that one.
class Team {
public:
  Team(const Graph &graph, const Network &network,
       const SolverOptions &options);
  /// The same after the graph was reduced further.
  Team(const Graph &graph, const Network &network, const Team &before);

  /// One round: each worker visits `budget` table entries.
  void run(uint64_t budget, const std::function<double()> &timeSpent);

  /// The cheapest assignment so far, if there is any.
  const Incumbent &best() const { return shared; }
  /// Whether the bound may still rise by messages.
  bool isDescending() const { return workers[0]->isDescending(); }
  Descent &descent() { return workers[0]->descent(); }
  /// What assignments cost at least, by branch and bound.
  std::optional<Int128> treeBound() const;
  /// Whether another round is of no use.
  bool isIdle() const;

private:
  void share();
  void cross(Worker &loner);
  void sharePrices();
  void endDescent();
  void restartOne();

  const Graph &graph;
  const Network &network;
  const SolverOptions &options;
  std::vector<std::unique_ptr<Worker>> workers;
  Incumbent shared;
  bool wasDescending = true;
  int64_t stale = 0; ///< rounds since the last that was much better,
  /// and what that one cost.
  double staleCost = std::numeric_limits<double>::infinity();
  int64_t patience;
  size_t nextRestart = 1;
};

} // namespace shardopt::solve

#endif // SHARDOPT_LIB_SOLVERS_SELECTION_TEAM_H
