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
  using Served = std::function<double(const Layout &, double known)>;

  /// Ops on one device keep their dim of `usual`.
  DimsOfRole(const Side &side, const Degrees &degrees, std::vector<Dim> usual,
             Served served)
      : side(side), degrees(degrees), served(std::move(served)),
        nodes(side.costs().model().nodesByVariable()), best(usual),
        usual(std::move(usual)) {}

  /// From `dims` on changes the dim of one op after the other, as long as one
  /// gains.
  void improve(std::vector<Dim> dims);

  const std::vector<Dim> &dims() const { return best; }
  std::string spell(size_t op) const {
    return spellCut(*nodes[op], degrees, best[op]);
  }

private:
  double value(const std::vector<Dim> &dims, double known) const {
    const Layout layout = side.layout(degrees, dims);
    return layout.steps->isLegal() ? served(layout, known) : 0;
  }

  const Side &side;
  const Degrees degrees;
  const Served served;
  const std::vector<const cost::Node *> nodes; ///< by variable
  std::vector<Dim> best;
  const std::vector<Dim> usual;
  double most = 0; ///< what `best` serves
};
} // namespace

void DimsOfRole::improve(std::vector<Dim> dims) {
  // On one device dims differ in how parts of rows are rounded, and not in what
  // is computed.
  for (size_t op = 0; op < nodes.size(); ++op)
    if (!isCut(*nodes[op], degrees))
      dims[op] = usual[op];
  double least = value(dims, 0);
  for (bool isBetter = true; isBetter;) {
    isBetter = false;
    for (size_t op = 0; op < nodes.size(); ++op)
      for (const cost::DimChoice &choice : nodes[op]->op->choices()) {
        const Dim before = dims[op];
        if (choice.dim == before || !isCut(*nodes[op], degrees))
          continue;
        dims[op] = choice.dim;
        const double found = value(dims, least);
        if (found > least * (1 + 1e-9)) {
          least = found;
          isBetter = true;
        } else {
          dims[op] = before;
        }
      }
  }
  if (least > most * (1 + 1e-9)) {
    most = least;
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
        given(givenBy(plan)) {}

  std::optional<FreeDims> find();

private:
  /// Sequences of a group of `role` in a step.
  static double eachOf(const ServiceRole &role) {
    return role.sequences / static_cast<double>(role.degrees.dp);
  }
  void choose(const char *name, const Side &side, GivenRole &role,
              std::vector<cost::Workload> workloads, int64_t each,
              DimsOfRole::Served served);
  void chooseTogether();
  void chooseApart();

  const ServiceSummary &summary;
  const ServiceGoal &goal;
  const Sides &sides;
  const ServicePlan &plan;
  GivenService given;
  FreeDims found;
};
} // namespace

void PlanDims::choose(const char *name, const Side &side, GivenRole &role,
                      std::vector<cost::Workload> workloads, int64_t each,
                      DimsOfRole::Served served) {
  const std::vector<Dim> usual = side.dimsOf(std::nullopt, role.degrees);
  DimsOfRole dims(side, role.degrees, usual, std::move(served));
  dims.improve(usual);
  for (const cost::Workload &workload : workloads)
    if (auto least = side.leastDims(role.degrees, workload, each))
      dims.improve(std::move(*least));
  if (dims.dims() == usual)
    return;
  role.dims = dims.dims();
  const std::vector<std::string> ops = side.costs().model().opNames();
  for (size_t op = 0; op < ops.size(); ++op)
    if (role.dims[op] != usual[op])
      found.changed.push_back({name, ops[op], dims.spell(op)});
}

static cost::Workload workloadOf(cost::Phase phase, double tokens) {
  return {phase, std::max<int64_t>(1, std::llround(tokens))};
}

void PlanDims::chooseTogether() {
  choose("serve", *sides.decode, given.decode,
         {workloadOf(cost::Phase::Decode, longestOf(goal)),
          workloadOf(cost::Phase::Prefill, goal.load.inputTokens)},
         std::max<int64_t>(1, std::llround(eachOf(plan.decode))),
         [this](const Layout &layout, double known) {
           const cost::AggregatedLoop loop(layout.worker, sides.engine,
                                           goal.load);
           ServiceProof proof;
           ServiceShortage shortage;
           Loads<cost::AggregatedLoop> loads(loop, goal, proof, shortage);
           const auto most = static_cast<int64_t>(loop.room());
           const std::optional<Point> best =
               goal.load.concurrency <= 0 ? loads.best(most, known)
               : most > 0 ? loads.at(goal.load.concurrency /
                                     static_cast<double>(plan.decode.workers))
                          : std::nullopt;
           return best ? best->rate : 0;
         });
}

void PlanDims::chooseApart() {
  const Side &reads =
      sides.prefill && given.isElsewhere ? *sides.prefill : *sides.decode;
  choose("prefill", reads, *given.prefill,
         {workloadOf(cost::Phase::Prefill, goal.load.inputTokens)}, 1,
         [this](const Layout &layout, double) {
           const cost::DisaggregatedLoop alone(
               {layout.worker, 1}, {layout.worker, 1}, sides.engine, goal.load);
           return alone.hasRoom() ? alone.prefillRate() : 0;
         });
  const double each = eachOf(plan.decode);
  choose("decode", *sides.decode, given.decode,
         {workloadOf(cost::Phase::Decode, longestOf(goal))},
         std::max<int64_t>(1, std::llround(each)),
         [this, each](const Layout &layout, double) {
           cost::StepMix mix;
           mix.sequences = each / static_cast<double>(layout.degrees.pp);
           mix.context = longestOf(goal);
           mix.drafts = goal.load.traits.drafts;
           return layout.worker.room(mix.context) < each
                      ? 0
                      : 1 / layout.steps->seconds(mix);
         });
}

std::optional<FreeDims> PlanDims::find() {
  given.concurrency = 0;
  plan.prefill ? chooseApart() : chooseTogether();
  if (found.changed.empty())
    return std::nullopt;
  ServiceSummary judged = summary;
  judged.engine = std::nullopt;
  judgeService(judged, sides, given);
  const ServicePlan *best = judged.best();
  if (!best || !judged.breaches->empty() ||
      gainOf(*best, plan, goal) <= usualTie)
    return std::nullopt;
  found.plan = *best;
  found.gain = gainOf(*best, plan, goal);
  return std::move(found);
}

std::optional<FreeDims> service::freeDims(const ServiceSummary &summary,
                                          const Sides &sides,
                                          const ServicePlan &plan) {
  // At a rate devices count, and dims spare none of them. Where many loads are
  // as good, the best takes long to find.
  if (summary.goal.rate > 0 || summary.proof.gap > 0 ||
      summary.goal.isStopped())
    return std::nullopt;
  return PlanDims(summary, sides, plan).find();
}
