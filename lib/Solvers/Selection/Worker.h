//===- Worker.h - One of the searches that run in parallel ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_SOLVERS_SELECTION_WORKER_H
#define SHARDOPT_LIB_SOLVERS_SELECTION_WORKER_H

#include "shardopt/Solvers/Selection/Descent.h"
#include "shardopt/Solvers/Selection/LargeNeighbourhood.h"
#include "shardopt/Solvers/Selection/OtherMethod.h"
#include "shardopt/Solvers/Selection/TreeSearch.h"

#include <functional>

namespace shardopt::solve {

struct SolverOptions;

/// A descent, and then regions of the best assignment, at the prices that the
/// descent found.
class Worker {
public:
  Worker(const Network &network, const SolverOptions &options, int number);
  /// Goes on on a network of the same graph after it was reduced further, from
  /// the incumbent that the caller gives it.
  Worker(const Network &network, const Worker &before, const Network &old);

  /// Works until `budget` table entries were visited, or `timeSpent()`, the
  /// part of the time limit that is over, is 1.
  void run(uint64_t budget, const std::function<double()> &timeSpent);

  Incumbent &incumbent() { return regions.incumbent(); }
  Descent &descent() { return prices; }
  bool isDescending() const { return !other && !prices.isDone(); }
  /// Whether another method runs, which goes on until it is stopped.
  bool hasOther() const { return other != nullptr; }
  /// What memory costs in regions, and what strategies cost above the best
  /// one of their node, as a descent has them.
  void setPrices(std::vector<double> strategyPrices,
                 std::vector<double> rises) {
    regions.setPrices(std::move(strategyPrices));
    regions.setRises(std::move(rises));
    hasPrices = true;
  }

  /// Forgets the incumbent, and descends from other prices. It is alone, that
  /// is, to be given no better one, for as many rounds.
  void restart(int64_t roundsAlone);
  bool isAlone() const { return alone > 0; }
  /// Takes the better parts of another assignment into the incumbent.
  void fuse(const Incumbent &other) { regions.fuse(other); }
  /// Goes on looking for such parts, among others.
  void addPartner(const Assignment &partner) { regions.addPartner(partner); }
  /// To be called once a round. Whether it is alone no longer from now on.
  bool endRound();

  /// Spends half of its work on a tree search from now on, until it is done.
  void plantTree(const Graph &graph);
  const TreeSearch *tree() const { return search.get(); }

private:
  const Network &network;
  const SolverOptions &options;
  int number;
  Descent prices;
  LargeNeighbourhood regions;
  std::unique_ptr<TreeSearch> search;
  std::unique_ptr<OtherMethod> other;
  Rng rng;
  uint64_t visited = 0;
  int64_t alone = 0; ///< rounds
  bool hasPrices = false;
};

} // namespace shardopt::solve

#endif // SHARDOPT_LIB_SOLVERS_SELECTION_WORKER_H
