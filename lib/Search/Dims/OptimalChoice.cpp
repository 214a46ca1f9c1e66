//===- OptimalChoice.cpp - The best dims, by strategy selection -----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Dims/OptimalChoice.h"

#include "shardopt/Cost/Breakdown.h"
#include "shardopt/Solvers/Selection/Solver.h"

#include <algorithm>
#include <cmath>
#include <csignal>

using namespace shardopt;
using namespace shardopt::selection;

/// What rounding may take from a value, a part of it.
static constexpr double slack = 1e-11;
static constexpr double infinity = std::numeric_limits<double>::infinity();

namespace {

/// One of the sums of seconds whose largest counts; without a limit.
using Term = Resource;

class ChoiceSearch {
public:
  ChoiceSearch(const StrategyGraph &graph, Goal goal)
      : graph(graph), costs(graph.costs()), context(graph.context()),
        goal(goal), terms(makeTerms()) {}

  ChoiceResult run(std::optional<double> incumbent);
  double boundForAnyCut(double sending) const;

private:
  /// What came of one problem.
  struct Outcome {
    std::optional<Choice> choice;
    double least = 0; ///< that the term can take, under the limits
    bool proved = false;
  };

  std::vector<Term> makeTerms() const;
  double valueOf(const cost::Pipeline &pipeline) const;
  Outcome minimise(const Aim &aim, double most, ChoiceResult &result) const;
  std::optional<double> boundApart(double most, ChoiceResult &result);
  Aim aimAt(size_t term, double most, double worthwhile) const;
  bool offer(const Choice &choice, double most, ChoiceResult &result);
  size_t largestTerm() const;
  double toMetric(double value) const;

  bool isLatency() const { return goal == Goal::Latency; }
  double termOf(size_t i, const Choice &choice) const;

  const StrategyGraph &graph;
  const cost::CostModel &costs;
  const cost::Context &context;
  const Goal goal;
  const std::vector<Term> terms;
  Choice bestChoice;
  double best = infinity; ///< its value, in seconds
};

} // namespace

/// The terms of `cost::latencySeconds`, or of what throughput goes by: the sum
/// of all stages, and each stage as often as it is passed. Those that others
/// are never below are left out, and so is the sum where each stage is passed
/// as often as there are stages.
std::vector<Term> ChoiceSearch::makeTerms() const {
  const std::vector<cost::Stage> &stages = graph.stages();
  Term sum{"all stages", Resource::Kind::Seconds, {}, 0};
  for (const cost::Stage &stage : stages)
    sum.weights.push_back(double(stage.repeats));
  auto passes = double(context.microBatches);
  if (context.isPrefill() ? isLatency() : passes == 1)
    return {sum};
  std::vector<Term> list;
  for (size_t stage = 0; stage < stages.size(); ++stage) {
    Term term{"stage " + std::to_string(stage), Resource::Kind::Seconds,
              std::vector<double>(stages.size()), 0};
    term.weights[stage] = passes;
    list.push_back(std::move(term));
  }
  list = withoutCovered(graph, list);
  if (!context.isPrefill() && context.microBatches < context.degrees.pp)
    list.push_back(sum);
  return list;
}

/// The largest term; asked of the cost model where it has a name for it.
double ChoiceSearch::valueOf(const cost::Pipeline &pipeline) const {
  if (context.isPrefill() && !isLatency())
    return double(context.microBatches) * pipeline.slowestSeconds;
  return cost::latencySeconds(pipeline, context);
}

/// From a value in seconds to the metric, and back: throughput is a constant
/// over the value.
double ChoiceSearch::toMetric(double value) const {
  if (isLatency())
    return value * 1e3;
  cost::Pipeline unit{1, 1, 0};
  return cost::throughput(unit, context, costs.limits()) * valueOf(unit) /
         value;
}

