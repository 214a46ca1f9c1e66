//===- Infeasibility.cpp - What a request lacks ---------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Infeasibility.h"
#include "shardopt/Planning/RooflineSimulator.h"
#include "shardopt/Search/Dims/OptimalDims.h"
#include "shardopt/Search/Dims/QuickBound.h"
#include "shardopt/Search/ExactSearch.h"

#include <limits>

using namespace shardopt;

using IsStopped = std::function<bool()>;

static constexpr double noLimit = std::numeric_limits<double>::infinity();

/// The best plan of `space` under `sloMs` and `memoryBytes`. The limit on
/// devices is the space's.
static std::optional<search::Plan> probe(const Scenario &scenario,
                                         const search::StrategySpace &space,
                                         double sloMs, double memoryBytes,
                                         search::Goal goal, unsigned threads,
                                         const IsStopped &stopRequested) {
  cost::Limits limits;
  limits.memoryBytes = memoryBytes;
  limits.latencySeconds = sloMs / 1e3;
  cost::CostModel costs = scenario.costsUnder(limits);
  RooflineSimulator simulator(costs);
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

search::Plan shardopt::findClosest(const Scenario &scenario,
                                   const search::StrategySpace &space,
                                   unsigned threads,
                                   const IsStopped &stopRequested) {
  double capacity = scenario.costs().limits().memoryBytes;
  auto plan = probe(scenario, space, noLimit, capacity, search::Goal::Latency,
                    threads, stopRequested);
  if (!plan)
    if (std::optional<double> least =
            leastMemory(scenario, space, stopRequested))
      // A little more, since sums of bytes are rounded.
      plan = probe(scenario, space, noLimit, *least * (1 + 1e-9),
                   search::Goal::Latency, threads, stopRequested);
  Strategy strategy =
      plan ? std::move(plan->strategy)
           : space.strategyAt(search::Point(space.numVariables(), 0));
  Evaluation evaluation = scenario.simulator().evaluate(strategy);
  return {std::move(strategy), evaluation};
}

std::optional<search::NextFeasible> shardopt::findNextFeasible(
    const Scenario &scenario, const search::SpaceRequest &request,
    search::Goal goal, unsigned threads, const IsStopped &stopRequested) {
  double capacity = scenario.costs().limits().memoryBytes;
  return search::findNextFeasible(
      scenario.spaceFacts(), request, scenario.sloMs(), goal,
      [&](const search::StrategySpace &space, double sloMs,
          search::Goal probed) {
        return probe(scenario, space, sloMs, capacity, probed, threads,
                     stopRequested);
      },
      stopRequested);
}
