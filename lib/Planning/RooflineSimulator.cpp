//===- RooflineSimulator.cpp - The cost library as a simulator ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/RooflineSimulator.h"
#include "shardopt/Cost/Breakdown.h"
#include "shardopt/Cost/Tables/Evaluate.h"
#include "shardopt/Model/AlikeLayers.h"
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

struct RooflineSimulator::Alike {
  Alike(const cost::CostModel &costs, cost::AlikeLayers joined)
      : costs(costs.withModel(std::move(joined.model))),
        variables(std::move(joined.variables)), tables(this->costs) {}

  const cost::CostModel costs;
  const std::vector<unsigned> variables;
  const TableCache tables;
};

RooflineSimulator::RooflineSimulator(const cost::CostModel &costs,
                                     DimSearch dimSearch)
    : costs(costs),
      usesTrellises(dimSearch != DimSearch::Selection && costs.hasTrellises()),
      selects(dimSearch != DimSearch::Shared), tables(costs) {
  if (usesTrellises || dimSearch == DimSearch::Selection)
    return;
  if (auto joined = cost::joinAlikeLayers(costs.model())) {
    auto made = std::make_unique<const Alike>(costs, std::move(*joined));
    if (made->costs.hasTrellises())
      alike = std::move(made);
  }
}

RooflineSimulator::~RooflineSimulator() = default;

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

std::optional<double>
RooflineSimulator::leastActivations(const Degrees &degrees,
                                    const search::DimDomains &domains) const {
  if (!costs.limits().limitsActivations())
    return std::nullopt;
  std::vector<cost::DimSet> sets = setsOf(domains);
  if (usesTrellises)
    return cost::leastLiveBytes(*tables.get(degrees), sets);
  if (!alike)
    return std::nullopt;
  // What any of the layers that are alike may have.
  std::vector<cost::DimSet> all(alike->costs.model().numVariables(), 0);
  for (size_t i = 0; i < sets.size(); ++i)
    all[alike->variables[i]] |= sets[i];
  return cost::leastLiveBytes(*alike->tables.get(degrees), all);
}

search::DegreeBound RooflineSimulator::bound(const Degrees &degrees,
                                             const search::DimDomains &domains,
                                             search::Goal goal) const {
  if (!costs.fits(degrees))
    return {Reason::Structural, 0};
  if (!usesTrellises)
    if (auto least = leastActivations(degrees, domains);
        least && *least > costs.limits().activationBytes)
      return {Reason::Activations, 0};
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

/// The optimum where layers that are alike have the same dims, and the cut that
/// it is for, with the evaluation of the model as it is, if it is valid there.
std::optional<search::Plan> RooflineSimulator::solveAlike(
    const Degrees &degrees, Span<const cost::DimSet> domains, search::Goal goal,
    std::optional<double> incumbent) const {
  std::vector<cost::DimSet> common(alike->costs.model().numVariables(),
                                   cost::allDims);
  for (size_t i = 0; i < domains.size(); ++i)
    common[alike->variables[i]] &= domains[i];
  std::optional<cost::Optimum> optimum =
      cost::optimalDims(*alike->tables.get(degrees), common, goal, incumbent);
  if (!optimum)
    return std::nullopt;
  search::Plan plan{{degrees, {}}, {}};
  plan.strategy.degrees.stages =
      cost::chooseStages(alike->costs, {degrees, optimum->dims});
  for (unsigned variable : alike->variables)
    plan.strategy.dims.push_back(optimum->dims[variable]);
  plan.evaluation = evaluate(plan.strategy);
  return plan.evaluation.valid ? std::optional(std::move(plan)) : std::nullopt;
}

/// The best dims that strategy selection finds, if they are as good as
/// `incumbent`, and the cut that they are for, where one is chosen. What may be
/// better is added to the missed bounds.
std::optional<search::Plan>
RooflineSimulator::select(const Degrees &degrees,
                          Span<const cost::DimSet> domains, search::Goal goal,
                          std::optional<double> incumbent) const {
  selection::ChoiceResult found;
  Degrees chosen = degrees;
  if (costs.balancesStages(degrees)) {
    selection::BalancedChoice balanced =
        selection::balancedChoice(costs, degrees, domains, goal, incumbent);
    found = std::move(balanced.choice);
    chosen.stages = std::move(balanced.cut);
  } else {
    selection::StrategyGraph graph(costs, degrees, domains);
    found = selection::optimalChoice(graph, goal, incumbent);
  }
  if (!found.proved && found.bound) {
    Lease lease(*this);
    cost::TableRequest request{degrees, std::nullopt, domains, lease.get()};
    double quick =
        cost::boundQuickly(costs, request, goal, /*walksLayers=*/true).value;
    if (search::isBetterValue(goal, *found.bound, quick))
      found.bound = quick;
    std::lock_guard<std::mutex> lock(mutex);
    double &bound = missed.try_emplace(goal, *found.bound).first->second;
    if (search::isBetterValue(goal, *found.bound, bound))
      bound = *found.bound;
  }
  if (!found.best)
    return std::nullopt;
  return search::Plan{{chosen, std::move(found.best->dims)},
                      found.best->evaluation};
}

std::optional<search::Plan>
RooflineSimulator::solve(const Degrees &degrees,
                         const search::DimDomains &domains, search::Goal goal,
                         std::optional<double> incumbent) const {
  std::vector<cost::DimSet> sets = setsOf(domains);
  if (usesTrellises) {
    Lease lease(*this);
    std::optional<cost::Optimum> optimum = cost::optimalDims(
        *tables.get(degrees, lease.get()), sets, goal, incumbent);
    if (!optimum)
      return std::nullopt;
    return search::Plan{{degrees, std::move(optimum->dims)},
                        optimum->evaluation};
  }
  if (!costs.fits(degrees))
    return std::nullopt;
  if (!alike)
    return select(degrees, sets, goal, incumbent);
  std::optional<search::Plan> plan = solveAlike(degrees, sets, goal, incumbent);
  if (!selects)
    return plan;
  search::Objective objective{goal};
  if (plan)
    incumbent = objective.value(plan->evaluation);
  std::optional<search::Plan> other = select(degrees, sets, goal, incumbent);
  bool isBetter =
      other && (!plan || objective.better(other->evaluation, plan->evaluation));
  return isBetter ? other : plan;
}
