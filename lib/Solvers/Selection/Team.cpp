//===- Team.cpp - Searches that share what they find ----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Team.h"

#include "shardopt/Solvers/Selection/Solver.h"
#include "shardopt/Support/ParallelFor.h"

#include <cmath>

using namespace shardopt;
using namespace shardopt::solve;

/// Rounds after the last assignment that was worthwhile before a worker starts
/// anew.
static constexpr int64_t firstPatience = 8;
/// Steps after which prices are better than those of a short schedule.
static constexpr int64_t firstUsefulStep = 100;

Team::Team(const Graph &graph, const Network &network,
           const SolverOptions &options)
    : graph(graph), network(network), options(options),
      patience(firstPatience) {
  for (int w = 0; w < std::max(1, options.workers); ++w)
    workers.push_back(std::make_unique<Worker>(network, options, w));
}

Team::Team(const Graph &graph, const Network &network, const Team &before)
    : graph(graph), network(network), options(before.options),
      patience(before.patience), nextRestart(before.nextRestart) {
  for (const auto &worker : before.workers)
    workers.push_back(
        std::make_unique<Worker>(network, *worker, before.network));
  if (before.shared.exists())
    if (std::optional<Assignment> assignment =
            carryOver(before.network, before.shared.assignment, graph, network))
      shared.improve(network, *assignment);
  for (auto &worker : workers)
    worker->incumbent() = shared;
}

void Team::run(uint64_t budget, const std::function<double()> &timeSpent) {
  parallelFor(workers.size(), unsigned(std::max(1, options.threads)),
              [&](size_t w) { workers[w]->run(budget, timeSpent); });
  share();
  if (options.otherMethod)
    return;
  if (wasDescending &&
      (descent().stepsDone() >= firstUsefulStep || !isDescending()))
    sharePrices();
  if (wasDescending && !isDescending())
    endDescent();
  if (!options.withoutNeighbourhoods && !options.withoutRestarts &&
      workers.size() > 1)
    restartOne();
}

void Team::share() {
  // By how much an assignment has to be cheaper to count: a part of the cost.
  constexpr double worthwhile = 5e-4;
  ++stale;
  for (auto &worker : workers) {
    Incumbent &own = worker->incumbent();
    if (worker->endRound() && own.exists())
      cross(*worker);
    if (own.exists() && own.cost < shared.cost)
      shared = own;
  }
  if (shared.exists() &&
      !(shared.cost >= staleCost - worthwhile * std::abs(staleCost))) {
    staleCost = shared.cost;
    stale = 0;
  }
  for (auto &worker : workers)
    if (!worker->isAlone() && shared.cost < worker->incumbent().cost)
      worker->incumbent() = shared;
}

/// Brings together the best assignment and that of a worker that was alone.
void Team::cross(Worker &loner) {
  Incumbent other = shared;
  if (loner.incumbent().cost > shared.cost)
    std::swap(other, loner.incumbent());
  if (!other.exists())
    return;
  loner.fuse(other);
  for (auto &worker : workers)
    if (!worker->isAlone())
      worker->addPartner(other.assignment);
}

/// Gives the prices that the first worker has come to to those that are done
/// with their own.
void Team::sharePrices() {
  std::vector<double> prices, rises;
  for (auto &worker : workers) {
    if (worker->isAlone() || worker->isDescending())
      continue;
    if (rises.empty()) {
      prices = descent().multipliers().strategyPrices();
      rises = descent().rises();
    }
    worker->setPrices(prices, rises);
  }
}

void Team::endDescent() {
  constexpr size_t mostNodes = 1000;
  constexpr double exact = 0x1p53;
  wasDescending = false;
  bool isExact = !shared.exists() || std::abs(shared.cost) < exact;
  if (!options.withoutTree && network.numNodes() <= mostNodes && isExact)
    workers[0]->plantTree(graph);
}

void Team::restartOne() {
  if (stale < patience)
    return;
  Worker &worker = *workers[nextRestart];
  nextRestart = nextRestart + 1 < workers.size() ? nextRestart + 1 : 1;
  if (worker.isAlone() || worker.isDescending())
    return;
  worker.restart(2 * patience);
  patience += patience / 4;
  stale = 0;
}

std::optional<Int128> Team::treeBound() const {
  if (!workers[0]->tree())
    return std::nullopt;
  return workers[0]->tree()->bound(shared);
}

bool Team::isIdle() const {
  if (isDescending() || workers[0]->hasOther())
    return false;
  const TreeSearch *tree = workers[0]->tree();
  if (tree && !tree->isDone())
    return false;
  return options.withoutNeighbourhoods || !shared.exists();
}
