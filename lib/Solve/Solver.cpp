//===- Solver.cpp - Strategy selection with a certificate -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solve/Solver.h"

#include "Worker.h"
#include "shardopt/Solve/CertifiedBound.h"
#include "shardopt/Solve/Reductions.h"
#include "shardopt/Support/ParallelFor.h"

#include <chrono>
#include <cmath>
#include <memory>

using namespace shardopt;
using namespace shardopt::solve;

double SolverResult::gap() const {
  if (!solution || !bound || cost <= 0)
    return proved ? 0 : std::numeric_limits<double>::infinity();
  return std::max(0.0, double(cost - *bound) / double(cost));
}

namespace {

class Clock {
public:
  explicit Clock(double secondsBefore) : before(secondsBefore) {}
  double seconds() const {
    return before + std::chrono::duration<double>(
                        std::chrono::steady_clock::now() - start)
                        .count();
  }

private:
  double before;
  std::chrono::steady_clock::time_point start =
      std::chrono::steady_clock::now();
};

/// A search for solutions of one problem.
class Search {
public:
  Search(const Problem &problem, const SolverOptions &options)
      : problem(problem), options(options), clock(options.secondsBefore) {}

  SolverResult run();

private:
  void beginPhase(const char *name);
  void report();
  /// Takes a solution if it fits and is the cheapest so far.
  void offer(const Solution &solution);
  void raiseBound(Int128 bound);
  /// The part of the time that is over; 1 once the search has to end.
  double timeSpent() const;
  /// Whether the search is over, and why.
  bool isOver();

  bool reduceGraph(Graph &graph);
  void searchNetwork(const Graph &graph, const Network &network);
  void chooseSchedule(Descent &descent);
  void runWorkers(uint64_t budget);
  void shareIncumbent(const Graph &graph, const Network &network);

  const Problem &problem;
  const SolverOptions &options;
  Clock clock;
  SolverResult result;
  Scaling scaling;
  double phaseStart = 0;
  std::vector<std::unique_ptr<Worker>> workers;
  double sharedCost = std::numeric_limits<double>::infinity();
};

} // namespace

//===----------------------------------------------------------------------===//
// What is known so far
//===----------------------------------------------------------------------===//

void Search::beginPhase(const char *name) {
  double now = clock.seconds();
  if (!result.phases.empty())
    result.phases.back().seconds = now - phaseStart;
  phaseStart = now;
  result.phases.push_back({name, 0});
}

void Search::report() {
  if (!options.onProgress)
    return;
  Progress progress{result.phases.back().name, clock.seconds(), result.rounds,
                    std::nullopt, result.bound};
  if (result.solution)
    progress.cost = result.cost;
  options.onProgress(progress);
}

void Search::offer(const Solution &solution) {
  ErrorOr<Verdict> verdict = verify(problem, solution);
  assert(verdict && "a solution of other sizes than the problem");
  if (!verdict->feasible || (result.solution && verdict->cost >= result.cost))
    return;
  result.solution = solution;
  result.cost = verdict->cost;
  if (options.onSolution)
    options.onSolution(solution, verdict->cost);
}

void Search::raiseBound(Int128 bound) {
  bound <<= scaling.shift;
  // What is forbidden costs at least that much.
  if (bound > infiniteCost && scaling.forbiddenFrom == infiniteCost)
    bound = infiniteCost;
  if (!result.bound || bound > *result.bound)
    result.bound = bound;
}

double Search::timeSpent() const {
  if (options.stop && options.stop->requested())
    return 1;
  if (options.timeLimit <= 0)
    return 0;
  return std::min(1.0, clock.seconds() / options.timeLimit);
}

