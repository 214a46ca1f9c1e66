//===- JointPlan.cpp - Dims, stages and order together --------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/Ordering/JointPlan.h"

#include "shardopt/Cost/Breakdown.h"
#include "shardopt/Cost/Tables/Evaluate.h"
#include "shardopt/Planning/Ordering/RingOrder.h"
#include "shardopt/Search/Dims/OptimalDims.h"
#include "shardopt/Search/Dims/QuickBound.h"

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

Degrees uncut(Degrees degrees) {
  degrees.stages = {};
  return degrees;
}

class JointSearch {
public:
  JointSearch(const JointProblem &problem, const JointOptions &options)
      : problem(problem), options(options), degrees(uncut(problem.degrees)),
        costs(costsOf(1, {})), budget(options.timeLimit, 0, options.stop) {}

  ErrorOr<JointPlan> run();

private:
  cost::CostModel costsOf(double part, StageDivision division) const {
    return costsOf(part, division, problem.memoryBytes);
  }
  cost::CostModel costsOf(double part, StageDivision division,
                          double memoryBytes) const;
  Evaluation evaluate(const Strategy &strategy) const {
    return costs.hasTrellises() ? cost::evaluate(costs, strategy)
                                : cost::breakdown(costs, strategy).evaluation;
  }
  std::optional<Strategy> optimum(double part, StageDivision division) const;
  double boundFor(int64_t chunks) const;
  double boundFor(int64_t inFlight, int64_t chunks) const;
  double bound() const;
  schedule::SolverOptions answering() const;
  schedule::SolverOptions searching() const;
  ErrorOr<std::vector<JointChoice>>
  ordersOf(const Strategy &strategy, const schedule::SolverOptions &solver,
           std::optional<double> atMost = {}) const;
  double worthTrying() const;
  const JointChoice *bestOf(const std::vector<JointChoice> &choices) const;
  ErrorOr<Strategy> givenStrategy() const;
  std::optional<Error> orderGiven();
  bool improve(const Strategy &strategy);
  void improveByStarts();
  bool improveByMoves();
  void orderAgain();
  std::vector<Strategy> neighbours(const Strategy &strategy) const;

  const JointProblem &problem;
  const JointOptions &options;
  const Degrees degrees;       ///< without stages
  const cost::CostModel costs; ///< all collectives counted
  const schedule::Budget budget;
  std::set<std::pair<std::vector<int64_t>, std::vector<Dim>>> known;
  JointPlan plan;
};

} // namespace

/// In which `part` of what is sent counts.
cost::CostModel JointSearch::costsOf(double part, StageDivision division,
                                     double memoryBytes) const {
  cost::Limits limits;
  limits.memoryBytes = memoryBytes;
  // What is free of the one limit may be groups that the other is not for.
  if (memoryBytes < std::numeric_limits<double>::infinity())
    limits.activationBytes = problem.activationBytes;
  limits.latencySeconds = std::numeric_limits<double>::infinity();
  return cost::CostModel(problem.model,
                         std::make_shared<PartlyHidden>(problem.time, part),
                         problem.skew, limits, division);
}

/// The strategy of the least time of a step there, with its stages.
std::optional<Strategy> JointSearch::optimum(double part,
                                             StageDivision division) const {
  if (!costs.hasTrellises())
    return std::nullopt;
  cost::CostModel own = costsOf(part, division);
  std::vector<cost::DimSet> domains(own.model().numVariables(), cost::allDims);
  std::optional<cost::Optimum> best =
      cost::optimalDims(cost::Tables(own, degrees), domains, Goal::Latency);
  if (!best)
    return std::nullopt;
  Strategy strategy{degrees, best->dims};
  strategy.degrees.stages = cost::chooseStages(own, strategy);
  return strategy;
}

/// In nanoseconds, of any dims; infinite if none are valid.
static double leastLatency(const cost::CostModel &costs,
                           const Degrees &degrees) {
  constexpr double none = std::numeric_limits<double>::infinity();
  std::vector<cost::DimSet> domains(costs.model().numVariables(),
                                    cost::allDims);
  if (!costs.hasTrellises()) {
    cost::DimsBound bound = cost::boundQuickly(
        costs, {degrees, std::nullopt, domains, nullptr}, Goal::Latency);
    return bound.infeasible == Reason::None ? bound.value * 1e6 : none;
  }
  std::optional<cost::Optimum> best =
      cost::optimalDims(cost::Tables(costs, degrees), domains, Goal::Latency);
  return best ? best->evaluation.latencyMs * 1e6 : none;
}