double ChoiceSearch::termOf(size_t i, const Choice &choice) const {
  size_t numStages = graph.stages().size();
  double sum = 0;
  for (size_t node = 0; node < choice.size(); ++node)
    for (size_t stage = 0; stage < numStages; ++stage)
      sum +=
          terms[i].weights[stage] *
          graph.nodes()[node].seconds[size_t(choice[node]) * numStages + stage];
  return sum;
}

size_t ChoiceSearch::largestTerm() const {
  size_t largest = 0;
  for (size_t i = 1; i < terms.size(); ++i)
    if (termOf(i, bestChoice) > termOf(largest, bestChoice))
      largest = i;
  return largest;
}

Aim ChoiceSearch::aimAt(size_t term, double most, double worthwhile) const {
  Aim aim{terms[term].weights, memoryResources(graph), worthwhile,
          activationLimit(graph)};
  auto limit = [&](const Term &what, double seconds) {
    if (!(seconds < infinity))
      return;
    aim.resources.push_back(what);
    aim.resources.back().most = seconds;
  };
  for (size_t i = 0; i < terms.size(); ++i)
    if (i != term)
      limit(terms[i], most);
  if (context.isPrefill() && !isLatency()) {
    Term sum{"all stages", Resource::Kind::Seconds, {}, 0};
    for (const cost::Stage &stage : graph.stages())
      sum.weights.push_back(double(stage.repeats));
    limit(sum, costs.limits().latencySeconds);
  }
  return aim;
}

/// What the aim takes at least, and a choice if one takes no more than `most`.
ChoiceSearch::Outcome ChoiceSearch::minimise(const Aim &aim, double most,
                                             ChoiceResult &result) const {
  ScaledProblem scaled = makeProblem(graph, aim);
  // A problem without a solution that is good enough is of no more interest.
  double unit = scaled.secondsPerUnit;
  auto isHopeless = [&](const std::optional<solve::Int128> &bound) {
    return bound && (*bound >= solve::infiniteCost ||
                     double(*bound) * unit > most * (1 + slack));
  };
  StopToken stop;
  solve::SolverOptions options;
  options.timeLimit = 0;
  options.rounds = 12;
  options.workers = options.threads = 1;
  options.stop = &stop;
  options.onProgress = [&](const solve::Progress &progress) {
    if (isHopeless(progress.bound))
      stop.request(SIGTERM);
  };
  solve::SolverResult found = solve::solve(scaled.problem, options);
  ++result.problems;
  Outcome outcome;
  if (found.bound)
    outcome.least = double(*found.bound) * unit;
  if (found.shortage || isHopeless(found.bound)) {
    outcome.proved = true;
  } else if (found.solution && found.cost < solve::infiniteCost) {
    outcome.choice = scaled.choiceOf(graph, *found.solution);
    outcome.proved = found.proved;
  }
  return outcome;
}

/// Takes `choice` if the naive model finds it valid, and as good as `most`.
bool ChoiceSearch::offer(const Choice &choice, double most,
                         ChoiceResult &result) {
  double value = valueOf(graph.pipeline(choice));
  if (value > most * (1 + slack) || value >= best)
    return false;
  cost::Optimum optimum;
  optimum.dims = graph.dims(choice);
  optimum.evaluation =
      cost::breakdown(costs, {context.degrees, optimum.dims}).evaluation;
  // What the graph says has to be what the naive model says.
  Evaluation claimed =
      cost::judge(graph.pipeline(choice), context, costs.limits());
  if (!optimum.evaluation.valid ||
      std::abs(claimed.latencyMs - optimum.evaluation.latencyMs) >
          1e-9 * claimed.latencyMs)
    return false;
  best = value;
  bestChoice = choice;
  result.best = std::move(optimum);
  return true;
}

