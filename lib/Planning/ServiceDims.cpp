//===- ServiceDims.cpp - Dims of ops that no engine gives them ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The exact search over the dims of a phase begins, and changes of single ops
// end it: requests are served by steps of several kinds, and a phase has one.
//
//===----------------------------------------------------------------------===//

#include "ServiceLoads.h"
#include "shardopt/Planning/OpCuts.h"
#include "shardopt/Planning/ServiceEvaluation.h"
#include "shardopt/Planning/ServiceSides.h"

#include <algorithm>
#include <cmath>

using namespace shardopt;
using namespace shardopt::service;

namespace {
/// The dims of one role of a plan.
class DimsOfRole {
public:
  /// What a worker serves, if that is more than `known`; else anything that is
  /// not.
  using Served = std::function<double(const WorkerLayout &, double known)>;

  /// Ops on one device keep their dim of `usual`. Dims with which no step of
  /// `mixes` takes less serve no more.
  DimsOfRole(const Side &side, const Degrees &degrees, std::vector<Dim> usual,
             Served served, std::vector<cost::StepMix> mixes)
      : side(side), degrees(degrees), served(std::move(served)),
        mixes(std::move(mixes)), nodes(side.costs().model().nodesByVariable()),
        best(usual), usual(std::move(usual)) {}

  /// From `dims` on changes the dim of one op after the other, as long as one
  /// gains.
  void improve(std::vector<Dim> dims);

  const std::vector<Dim> &dims() const { return best; }
  std::string spell(size_t op) const {
    return spellCut(*nodes[op], degrees, best[op]);
  }

private:
  /// Seconds of the steps, and bytes; none: the dims are illegal.
  std::vector<double> costsOf(const WorkerLayout &layout) const;

  const Side &side;
  const Degrees degrees;
  const Served served;
  const std::vector<cost::StepMix> mixes;
  const std::vector<const cost::Node *> nodes; ///< by variable
  std::vector<Dim> best;
  const std::vector<Dim> usual;
  double most = 0; ///< what `best` serves
};
} // namespace

std::vector<double> DimsOfRole::costsOf(const WorkerLayout &layout) const {
  std::vector<double> costs;
  if (!layout.steps->isLegal())
    return costs;
  for (const cost::StepMix &mix : mixes)
    costs.push_back(layout.steps->seconds(mix));
  costs.push_back(layout.leastBytes(mixes.front().context));
  return costs;
}

/// Whether any of `costs` is less than that of `others`.
static bool isAnyLess(const std::vector<double> &costs,
                      const std::vector<double> &others) {
  return !std::equal(
      costs.begin(), costs.end(), others.begin(), others.end(),
      [](double cost, double other) { return cost >= other * (1 - 1e-12); });
}

void DimsOfRole::improve(std::vector<Dim> dims) {
  // On one device dims differ in how parts of rows are rounded, and not in what
  // is computed.
  for (size_t op = 0; op < nodes.size(); ++op)
    if (!isCut(*nodes[op], degrees))
      dims[op] = usual[op];
  WorkerLayout first = side.layout(degrees, dims);
  std::vector<double> costs = costsOf(first);
  if (costs.empty())
    return;
  double reached = served(first, 0);
  for (bool isBetter = true; isBetter;) {
    isBetter = false;
    for (size_t op = 0; op < nodes.size(); ++op)
      for (const cost::DimChoice &choice : nodes[op]->op->choices()) {
        Dim before = dims[op];
        if (choice.dim == before || !isCut(*nodes[op], degrees))
          continue;
        dims[op] = choice.dim;
        WorkerLayout layout = side.layout(degrees, dims);
        std::vector<double> others = costsOf(layout);
        double found = !others.empty() && isAnyLess(others, costs)
                           ? served(layout, reached)
                           : 0;
        if (found > reached * (1 + 1e-9)) {
          reached = found;
          costs = std::move(others);
          isBetter = true;
        } else {
          dims[op] = before;
        }
      }
  }
  if (reached > most * (1 + 1e-9)) {
    most = reached;
    best = std::move(dims);
  }
}

namespace {
/// One plan, at whose load dims are chosen.
class PlanDims {
public:
  PlanDims(const ServiceSummary &summary, const Sides &sides,
           const ServicePlan &plan)
      : summary(summary), goal(summary.goal), sides(sides), plan(plan),
        given(givenBy(plan)),
        each(plan.decode.sequences / double(plan.decode.degrees.dp)),
        chunk(std::min(sides.engine.chunkTokens, goal.load.inputTokens)) {}

  std::optional<ServicePlan> find();

private:
  /// A step of the plan in which so many sequences of a group decode.
  cost::StepMix mixOf(double sequences, double tokens) const;
  void choose(const char *name, const Side &side, GivenRole &role,
              std::vector<cost::StepMix> mixes, DimsOfRole::Served served);
  void chooseTogether();
  void chooseApart();

