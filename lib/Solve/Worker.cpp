//===- Worker.cpp - One of the searches that run beside each other --------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Worker.h"

#include "shardopt/Solve/Solver.h"

using namespace shardopt;
using namespace shardopt::solve;

Worker::Worker(const Network &network, const SolverOptions &options, int number)
    : options(options), prices(network),
      regions(network, options.seed * 1000003 + uint64_t(number)),
      isFirst(number == 0) {
  constexpr int64_t shortSchedule = 200;
  prices.setSchedule(options.withoutMessages ? 1 : shortSchedule);
}

void Worker::run(uint64_t budget, const std::function<double()> &timeSpent) {
  // The part of the time that the first worker spends on the bound.
  constexpr double share = 0.45;
  uint64_t end = prices.work() + regions.work() + budget;
  while (prices.work() + regions.work() < end) {
    double spent = timeSpent();
    if (spent >= 1)
      return;
    if (isDescending()) {
      prices.step(regions.incumbent(), isFirst ? spent / share : 0);
      continue;
    }
    if (!hasPrices) {
      setPrices(prices.multipliers());
      hasPrices = true;
    }
    if (options.withoutNeighbourhoods || !regions.incumbent().exists())
      return;
    regions.move();
  }
}