/// What any step takes that has so many chunks: as long as its busiest
/// stage computes, once for each chunk, and as a chunk takes through all.
double JointSearch::boundFor(int64_t chunks) const {
  cost::CostModel free = costsOf(0, StageDivision::Balanced);
  cost::Context whole = free.context(degrees);
  Degrees part = degrees;
  if (chunks > 1)
    part.batch =
        part.dp * whole.microBatches * ceilDiv(whole.microBatch, chunks);
  // With as many micro-batches as stages it is the busiest stage that limits
  // the latency of the cost model.
  bool isFull = whole.microBatches == part.pp;
  return leastLatency(free, part) * double(isFull ? chunks : 1);
}

/// What any turn takes of so many groups: the work of its busiest stage for all
/// of them.
double JointSearch::boundFor(int64_t inFlight, int64_t chunks) const {
  // As many of these groups as stages may be more than fits.
  cost::CostModel free = costsOf(0, StageDivision::Balanced,
                                 std::numeric_limits<double>::infinity());
  cost::Context whole = free.context(degrees);
  Degrees group = degrees;
  group.batch = group.dp * group.pp *
                ceilDiv(ceilDiv(whole.groupBatch, inFlight), chunks);
  // Its latency is that of the busiest stage for pp of them.
  return leastLatency(free, group) * double(inFlight * chunks) /
         double(group.pp);
}