  const ServiceSummary &summary;
  const ServiceGoal &goal;
  const Sides &sides;
  const ServicePlan &plan;
  GivenService given;
  const double each;  ///< sequences of a group that decode
  const double chunk; ///< tokens of a prompt in a step
  OwnDims found;
};
} // namespace

/// The dims with which a phase that is like `mix` takes least, exactly; none
/// where it is like neither.
static std::optional<std::vector<Dim>>
leastDims(const Side &side, const Degrees &degrees, const cost::StepMix &mix) {
  if (mix.tokens > 0 && mix.sequences > 0)
    return std::nullopt;
  bool isPrefill = mix.tokens > 0;
  double sequences = mix.sequences * double(degrees.pp);
  return side.leastDims(
      degrees,
      {isPrefill ? cost::Phase::Prefill : cost::Phase::Decode,
       std::max<int64_t>(1,
                         std::llround(isPrefill ? mix.prompt : mix.context))},
      std::max<int64_t>(1, std::llround(sequences)));
}

void PlanDims::choose(const char *name, const Side &side, GivenRole &role,
                      std::vector<cost::StepMix> mixes,
                      DimsOfRole::Served served) {
  std::vector<Dim> usual = side.usualDims(role.degrees);
  DimsOfRole dims(side, role.degrees, usual, std::move(served), mixes);
  dims.improve(usual);
  for (const cost::StepMix &mix : mixes)
    if (auto least = leastDims(side, role.degrees, mix))
      dims.improve(std::move(*least));
  if (dims.dims() == usual)
    return;
  role.dims = dims.dims();
  std::vector<std::string> ops = side.costs().model().opNames();
  for (size_t op = 0; op < ops.size(); ++op)
    if (role.dims[op] != usual[op])
      found.changed.push_back({name, ops[op], dims.spell(op)});
}

cost::StepMix PlanDims::mixOf(double sequences, double tokens) const {
  cost::StepMix mix;
  mix.sequences = sequences / double(plan.decode.degrees.pp);
  mix.context = goal.load.context();
  mix.drafts = goal.load.traits.drafts;
  mix.tokens = tokens;
  mix.prompt = goal.load.prompt();
  mix.cached = goal.load.traits.found;
  return mix;
}

void PlanDims::chooseTogether() {
  auto served = [this](const WorkerLayout &layout, double known) {
    cost::AggregatedLoop loop(layout.worker, sides.engine, goal.load);
    ServiceProof proof;
    ServiceShortage shortage;
    Loads<cost::AggregatedLoop> loads(loop, goal, proof, shortage);
    auto most = int64_t(loop.room());
    auto workers = double(plan.decode.workers);
    std::optional<Point> best =
        goal.load.concurrency <= 0 ? loads.best(most, known)
        : most > 0                 ? loads.at(goal.load.concurrency / workers)
                                   : std::nullopt;
    return best ? best->rate : 0;
  };
  choose("serve", *sides.decode, given.decode,
         {mixOf(each, 0), mixOf(0, chunk), mixOf(each, chunk)}, served);
}

void PlanDims::chooseApart() {
  const Side &reads =
      sides.prefill && given.isElsewhere ? *sides.prefill : *sides.decode;
  choose("prefill", reads, *given.prefill, {mixOf(0, chunk)},
         [this](const WorkerLayout &layout, double) {
           cost::DisaggregatedLoop alone({layout.worker, 1}, {layout.worker, 1},
                                         sides.engine, goal.load);
           return alone.hasRoom() ? alone.prefillRate() : 0;
         });
  cost::StepMix step = mixOf(each, 0);
  choose("decode", *sides.decode, given.decode, {step},
         [this, step](const WorkerLayout &layout, double) {
           return layout.worker.room(step.context) < each
                      ? 0
                      : 1 / layout.steps->seconds(step);
         });
}

std::optional<ServicePlan> PlanDims::find() {
  given.concurrency = 0;
  plan.prefill ? chooseApart() : chooseTogether();
  if (found.changed.empty())
    return std::nullopt;
  ServiceSummary judged = summary;
  judgeService(judged, sides, given);
  if (!judged.best() || !judged.breaches->empty())
    return std::nullopt;
  ServicePlan best = *judged.best();
  found.gain = gainOf(best, plan, goal);
  if (found.gain <= usualTie)
    return std::nullopt;
  best.ownDims = std::move(found);
  return best;
}

void service::giveDims(ServiceSummary &summary, const Sides &sides) {
  const ServicePlan *best = summary.best();
  // At a rate devices count, and dims spare none of them. Where many loads are
  // as good, the best takes long to find. None are tried of micro-batches.
  if (!best || summary.engine || best->ownDims || summary.goal.rate > 0 ||
      summary.goal.isGoodput || summary.proof.gap > 0 ||
      summary.goal.isStopped() || best->decode.overlaps ||
      (best->prefill && best->prefill->overlaps))
    return;
  if (auto own = PlanDims(summary, sides, *best).find())
    (best->prefill ? summary.disaggregated : summary.aggregated) =
        std::move(own);
}
