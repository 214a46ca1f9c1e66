//===- Solver.cpp - Strategy selection with a certificate -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Selection/Solver.h"

#include "Team.h"
#include "shardopt/Solvers/Selection/CertifiedBound.h"
#include "shardopt/Solvers/Selection/Reductions.h"

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
class SolverRun {
public:
  SolverRun(const Problem &problem, const SolverOptions &options)
      : problem(problem), options(options), clock(options.secondsBefore),
        infinitiesDiffer(chooseScaling(problem, /*pays=*/false).forbiddenFrom ==
                         infiniteCost) {}

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

  void addReduction(const char *name, size_t count);
  void applyReductions(Graph &graph);
  bool reduceGraph(Graph &graph);
  void chooseSchedule(Descent &descent);
  void searchGraph(Graph &graph);
  void learn(const Graph &graph, const Network &network, Team &team);
  std::optional<Certificate> certifyRound(const Graph &graph,
                                          const Network &network, Team &team);
  bool shrink(Graph &graph, const Network &network,
              const Certificate &certificate);

  const Problem &problem;
  const SolverOptions &options;
  Clock clock;
  SolverResult result;
  Scaling scaling;
  /// Whether finite costs sum to less than an infinite one.
  bool infinitiesDiffer;
  double phaseStart = 0;
  /// Of the cheapest assignment of a network so far.
  double foundCost = std::numeric_limits<double>::infinity();
};

} // namespace

//===----------------------------------------------------------------------===//
// What is known so far
//===----------------------------------------------------------------------===//

void SolverRun::beginPhase(const char *name) {
  double now = clock.seconds();
  if (!result.phases.empty())
    result.phases.back().seconds = now - phaseStart;
  phaseStart = now;
  result.phases.push_back({name, 0});
}

void SolverRun::report() {
  if (!options.onProgress)
    return;
  Progress progress{result.phases.back().name, clock.seconds(), result.rounds,
                    std::nullopt, result.bound};
  if (result.solution)
    progress.cost = result.cost;
  progress.isForbidden = infinitiesDiffer && progress.cost >= infiniteCost &&
                         result.bound < infiniteCost;
  options.onProgress(progress);
}

void SolverRun::offer(const Solution &solution) {
  ErrorOr<Verdict> verdict = verify(problem, solution);
  assert(verdict && "a solution of other sizes than the problem");
  if (!verdict->feasible || (result.solution && verdict->cost >= result.cost))
    return;
  result.solution = solution;
  result.cost = verdict->cost;
  if (options.onSolution)
    options.onSolution(solution, verdict->cost);
}

/// `bound`, in costs of the graph, holds for all solutions that are cheaper
/// than the best one so far.
void SolverRun::raiseBound(Int128 bound) {
  bound <<= scaling.shift;
  if (result.solution)
    bound = std::min(bound, result.cost);
  // What is forbidden costs at least that much.
  if (bound > infiniteCost && scaling.forbiddenFrom == infiniteCost)
    bound = infiniteCost;
  if (!result.bound || bound > *result.bound)
    result.bound = bound;
}

double SolverRun::timeSpent() const {
  if (options.stop && options.stop->requested())
    return 1;
  if (options.timeLimit <= 0)
    return 0;
  return std::min(1.0, clock.seconds() / options.timeLimit);
}