bool Search::isOver() {
  result.proved =
      result.solution && result.bound && result.cost <= *result.bound;
  if (result.proved)
    result.stopped = "proved";
  else if (result.gap() <= options.gap)
    result.stopped = "gap";
  else if (options.stop && options.stop->requested())
    result.stopped = "signal";
  else if (timeSpent() >= 1)
    result.stopped = "time";
  else if (options.rounds && result.rounds >= options.rounds)
    result.stopped = "rounds";
  else
    return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Rounds
//===----------------------------------------------------------------------===//

/// Table entries that each worker visits in a round: few at first, so that
/// solutions are seen early.
static uint64_t budgetOf(int64_t round) {
  constexpr uint64_t step = 5000000, most = 100000000;
  return std::min<uint64_t>(most, step * uint64_t(round + 1));
}

/// Where rounds end the search, they limit the steps to about half of what the
/// first worker can do; otherwise time does.
void Search::chooseSchedule(Descent &descent) {
  constexpr int64_t fewest = 300, most = 9000;
  constexpr double share = 0.45;
  double entries = 0;
  for (int64_t round = 0; round < options.rounds; ++round)
    entries += double(budgetOf(round));
  double steps = options.rounds ? share * entries / double(descent.workOfStep())
                                : double(most);
  descent.setSchedule(int64_t(std::clamp<double>(steps, fewest, most)));
}

void Search::runWorkers(uint64_t budget) {
  parallelFor(workers.size(), unsigned(std::max(1, options.threads)),
              [&](size_t w) {
                workers[w]->run(budget, [this] { return timeSpent(); });
              });
}

void Search::shareIncumbent(const Graph &graph, const Network &network) {
  const Incumbent *best = nullptr;
  for (auto &worker : workers)
    if (worker->incumbent().exists() &&
        (!best || worker->incumbent().cost < best->cost))
      best = &worker->incumbent();
  if (!best)
    return;
  for (auto &worker : workers)
    if (best->cost < worker->incumbent().cost)
      worker->incumbent() = *best;
  if (best->cost < sharedCost) {
    sharedCost = best->cost;
    offer(expand(graph, network, best->assignment));
  }
}

void Search::searchNetwork(const Graph &graph, const Network &network) {
  if (network.numNodes() == 0) { // the reductions decided everything
    sharedCost = network.constant;
    offer(expand(graph, network, {}));
    raiseBound(graph.constant);
    return;
  }
  workers.clear();
  for (int w = 0; w < std::max(1, options.workers); ++w)
    workers.push_back(std::make_unique<Worker>(network, options, w));
  if (!options.withoutMessages)
    chooseSchedule(workers[0]->descent());
  beginPhase("multipliers");
  bool descending = true;
  while (!isOver()) {
    runWorkers(budgetOf(result.rounds));
    ++result.rounds;
    shareIncumbent(graph, network);
    if (descending) {
      Descent &descent = workers[0]->descent();
      if (auto bound = certifyBound(network, descent.messages(),
                                    descent.multipliers(), graph.constant))
        raiseBound(*bound);
      if (!workers[0]->isDescending()) {
        for (auto &worker : workers)
          worker->setPrices(descent.multipliers());
        descending = false;
        beginPhase("neighbourhoods");
      }
    }
    report();
    if (!descending &&
        (options.withoutNeighbourhoods || !workers[0]->incumbent().exists()))
      break;
  }
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

/// Returns whether the graph may have a solution.
bool Search::reduceGraph(Graph &graph) {
  if (options.withoutReductions) {
    // Messages need nodes that differ and strategies that are permitted.
    mergeParallelEdges(graph);
    dropUnsupported(graph);
  } else {
    for (const ReductionCount &reduction : reduce(graph))
      result.reductions.push_back({reduction.name, reduction.count});
  }
  result.numNodes = graph.countNodes();
  result.numEdges = graph.countEdges();
  result.numStrategies = graph.countStrategies();
  result.numTimes = graph.slack.size();
  return !graph.isInfeasible;
}

SolverResult Search::run() {
  result.shortage = findShortage(problem);
  if (result.shortage) {
    result.proved = true;
    result.stopped = "proved";
    return result;
  }
  result.bound = 0; // costs are not negative
  offer(smallestUsage(problem));
  // Without what is forbidden, then, if that cannot be, with it.
  for (bool pays : {false, true}) {
    beginPhase("reductions");
    scaling = chooseScaling(problem, pays);
    Graph graph(problem, scaling);
    bool mayBeFeasible = reduceGraph(graph);
    report();
    if (!mayBeFeasible) {
      if (scaling.forbiddenFrom == infiniteCost)
        raiseBound(infiniteCost);
      continue;
    }
    searchNetwork(graph, Network(graph));
    bool foundNone = sharedCost == std::numeric_limits<double>::infinity();
    if (!foundNone || isOver() || scaling.forbiddenFrom != infiniteCost)
      break;
  }
  isOver();
  beginPhase("end");
  result.phases.pop_back();
  return result;
}

SolverResult solve::solve(const Problem &problem,
                          const SolverOptions &options) {
  return Search(problem, options).run();
}
