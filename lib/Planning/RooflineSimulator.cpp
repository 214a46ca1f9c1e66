//===- RooflineSimulator.cpp - The cost library as a simulator ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/RooflineSimulator.h"
#include "shardopt/Cost/Breakdown.h"
#include "shardopt/Cost/Tables/Evaluate.h"
#include "shardopt/Search/Dims/BalancedChoice.h"
#include "shardopt/Search/Dims/QuickBound.h"

using namespace shardopt;

class RooflineSimulator::Lease {
public:
  explicit Lease(const RooflineSimulator &simulator) : simulator(simulator) {
    std::lock_guard<std::mutex> lock(simulator.mutex);
    if (simulator.unused.empty()) {
      costs = std::make_unique<cost::SharedCosts>();
      return;
    }
    costs = std::move(simulator.unused.back());
    simulator.unused.pop_back();
  }
  ~Lease() {
    std::lock_guard<std::mutex> lock(simulator.mutex);
    simulator.unused.push_back(std::move(costs));
  }
  Lease(const Lease &) = delete;
  Lease &operator=(const Lease &) = delete;

  cost::SharedCosts *get() const { return costs.get(); }

private:
  const RooflineSimulator &simulator;
  std::unique_ptr<cost::SharedCosts> costs;
};

std::vector<cost::DimSet>
RooflineSimulator::setsOf(const search::DimDomains &domains) {
  std::vector<cost::DimSet> sets;
  sets.reserve(domains.size());
  for (const search::DimDomain &domain : domains) {
    cost::DimSet set = 0;
    for (Dim dim : domain)
      set |= 1 << unsigned(dim);
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
  Lease lease(*this);
  std::vector<cost::DimSet> sets = setsOf(domains);
  cost::DimsBound bound =
      usesTrellises
          ? cost::boundDims(*tables.get(degrees, lease.get()), sets, goal)
          : cost::boundQuickly(
                costs, {degrees, std::nullopt, sets, lease.get()}, goal);
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
  Lease lease(*this);
  std::vector<cost::DimSet> sets = setsOf(domains);
  auto bound = [&](bool wholeSequences) {
    cost::TableRequest request{least, cost::BatchRange{most, wholeSequences},
                               sets, lease.get()};
    cost::DimsBound found =
        isQuick || !usesTrellises
            ? cost::boundQuickly(costs, request, goal)
            : cost::boundDims(cost::Tables(costs, request), sets, goal);
    return search::DegreeBound{found.infeasible, found.value};
  };
  // In decode all sequences are whole. Nothing is sharded on tokens over one
  // device, and no sequences where cp asks for heads or positions.
  cost::Context context = costs.context(least);
  if (!context.isPrefill() || least.tp == 1 || least.cp > 1)
    return bound(context.wholeSequences);
  Degrees last = least;
  last.batch = most;
  int64_t fewest = context.microBatch;
  int64_t largest = costs.context(last).microBatch;
  bool maybeWhole = largest / least.tp * least.tp >= fewest;
  if (!maybeWhole || fewest == largest)
    return bound(maybeWhole);
  search::DegreeBound result = bound(false);
  search::DegreeBound other = bound(true);
  bool isBetter = result.infeasible != Reason::None ||
                  (other.infeasible == Reason::None &&
                   search::isBetterValue(goal, other.bound, result.bound));
  return isBetter ? other : result;
}

std::optional<double> RooflineSimulator::missedBound(search::Goal goal) const {
  std::lock_guard<std::mutex> lock(mutex);
  auto at = missed.find(goal);
  return at == missed.end() ? std::nullopt : std::optional(at->second);
}

std::optional<search::Plan>
RooflineSimulator::solve(const Degrees &degrees,
                         const search::DimDomains &domains, search::Goal goal,
                         std::optional<double> incumbent) const {
  Lease lease(*this);
  std::optional<cost::Optimum> optimum;
  Degrees chosen = degrees;
  if (usesTrellises) {
    optimum = cost::optimalDims(*tables.get(degrees, lease.get()),
                                setsOf(domains), goal, incumbent);
  } else if (costs.fits(degrees)) {
    std::vector<cost::DimSet> sets = setsOf(domains);
    selection::ChoiceResult found;
    if (costs.balancesStages(degrees)) {
      selection::BalancedChoice balanced =
          selection::balancedChoice(costs, degrees, sets, goal, incumbent);
      found = std::move(balanced.choice);
      chosen.stages = std::move(balanced.cut);
    } else {
      selection::StrategyGraph graph(costs, degrees, sets);
      found = selection::optimalChoice(graph, goal, incumbent);
    }
    if (!found.proved && found.bound) {
      cost::TableRequest request{degrees, std::nullopt, sets, lease.get()};
      double quick =
          cost::boundQuickly(costs, request, goal, /*walksLayers=*/true).value;
      if (search::isBetterValue(goal, *found.bound, quick))
        found.bound = quick;
      std::lock_guard<std::mutex> lock(mutex);
      double &bound = missed.try_emplace(goal, *found.bound).first->second;
      if (search::isBetterValue(goal, *found.bound, bound))
        bound = *found.bound;
    }
    optimum = std::move(found.best);
  }
  if (!optimum)
    return std::nullopt;
  return search::Plan{{chosen, std::move(optimum->dims)}, optimum->evaluation};
}