/// Terms are mostly of ops of their own, so that what is best for all of them
/// together is about best for each. Offers that, and bounds the largest term by
/// what each takes alone; none if one of them takes more than `most`.
std::optional<double> ChoiceSearch::boundApart(double most,
                                               ChoiceResult &result) {
  auto count = double(terms.size());
  Aim all = aimAt(0, infinity, most * count);
  for (size_t i = 1; i < terms.size(); ++i)
    for (size_t stage = 0; stage < all.weights.size(); ++stage)
      all.weights[stage] += terms[i].weights[stage];
  Outcome together = minimise(all, most * count, result);
  if (!together.choice && together.proved)
    return std::nullopt;
  if (together.choice)
    offer(*together.choice, most, result);
  double least = together.least / count;
  for (size_t i = 0; i < terms.size(); ++i) {
    double below = std::min(most, best);
    // What ends for a bound above it has that bound.
    Outcome alone = minimise(aimAt(i, infinity, below), below, result);
    least = std::max(least, alone.least);
    if (!alone.choice && alone.proved) {
      if (!result.best)
        return std::nullopt;
      return best;
    }
    if (alone.choice)
      offer(*alone.choice, most, result);
  }
  return least;
}

ChoiceResult ChoiceSearch::run(std::optional<double> incumbent) {
  ChoiceResult result;
  // Both ways, as the metric is a constant over the value, or in proportion.
  double most = infinity;
  if (incumbent)
    most = isLatency() ? *incumbent / 1e3 : toMetric(*incumbent);
  if (!context.isPrefill() || isLatency())
    most = std::min(most, costs.limits().latencySeconds);
  most *= 1 + slack;

  double least = 0; // of what is still to be found, below `most`
  size_t term = 0, numUnproved = 0;
  double worthwhile = most;
  if (terms.size() > 1) {
    std::optional<double> apart = boundApart(most, result);
    least = apart.value_or(infinity);
    result.proved = !apart || (result.best && least >= best * (1 - slack));
    if (result.best) {
      term = largestTerm();
      worthwhile = best;
    }
  }
  while (!result.proved) {
    double below = result.best ? best * (1 - slack) : most;
    Outcome outcome = minimise(aimAt(term, below, worthwhile), below, result);
    least = std::max(least, outcome.least);
    if (!outcome.choice) {
      result.proved = outcome.proved;
      break;
    }
    bool isBetter = offer(*outcome.choice, most, result);
    // Nothing takes less than this term does.
    double reached = result.best ? best : most;
    if (outcome.least >= reached * (1 - slack)) {
      result.proved = true;
      break;
    }
    // What was not proved is still a choice whose largest term can fall.
    if (!outcome.proved && (!isBetter || ++numUnproved > terms.size()))
      break;
    if (!isBetter) {
      // Rounded too coarsely, if the rest are strategies of no use.
      double finest = termOf(term, *outcome.choice) * (1 + slack);
      if (finest < worthwhile) {
        worthwhile = finest;
        continue;
      }
      break;
    }
    term = largestTerm();
    worthwhile = best;
  }
  if (result.proved && result.best)
    result.bound = toMetric(best);
  else if (!result.proved)
    result.bound = toMetric(std::max(least, 1e-30));
  return result;
}

ChoiceResult selection::optimalChoice(const StrategyGraph &graph, Goal goal,
                                      std::optional<double> incumbent) {
  return ChoiceSearch(graph, goal).run(incumbent);
}

double ChoiceSearch::boundForAnyCut(double sending) const {
  Aim sum{{}, {}, infinity, activationLimit(graph)};
  for (const cost::Stage &stage : graph.stages())
    sum.weights.push_back(double(stage.repeats));
  ChoiceResult unused;
  double all = std::max(0.0, minimise(sum, infinity, unused).least - sending);
  cost::Pipeline least{all, all / double(context.degrees.pp), 0};
  return toMetric(std::max(valueOf(least), 1e-30));
}

double selection::boundForAnyCut(const StrategyGraph &graph, Goal goal,
                                 double sending) {
  return ChoiceSearch(graph, goal).boundForAnyCut(sending);
}