bool SolverRun::isOver() {
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
static constexpr int64_t firstBudget = 5'000'000, largestBudget = 100'000'000;
static uint64_t budgetOf(int64_t round) {
  constexpr int64_t rising = largestBudget / firstBudget;
  return uint64_t(firstBudget * std::min(rising, round + 1));
}

/// The sum of the budgets of the rounds before `rounds`.
static double budgetBefore(int64_t rounds) {
  constexpr int64_t rising = largestBudget / firstBudget;
  double few = double(std::min(rising, rounds));
  return double(firstBudget) * few * (few + 1) / 2 +
         double(largestBudget) * (double(rounds) - few);
}

/// Where rounds end the search, they limit the steps to about half of what the
/// first worker can do; otherwise time does.
void SolverRun::chooseSchedule(Descent &descent) {
  constexpr int64_t fewest = 300, most = 9000;
  constexpr double share = 0.45;
  double steps = options.rounds ? share * budgetBefore(options.rounds) /
                                      double(descent.workOfStep())
                                : double(most);
  descent.setSchedule(int64_t(std::clamp<double>(steps, fewest, most)));
}

/// Takes what the team knows.
void SolverRun::learn(const Graph &graph, const Network &network, Team &team) {
  const Incumbent &best = team.best();
  if (best.cost < foundCost) {
    foundCost = best.cost;
    offer(expand(graph, network, best.assignment));
  }
  if (std::optional<Int128> bound = team.treeBound())
    raiseBound(*bound);
}

/// The certificate of the messages, after a round of them.
std::optional<Certificate> SolverRun::certifyRound(const Graph &graph,
                                                   const Network &network,
                                                   Team &team) {
  Descent &descent = team.descent();
  std::optional<Certificate> certificate = certify(
      network, descent.messages(), descent.multipliers(), graph.constant);
  if (certificate)
    raiseBound(certificate->bound);
  return certificate;
}

/// Drops from the graph, once that is worth beginning again with less, what is
/// in no solution that is cheaper than the best one.
bool SolverRun::shrink(Graph &graph, const Network &network,
                       const Certificate &certificate) {
  constexpr double worthwhile = 0.1;
  if (!result.solution || options.withoutFixing)
    return false;
  Int128 upper = result.cost >> scaling.shift;
  size_t count = 0;
  for (Int128 bound : certificate.bounds)
    count += bound > upper;
  if (double(count) < worthwhile * double(network.numStrategies()))
    return false;
  graph.replacements.clear();
  addReduction("too expensive strategies",
               dropTooDear(graph, network, certificate, upper));
  applyReductions(graph);
  return true;
}

void SolverRun::searchGraph(Graph &graph) {
  if (isOver())
    return;
  auto network = std::make_unique<Network>(graph);
  std::unique_ptr<Team> team;
  std::optional<Certificate> certificate;
  beginPhase(options.otherMethod.name);
  while (!isOver()) {
    if (network->numNodes() == 0) { // the reductions decided everything
      foundCost = std::min(foundCost, network->constant);
      offer(expand(graph, *network, {}));
      return raiseBound(graph.constant);
    }
    if (!team) {
      team = std::make_unique<Team>(graph, *network, options);
      if (!options.withoutMessages && !options.otherMethod)
        chooseSchedule(team->descent());
    }
    bool wasDescending = team->isDescending();
    team->run(budgetOf(result.rounds), [this] { return timeSpent(); });
    ++result.rounds;
    learn(graph, *network, *team);
    if (wasDescending) {
      certificate = certifyRound(graph, *network, *team);
      if (!team->isDescending())
        beginPhase("neighbourhoods");
    }
    if (certificate && shrink(graph, *network, *certificate)) {
      if (graph.isInfeasible) // nothing is cheaper than the best solution
        return raiseBound(result.cost >> scaling.shift);
      if (isOver()) // perhaps in the middle of the reductions
        return report();
      auto smaller = std::make_unique<Network>(graph);
      team = std::make_unique<Team>(graph, *smaller, *team);
      network = std::move(smaller);
      certificate.reset();
    }
    report();
    if (team->isIdle())
      break;
  }
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

void SolverRun::addReduction(const char *name, size_t count) {
  for (auto &[known, sum] : result.reductions)
    if (known == std::string(name)) {
      sum += count;
      return;
    }
  result.reductions.push_back({name, count});
}

void SolverRun::applyReductions(Graph &graph) {
  if (options.withoutReductions) {
    // Messages need nodes that differ and strategies that are permitted.
    mergeParallelEdges(graph);
    dropUnsupported(graph);
    return;
  }
  auto isLate = [this] { return timeSpent() >= 1; };
  for (const ReductionCount &reduction : reduce(graph, isLate))
    addReduction(reduction.name, reduction.count);
}

/// Returns whether the graph may have a solution.
bool SolverRun::reduceGraph(Graph &graph) {
  applyReductions(graph);
  result.numNodes = graph.countNodes();
  result.numEdges = graph.countEdges();
  result.numStrategies = graph.countStrategies();
  result.numTimes = graph.slack.size();
  return !graph.isInfeasible;
}

SolverResult SolverRun::run() {
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
    searchGraph(graph);
    bool foundNone = foundCost == std::numeric_limits<double>::infinity();
    if (!foundNone || isOver() || scaling.forbiddenFrom != infiniteCost)
      break;
  }
  if (!isOver())
    result.stopped = "exhausted";
  beginPhase("end");
  result.phases.pop_back();
  return result;
}

SolverResult solve::solve(const Problem &problem,
                          const SolverOptions &options) {
  return SolverRun(problem, options).run();
}