double JointSearch::bound() const {
  cost::Context whole = costs.context(degrees);
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

/// Of orders that are answers.
schedule::SolverOptions JointSearch::answering() const {
  schedule::SolverOptions solver;
  constexpr double part = 0.25, least = 1e-3; // 0 would be no limit
  if (options.timeLimit > 0)
    solver.timeLimit = std::max(least, part * budget.secondsLeft());
  else
    solver.timeLimit = 0;
  solver.rounds = options.rounds;
  solver.stop = options.stop;
  return solver;
}

/// Hundreds of plans are ordered: by what takes moments for each.
schedule::SolverOptions JointSearch::searching() const {
  schedule::SolverOptions solver = answering();
  solver.timeLimit = 0;
  solver.backend = "rules";
  constexpr int64_t few = 8;
  solver.rounds = std::min(options.rounds, few);
  return solver;
}

/// The strategy in all chunks and micro-batches that are tried. Rings whose
/// turn is longer than `atMost` by their bound are left out; without it, those
/// that cannot have the shortest.
ErrorOr<std::vector<JointChoice>>
JointSearch::ordersOf(const Strategy &strategy,
                      const schedule::SolverOptions &solver,
                      std::optional<double> atMost) const {
  std::vector<JointChoice> choices;
  if (options.inFlight.empty()) {
    ErrorOr<std::vector<OrderedStep>> steps =
        orderStep(costs, strategy, {solver, options.chunks});
    if (!steps)
      return steps.error();
    for (OrderedStep &step : *steps) {
      auto own = std::make_shared<const OrderedStep>(std::move(step));
      choices.push_back({strategy, 0, own->step.chunks, own->result.value,
                         own->contended, own});
    }
    return choices;
  }
  RingOptions wanted{solver, options.inFlight, options.chunks};
  // What kernels lose during transfers is no part of the bounds, and the least
  // planned is no longer all that is asked for.
  wanted.prunes = !atMost;
  wanted.atMost = atMost;
  ErrorOr<std::vector<OrderedRing>> rings = orderRings(costs, strategy, wanted);
  if (!rings)
    return rings.error();
  for (OrderedRing &ring : *rings) {
    auto own = std::make_shared<const OrderedRing>(std::move(ring));
    choices.push_back({strategy, own->inFlight, own->step.chunks,
                       own->turn.period, own->contended, nullptr, own});
  }
  return choices;
}

/// What is planned longer is no better than the joint plan.
double JointSearch::worthTrying() const {
  return std::min(double(plan.sequential.planned), plan.joint.contended);
}

/// The one that is better than the joint plan by most; null if none is.
const JointChoice *
JointSearch::bestOf(const std::vector<JointChoice> &choices) const {
  const JointChoice *best = nullptr;
  for (const JointChoice &choice : choices)
    if (choice.planned <= plan.sequential.planned &&
        choice.contended < (best ? best : &plan.joint)->contended)
      best = &choice;
  return best;
}

/// That of the problem, or the optimum that stands for it.
ErrorOr<Strategy> JointSearch::givenStrategy() const {
  if (!problem.dims.empty()) {
    Strategy given{problem.degrees, problem.dims};
    if (evaluate(given).valid)
      return given;
    return Error{"the strategy does not fit into the memory of a device"};
  }
  std::optional<Strategy> first = optimum(1, StageDivision::Even);
  if (!first)
    first = optimum(1, StageDivision::Balanced);
  if (!first)
    return Error{"no dims of these degrees fit into the memory of a device"};
  if (first->degrees.stages.isEmpty())
    first->degrees.stages =
        cost::chooseStages(costsOf(1, StageDivision::Balanced), *first);
  return *first;
}

/// As `--llm-schedule-stages` does: the least planned, of several the first.
std::optional<Error> JointSearch::orderGiven() {
  ErrorOr<Strategy> given = givenStrategy();
  if (!given)
    return given.error();
  known.insert({given->degrees.stages.layers, given->dims});
  Evaluation own = evaluate(*given);
  if (!own.valid)
    return Error{"the optimum of these degrees is no valid plan"};
  plan.own = own.latencyMs * 1e6;
  ErrorOr<std::vector<JointChoice>> choices = ordersOf(*given, answering());
  if (!choices)
    return choices.error();
  plan.evaluated = 1;
  plan.sequential = *std::min_element(
      choices->begin(), choices->end(),
      [](const auto &a, const auto &b) { return a.planned < b.planned; });
  if (const auto &step = plan.sequential.step)
    plan.own = double(step->serial);
  plan.joint = plan.sequential;
  return std::nullopt;
}

/// Orders a strategy that fits and was not ordered before. Whether it is better
/// than the joint plan, and taken for it.
bool JointSearch::improve(const Strategy &strategy) {
  if (!known.insert({strategy.degrees.stages.layers, strategy.dims}).second ||
      !evaluate(strategy).valid)
    return false;
  ErrorOr<std::vector<JointChoice>> choices =
      ordersOf(strategy, searching(), worthTrying());
  if (!choices)
    return false;
  ++plan.evaluated;
  const JointChoice *better = bestOf(*choices);
  if (better)
    plan.joint = *better;
  return better;
}

void JointSearch::improveByStarts() {
  for (StageDivision division : {StageDivision::Even, StageDivision::Balanced})
    for (double part : {1.0, 0.75, 0.5, 0.25, 0.0}) {
      if (budget.isOver())
        return;
      if (std::optional<Strategy> start = optimum(part, division))
        improve(*start);
    }
}

/// Makes the best single move. Whether one helped.
bool JointSearch::improveByMoves() {
  bool isBetter = false;
  for (const Strategy &next : neighbours(plan.joint.strategy)) {
    if (budget.isOver())
      break;
    isBetter |= improve(next);
  }
  return isBetter;
}

/// What was found among many is ordered with as much care as the strategy.
void JointSearch::orderAgain() {
  if (plan.joint.strategy == plan.sequential.strategy || budget.isOver())
    return;
  ErrorOr<std::vector<JointChoice>> choices =
      ordersOf(plan.joint.strategy, answering(), worthTrying());
  if (choices)
    if (const JointChoice *better = bestOf(*choices))
      plan.joint = *better;
}

/// One layer moved over a boundary or, of a model with trellises, one dim
/// changed.
std::vector<Strategy> JointSearch::neighbours(const Strategy &strategy) const {
  std::vector<Strategy> result;
  int64_t pp = strategy.degrees.pp;
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
  // A single dim of one layer among many is worth next to nothing.
  if (!costs.hasTrellises())
    return result;
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
  if (std::optional<std::string> error = costs.structuralError(degrees))
    return Error{"the strategy is invalid: " + *error};
  plan.bound = bound();
  if (std::optional<Error> error = orderGiven())
    return *error;
  improveByStarts();
  for (int64_t moves = 0; !plan.isSettled && moves < options.mostMoves;
       ++moves) {
    bool isBetter = improveByMoves();
    if (budget.isOver())
      break;
    plan.isSettled = !isBetter;
  }
  orderAgain();
  // Planned times of operators are rounded to nanoseconds, those bounded not.
  plan.bound = std::min(plan.bound, double(plan.joint.planned));
  return std::move(plan);
}

std::vector<int64_t> ordering::usualInFlight(const cost::CostModel &costs,
                                             const Degrees &degrees) {
  cost::Context whole = costs.context(degrees);
  std::vector<int64_t> inFlight;
  for (int64_t count = std::max<int64_t>(1, whole.microBatches - 1);
       count <= std::min(whole.microBatches + 1, whole.groupBatch); ++count)
    inFlight.push_back(count);
  return inFlight;
}

ErrorOr<JointPlan> ordering::planJointly(const JointProblem &problem,
                                         const JointOptions &options) {
  return JointSearch(problem, options).run();
}

ErrorOr<JointPlan>
ordering::planJointly(std::shared_ptr<const cost::CostModel> costs,
                      std::optional<double> skew, const Strategy &strategy,
                      const JointOptions &options) {
  const cost::Model &model = costs->model();
  if (model.workload.phase == cost::Phase::Prefill)
    return Error{"'joint' is for decode, found prefill"};
  return planJointly({model,
                      {costs, &costs->time()},
                      skew,
                      costs->limits().memoryBytes,
                      strategy.degrees,
                      strategy.dims,
                      costs->limits().activationBytes},
                     options);
}
