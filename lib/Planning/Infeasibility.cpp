//===- Infeasibility.cpp - What a request lacks ---------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Infeasibility.h"
#include "shardopt/Cost/LiveValues.h"
#include "shardopt/Planning/RooflineSimulator.h"
#include "shardopt/Search/Dims/OptimalDims.h"
#include "shardopt/Search/Dims/QuickBound.h"
#include "shardopt/Search/ExactSearch.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace shardopt;

using IsStopped = std::function<bool()>;

static constexpr double noLimit = std::numeric_limits<double>::infinity();

/// What strategies of the scenario may take, and hold.
static cost::Limits limitsOf(const Scenario &scenario, double sloMs) {
  cost::Limits limits;
  limits.memoryBytes = scenario.costs().limits().memoryBytes;
  limits.activationBytes = scenario.costs().limits().activationBytes;
  limits.latencySeconds = sloMs / 1e3;
  return limits;
}

/// The best plan of `space` under `limits`, of shared dims where others take
/// long. The limit on devices is the space's.
static std::optional<search::Plan> probe(const Scenario &scenario,
                                         const search::StrategySpace &space,
                                         const cost::Limits &limits,
                                         search::Goal goal, unsigned threads,
                                         const IsStopped &stopRequested) {
  cost::CostModel costs = scenario.costsUnder(limits);
  RooflineSimulator simulator(costs, DimSearch::Shared);
  return search::findOptimum(space, simulator, goal, threads, stopRequested)
      .best;
}

/// The least memory that a strategy of `space` needs, in bytes; none if all are
/// structurally invalid.
static std::optional<double> leastMemory(const Scenario &scenario,
                                         const search::StrategySpace &space,
                                         const IsStopped &stopRequested) {
  std::vector<cost::DimSet> sets =
      RooflineSimulator::setsOf(space.dimDomains());
  std::optional<double> least;
  // What fits at all does with the least batch.
  for (size_t grid = 0; grid < space.numGrids() && !stopRequested(); ++grid) {
    Degrees degrees = space.degreesOf(grid, 0);
    if (!scenario.costs().fits(degrees))
      continue;
    const cost::CostModel &costs = scenario.costs();
    cost::DimsBound bound =
        costs.hasTrellises()
            ? cost::boundDims(cost::Tables(costs, degrees), sets, Goal::Latency)
            : cost::boundQuickly(costs, {degrees, std::nullopt, sets, nullptr},
                                 Goal::Latency);
    if (bound.infeasible != Reason::Structural)
      least = std::min(least.value_or(noLimit), bound.leastBytes);
  }
  return least;
}

/// The least that values between ops take at the fullest moment of a strategy
/// of `space`, where it is known.
static std::optional<double>
leastActivations(const Scenario &scenario, const search::StrategySpace &space,
                 const IsStopped &stopRequested) {
  const cost::CostModel &costs = scenario.costs();
  RooflineSimulator simulator(costs, DimSearch::Shared);
  double least = noLimit;
  for (size_t grid = 0; grid < space.numGrids() && !stopRequested(); ++grid) {
    Degrees degrees = space.degreesOf(grid, 0);
    if (!costs.fits(degrees))
      continue;
    auto own = simulator.leastActivations(degrees, space.dimDomains());
    if (!own)
      return std::nullopt;
    least = std::min(least, *own);
  }
  return least < noLimit ? std::optional(least) : std::nullopt;
}

/// A plan of `space` that needs about the least room for values between ops (to
/// 1 %) under the other `limits`, where none fits into that of `limits`.
static std::optional<search::Plan>
withLeastRoom(const Scenario &scenario, const search::StrategySpace &space,
              cost::Limits limits, search::Goal goal, unsigned threads,
              const IsStopped &stopRequested) {
  double low = limits.activationBytes;
  auto within = [&](double bytes) {
    limits.activationBytes = bytes;
    return probe(scenario, space, limits, goal, threads, stopRequested);
  };
  auto peakOf = [&](const search::Plan &plan) {
    return cost::livePeak(scenario.costs(), plan.strategy).bytes;
  };
  auto least = leastActivations(scenario, space, stopRequested);
  if (least && *least > low) {
    if (auto plan = within(*least))
      return plan;
    low = *least;
  }
  std::optional<search::Plan> plan = within(noLimit);
  double high = plan ? peakOf(*plan) : 0;
  while (high > low * 1.01 && !stopRequested()) {
    double middle = std::sqrt(low * high);
    if (auto smaller = within(middle)) {
      plan = std::move(smaller);
      high = peakOf(*plan);
    } else {
      low = middle;
    }
  }
  return plan;
}

search::Plan shardopt::findClosest(const Scenario &scenario,
                                   const search::StrategySpace &space,
                                   unsigned threads,
                                   const IsStopped &stopRequested) {
  constexpr search::Goal goal = search::Goal::Latency;
  cost::Limits limits = limitsOf(scenario, noLimit);
  auto plan = probe(scenario, space, limits, goal, threads, stopRequested);
  if (!plan && limits.limitsActivations())
    plan = withLeastRoom(scenario, space, limits, goal, threads, stopRequested);
  if (!plan)
    if (std::optional<double> least =
            leastMemory(scenario, space, stopRequested)) {
      // A little more, since sums of bytes are rounded.
      limits.memoryBytes = *least * (1 + 1e-9);
      limits.activationBytes = noLimit;
      plan = probe(scenario, space, limits, goal, threads, stopRequested);
    }
  Strategy strategy =
      plan ? std::move(plan->strategy)
           : space.strategyAt(search::Point(space.numVariables(), 0));
  Evaluation evaluation = scenario.simulator().evaluate(strategy);
  return {std::move(strategy), evaluation};
}

/// More room for values between ops, rounded up.
static std::optional<search::NextFeasible>
tryActivations(const Scenario &scenario, const search::SpaceRequest &request,
               search::Goal goal, unsigned threads,
               const IsStopped &stopRequested) {
  cost::Limits limits = limitsOf(scenario, scenario.sloMs());
  if (!limits.limitsActivations())
    return std::nullopt;
  auto space = search::StrategySpace::create(scenario.spaceFacts(), request);
  auto plan =
      withLeastRoom(scenario, *space, limits, goal, threads, stopRequested);
  if (!plan)
    return std::nullopt;
  double asked = limits.activationBytes / 1e9;
  double room = search::roundUpLimit(
      cost::livePeak(scenario.costs(), plan->strategy).bytes / 1e9);
  limits.activationBytes = room * 1e9;
  if (auto best = probe(scenario, *space, limits, goal, threads, stopRequested))
    plan = std::move(best);
  return search::NextFeasible{{search::Change::Kind::Activations, asked, room},
                              std::move(*plan)};
}

std::optional<search::NextFeasible> shardopt::findNextFeasible(
    const Scenario &scenario, const search::SpaceRequest &request,
    search::Goal goal, unsigned threads, const IsStopped &stopRequested) {
  auto smallest = search::findNextFeasible(
      scenario.spaceFacts(), request, scenario.sloMs(), goal,
      [&](const search::StrategySpace &space, double sloMs,
          search::Goal probed) {
        return probe(scenario, space, limitsOf(scenario, sloMs), probed,
                     threads, stopRequested);
      },
      stopRequested);
  auto roomier =
      tryActivations(scenario, request, goal, threads, stopRequested);
  if (roomier &&
      (!smallest || roomier->change.factor() < smallest->change.factor()))
    return roomier;
  return smallest;
}
