//===- JointPlan.cpp - Dims, stages and order together --------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Ordering/JointPlan.h"

#include "shardopt/Cost/Evaluate.h"
#include "shardopt/Cost/OptimalDims.h"
#include "shardopt/Ordering/RingOrder.h"

#include <algorithm>
#include <limits>
#include <set>

using namespace shardopt;
using namespace shardopt::ordering;
using cost::StageDivision;

namespace {

/// Times in which collectives take a part of their time.
class PartlyHidden final : public cost::TimeModel {
public:
  PartlyHidden(std::shared_ptr<const cost::TimeModel> whole, double part)
      : whole(std::move(whole)), part(part) {}

  using TimeModel::seconds;
  double seconds(const cost::Kernel &kernel) const override {
    return whole->seconds(kernel);
  }
  double seconds(const cost::Collective &collective,
                 const Degrees &degrees) const override {
    return part * whole->seconds(collective, degrees);
  }
  bool isComputeBound(const cost::Kernel &kernel) const override {
    return whole->isComputeBound(kernel);
  }

private:
  const std::shared_ptr<const cost::TimeModel> whole;
  const double part;
};

class JointSearch {
public:
  JointSearch(const JointProblem &problem, const JointOptions &options)
      : problem(problem), options(options), costs(costsOf(1, {})),
        budget(options.timeLimit, 0, options.stop) {}

  ErrorOr<JointPlan> run();

private:
  cost::CostModel costsOf(double part, StageDivision division) const {
    return costsOf(part, division, problem.memoryBytes);
  }
  cost::CostModel costsOf(double part, StageDivision division,
                          double memoryBytes) const;
  std::optional<Strategy> optimum(double part, StageDivision division) const;
  double boundFor(int64_t chunks) const;
  double boundFor(int64_t inFlight, int64_t chunks) const;
  double bound() const;
  schedule::SolverOptions solverOptions() const;
  ErrorOr<JointChoice> orderOf(const Strategy &strategy) const;
  ErrorOr<JointChoice> ringOf(const Strategy &strategy) const;
  std::optional<JointChoice> score(const Strategy &strategy);
  std::vector<Strategy> neighbours(const Strategy &strategy) const;

  const JointProblem &problem;
  const JointOptions &options;
  const cost::CostModel costs; ///< all collectives counted
  const schedule::Budget budget;
  std::set<std::pair<std::vector<int64_t>, std::vector<Dim>>> known;
  int64_t evaluated = 0;
  std::optional<Error> firstError; ///< of what was not ordered
};

} // namespace

/// In which `part` of what is sent counts.
cost::CostModel JointSearch::costsOf(double part, StageDivision division,
                                     double memoryBytes) const {
  cost::Limits limits;
  limits.memoryBytes = memoryBytes;
  limits.latencySeconds = std::numeric_limits<double>::infinity();
  return cost::CostModel(problem.model,
                         std::make_shared<PartlyHidden>(problem.time, part),
                         problem.skew, limits, division);
}

/// The strategy of the least time of a step there, with its stages.
std::optional<Strategy> JointSearch::optimum(double part,
                                             StageDivision division) const {
  const cost::CostModel own = costsOf(part, division);
  const std::vector<cost::DimSet> domains(own.model().numVariables(),
                                          cost::allDims);
  std::optional<cost::Optimum> best = cost::optimalDims(
      cost::Tables(own, problem.degrees), domains, Goal::Latency);
  if (!best)
    return std::nullopt;
  Strategy strategy{problem.degrees, best->dims};
  strategy.degrees.stages = cost::chooseStages(own, strategy);
  return strategy;
}

/// What any step takes that is cut into so many chunks: as long as its busiest
/// stage computes, once for each chunk, and as a chunk takes through all.
double JointSearch::boundFor(int64_t chunks) const {
  const cost::CostModel free = costsOf(0, StageDivision::Balanced);
  const cost::Context whole = free.context(problem.degrees);
  Degrees part = problem.degrees;
  if (chunks > 1)
    part.batch =
        part.dp * whole.microBatches * ceilDiv(whole.microBatch, chunks);
  const std::vector<cost::DimSet> domains(free.model().numVariables(),
                                          cost::allDims);
  std::optional<cost::Optimum> best =
      cost::optimalDims(cost::Tables(free, part), domains, Goal::Latency);
  if (!best)
    return std::numeric_limits<double>::infinity();
  // With as many micro-batches as stages it is the busiest stage that limits
  // the latency of the cost model.
  const bool isFull = whole.microBatches == part.pp;
  return best->evaluation.latencyMs * 1e6 * double(isFull ? chunks : 1);
}

/// What any turn takes of so many groups: the work of its busiest stage for all
/// of them.
double JointSearch::boundFor(int64_t inFlight, int64_t chunks) const {
  // As many of these groups as stages may be more than fits.
  const cost::CostModel free = costsOf(0, StageDivision::Balanced,
                                       std::numeric_limits<double>::infinity());
  const cost::Context whole = free.context(problem.degrees);
  Degrees group = problem.degrees;
  group.batch = group.dp * group.pp *
                ceilDiv(ceilDiv(whole.groupBatch, inFlight), chunks);
  const std::vector<cost::DimSet> domains(free.model().numVariables(),
                                          cost::allDims);
  std::optional<cost::Optimum> best =
      cost::optimalDims(cost::Tables(free, group), domains, Goal::Latency);
  if (!best)
    return std::numeric_limits<double>::infinity();
  // Its latency is that of the busiest stage for pp of them.
  return best->evaluation.latencyMs * 1e6 * double(inFlight * chunks) /
         double(group.pp);
}

