//===- RooflineSimulator.cpp - The cost library as a simulator ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/RooflineSimulator.h"
#include "shardopt/Cost/Evaluate.h"

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
  return cost::evaluate(*tables.get(strategy.degrees), strategy.dims);
}

search::DegreeBound RooflineSimulator::bound(const Degrees &degrees,
                                             const search::DimDomains &domains,
                                             search::Goal goal) const {
  if (!costs.fits(degrees))
    return {Reason::Structural, 0};
  cost::DimsBound bound =
      cost::boundDims(*tables.get(degrees), setsOf(domains), objectiveOf(goal));
  return {bound.infeasible, bound.value};
}

std::optional<search::Plan>
RooflineSimulator::solve(const Degrees &degrees,
                         const search::DimDomains &domains, search::Goal goal,
                         std::optional<double> incumbent) const {
  std::optional<cost::Optimum> optimum = cost::optimalDims(
      *tables.get(degrees), setsOf(domains), objectiveOf(goal), incumbent);
  if (!optimum)
    return std::nullopt;
  return search::Plan{{degrees, std::move(optimum->dims)}, optimum->evaluation};
}
