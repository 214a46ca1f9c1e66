//===- Worker.h - One of the searches that run beside each other -*- C++
//-*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_SOLVE_WORKER_H
#define SHARDOPT_LIB_SOLVE_WORKER_H

#include "shardopt/Solve/Descent.h"
#include "shardopt/Solve/LargeNeighbourhood.h"

#include <functional>

namespace shardopt::solve {

struct SolverOptions;

/// A descent, and then regions of the best assignment, at the prices that the
/// descent found.
class Worker {
public:
  Worker(const Network &network, const SolverOptions &options, int number);

  /// Works until `budget` table entries were visited, or `timeSpent()`, the
  /// part of the time limit that is over, is 1.
  void run(uint64_t budget, const std::function<double()> &timeSpent);

  Incumbent &incumbent() { return regions.incumbent(); }
  Descent &descent() { return prices; }
  bool isDescending() const { return !prices.isDone(); }
  /// Prices for regions from another worker.
  void setPrices(const Multipliers &multipliers) {
    regions.setPrices(multipliers.strategyPrices());
  }

private:
  const SolverOptions &options;
  Descent prices;
  LargeNeighbourhood regions;
  bool isFirst, hasPrices = false;
};

} // namespace shardopt::solve

#endif // SHARDOPT_LIB_SOLVE_WORKER_H