double JointSearch::bound() const {
  const cost::Context whole = costs.context(problem.degrees);
  double least = std::numeric_limits<double>::infinity();
  for (int64_t chunks : options.chunks) {
    if (options.inFlight.empty() && chunks <= whole.microBatch)
      least = std::min(least, boundFor(chunks));
    for (int64_t inFlight : options.inFlight)
      if (inFlight <= whole.groupBatch &&
          chunks <= ceilDiv(whole.groupBatch, inFlight))
        least = std::min(least, boundFor(inFlight, chunks));
  }
  return least;
}

schedule::SolverOptions JointSearch::solverOptions() const {
  schedule::SolverOptions solver;
  solver.timeLimit = 0;
  // Hundreds of plans are ordered: by what takes moments for each.
  solver.backend = "rules";
  solver.rounds = options.rounds;
  solver.stop = options.stop;
  return solver;
}

ErrorOr<JointChoice> JointSearch::orderOf(const Strategy &strategy) const {
  OrderOptions order;
  order.chunks = options.chunks;
  order.solver = solverOptions();
  ErrorOr<std::vector<OrderedStep>> steps = orderStep(costs, strategy, order);
  if (!steps)
    return steps.error();
  auto best = std::min_element(
      steps->begin(), steps->end(),
      [](const auto &a, const auto &b) { return a.contended < b.contended; });
  return JointChoice{strategy, 0, best->step.chunks, best->result.value,
                     best->contended};
}

ErrorOr<JointChoice> JointSearch::ringOf(const Strategy &strategy) const {
  RingOptions ring;
  ring.inFlight = options.inFlight;
  ring.chunks = options.chunks;
  ring.solver = solverOptions();
  // What kernels lose beside transfers is no part of the bounds.
  ring.prunes = false;
  ErrorOr<std::vector<OrderedRing>> rings = orderRings(costs, strategy, ring);
  if (!rings)
    return rings.error();
  auto best = std::min_element(
      rings->begin(), rings->end(),
      [](const auto &a, const auto &b) { return a.contended < b.contended; });
  return JointChoice{strategy, best->inFlight, best->step.chunks,
                     best->turn.period, best->contended};
}

/// None for what does not fit, and for what was scored before.
std::optional<JointChoice> JointSearch::score(const Strategy &strategy) {
  if (!known.insert({strategy.degrees.stages.layers, strategy.dims}).second)
    return std::nullopt;
  if (!cost::evaluate(costs, strategy).valid)
    return std::nullopt;
  ErrorOr<JointChoice> choice =
      options.inFlight.empty() ? orderOf(strategy) : ringOf(strategy);
  if (!choice) {
    if (!firstError)
      firstError = choice.error();
    return std::nullopt;
  }
  ++evaluated;
  return std::move(*choice);
}

/// One layer moved over a boundary, or one dim changed.
std::vector<Strategy> JointSearch::neighbours(const Strategy &strategy) const {
  std::vector<Strategy> result;
  const int64_t pp = strategy.degrees.pp;
  StageCut cut = strategy.degrees.stages;
  if (cut.isEmpty())
    cut = evenCut(costs.layers().numLayers(), pp);
  for (int64_t s = 0; s + 1 < pp; ++s)
    for (int64_t step : {-1, 1}) {
      Strategy moved = strategy;
      moved.degrees.stages = cut;
      std::vector<int64_t> &layers = moved.degrees.stages.layers;
      layers[s] += step;
      layers[s + 1] -= step;
      if (layers[s] > 0 && layers[s + 1] > 0)
        result.push_back(std::move(moved));
    }
  for (const cost::Node *node : costs.model().nodesByVariable())
    for (const cost::DimChoice &choice : node->op->choices()) {
      Strategy changed = strategy;
      changed.dims[node->variable] = choice.dim;
      if (changed.dims != strategy.dims)
        result.push_back(std::move(changed));
    }
  return result;
}

ErrorOr<JointPlan> JointSearch::run() {
  if (std::optional<std::string> error = costs.structuralError(problem.degrees))
    return Error{"the strategy is invalid: " + *error};
  JointPlan plan;
  plan.bound = bound();
  std::optional<Strategy> first = optimum(1, StageDivision::Even);
  if (!first)
    first = optimum(1, StageDivision::Balanced);
  if (!first)
    return Error{"no dims of these degrees fit into the memory of a device"};
  if (first->degrees.stages.isEmpty())
    first->degrees.stages =
        cost::chooseStages(costsOf(1, StageDivision::Balanced), *first);
  std::optional<JointChoice> best = score(*first);
  if (!best)
    return firstError ? *firstError
                      : Error{"the optimum of these degrees is no valid plan"};
  plan.sequential = *best;
  for (double part : {1.0, 0.75, 0.5, 0.25, 0.0}) {
    if (budget.isOver())
      break;
    if (std::optional<Strategy> start = optimum(part, StageDivision::Balanced))
      if (std::optional<JointChoice> found = score(*start))
        if (found->contended < best->contended)
          best = found;
  }
  for (int64_t moves = 0; !plan.isSettled && moves < options.mostMoves;
       ++moves) {
    std::optional<JointChoice> better;
    for (const Strategy &next : neighbours(best->strategy)) {
      if (budget.isOver())
        break;
      std::optional<JointChoice> found = score(next);
      if (found && found->contended < (better ? better : best)->contended)
        better = found;
    }
    if (better)
      best = better;
    if (budget.isOver())
      break;
    plan.isSettled = !better;
  }
  plan.joint = *best;
  plan.evaluated = evaluated;
  return plan;
}

ErrorOr<JointPlan> ordering::planJointly(const JointProblem &problem,
                                         const JointOptions &options) {
  JointProblem own = problem;
  own.degrees.stages = {};
  return JointSearch(own, options).run();
}
