//===- Worker.cpp - One of the searches that run in parallel --------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Worker.h"

#include "shardopt/Solvers/Selection/Solver.h"

using namespace shardopt;
using namespace shardopt::solve;

static uint64_t seedOf(const SolverOptions &options, int number) {
  return options.seed * 1000003 + uint64_t(number);
}

Worker::Worker(const Network &network, const SolverOptions &options, int number)
    : network(network), options(options), number(number), prices(network),
      regions(network, Rng(seedOf(options, number))),
      rng(~seedOf(options, number)) {
  // Rough prices do to begin with: those of the first worker follow.
  constexpr int64_t shortSchedule = 60;
  prices.setSchedule(options.withoutMessages ? 1 : shortSchedule);
  prices.aimAtBound(number == 0);
  if (options.otherMethod)
    other = options.otherMethod.make(network, seedOf(options, number));
}

Worker::Worker(const Network &network, const Worker &before, const Network &old)
    : network(network), options(before.options), number(before.number),
      prices(network, before.prices, old),
      regions(network, before.regions.random()), rng(before.rng) {}

void Worker::restart(int64_t roundsAlone) {
  constexpr double doneBefore = 0.3, spread = 1;
  prices.restart(doneBefore, spread, rng);
  hasPrices = false;
  incumbent() = Incumbent();
  regions.forgetPartners();
  alone = roundsAlone;
}

bool Worker::endRound() {
  if (alone == 0 || isDescending())
    return false;
  return --alone == 0;
}

void Worker::plantTree(const Graph &graph) {
  search = std::make_unique<TreeSearch>(graph, network, prices,
                                        options.withoutTightening
                                            ? TreeSearch::endless
                                            : TreeSearch::standardPatience);
}

void Worker::run(uint64_t budget, const std::function<double()> &timeSpent) {
  // The part of the time that the first worker spends on the bound.
  constexpr double share = 0.45;
  uint64_t end = visited + budget;
  uint64_t treeWork = 0, regionWork = 0;
  while (visited < end) {
    double spent = timeSpent();
    if (spent >= 1)
      return;
    if (other) {
      uint64_t before = other->work();
      other->step(incumbent());
      visited += other->work() - before;
      continue;
    }
    if (isDescending()) {
      uint64_t before = prices.work();
      prices.step(incumbent(), number == 0 ? spent / share : 0);
      visited += prices.work() - before;
      continue;
    }
    if (!hasPrices)
      setPrices(prices.multipliers().strategyPrices(), prices.rises());
    bool hasRegions = !options.withoutNeighbourhoods && incumbent().exists();
    bool hasTree = search && !search->isDone();
    if (!hasRegions && !hasTree)
      return;
    if (hasTree && (!hasRegions || treeWork <= regionWork ||
                    search->isTightening(incumbent()))) {
      uint64_t before = search->work();
      search->step(incumbent(), [&] { return timeSpent() >= 1; });
      treeWork += search->work() - before;
      visited += search->work() - before;
    } else {
      uint64_t before = regions.work();
      regions.move();
      regionWork += regions.work() - before;
      visited += regions.work() - before;
    }
  }
}
