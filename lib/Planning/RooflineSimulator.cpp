//===- RooflineSimulator.cpp - The cost library as a simulator ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/RooflineSimulator.h"
#include "shardopt/Cost/Breakdown.h"
#include "shardopt/Cost/Evaluate.h"
#include "shardopt/Cost/QuickBound.h"
#include "shardopt/Selection/OptimalChoice.h"

using namespace shardopt;

static cost::Objective objectiveOf(search::Goal goal) {
  return goal == search::Goal::Latency ? cost::Objective::Latency
                                       : cost::Objective::Throughput;
}

std::vector<cost::DimSet>
RooflineSimulator::setsOf(const search::DimDomains &domains) {
  std::vector<cost::DimSet> sets;
  sets.reserve(domains.size());
  for (const search::DimDomain &domain : domains) {
    cost::DimSet set = 0;
    for (Dim dim : domain)
      set |= 1 << static_cast<unsigned>(dim);
    sets.push_back(set);
  }
  return sets;
}

Evaluation RooflineSimulator::evaluate(const Strategy &strategy) const {
  if (!usesTrellises)
    return cost::breakdown(costs, strategy).evaluation;
  return cost::evaluate(*tables.get(strategy.degrees), strategy.dims);
}

search::DegreeBound RooflineSimulator::bound(const Degrees &degrees,
                                             const search::DimDomains &domains,
                                             search::Goal goal) const {
  if (!costs.fits(degrees))
    return {Reason::Structural, 0};
  const std::vector<cost::DimSet> sets = setsOf(domains);
  const cost::Objective objective = objectiveOf(goal);
  const cost::DimsBound bound =
      usesTrellises
          ? cost::boundDims(*tables.get(degrees), sets, objective)
          : cost::boundQuickly(costs, {degrees, std::nullopt, sets}, objective);
  return {bound.infeasible, bound.value};
}

/// Where sequences can stay cut for some of the batches only, the better of
/// both bounds.
std::optional<search::DegreeBound>
RooflineSimulator::boundBatches(const Degrees &least, int64_t most,
                                const search::DimDomains &domains,
                                search::Goal goal, bool isQuick) const {
  if (!costs.fits(least))
    return search::DegreeBound{Reason::Structural, 0};
  const std::vector<cost::DimSet> sets = setsOf(domains);
  auto bound = [&](bool wholeSequences) {
    const cost::TableRequest request{
        least, cost::BatchRange{most, wholeSequences}, sets};
    const cost::Objective objective = objectiveOf(goal);
    const cost::DimsBound found =
        isQuick || !usesTrellises
            ? cost::boundQuickly(costs, request, objective)
            : cost::boundDims(cost::Tables(costs, request), sets, objective);
    return search::DegreeBound{found.infeasible, found.value};
  };
  const cost::Context context = costs.context(least);
  search::DegreeBound result = bound(context.wholeSequences);
  // In decode all sequences are whole; one batch is what it is.
  if (most == least.batch || !context.isPrefill())
    return result;
  const search::DegreeBound other = bound(!context.wholeSequences);
  const bool isBetter =
      result.infeasible != Reason::None ||
      (other.infeasible == Reason::None &&
       search::isBetterValue(goal, other.bound, result.bound));
  return isBetter ? other : result;
}

std::optional<search::Plan>
RooflineSimulator::solve(const Degrees &degrees,
                         const search::DimDomains &domains, search::Goal goal,
                         std::optional<double> incumbent) const {
  std::optional<cost::Optimum> optimum;
  if (usesTrellises) {
    optimum = cost::optimalDims(*tables.get(degrees), setsOf(domains),
                                objectiveOf(goal), incumbent);
  } else if (costs.fits(degrees)) {
    const std::vector<cost::DimSet> sets = setsOf(domains);
    const selection::StrategyGraph graph(costs, degrees, sets);
    selection::ChoiceResult found =
        selection::optimalChoice(graph, objectiveOf(goal), incumbent);
    if (!found.proved)
      isUnproved = true;
    optimum = std::move(found.best);
  }
  if (!optimum)
    return std::nullopt;
  return search::Plan{{degrees, std::move(optimum->dims)}, optimum->evaluation};
}
