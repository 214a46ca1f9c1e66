//===- BalancedChoice.cpp - Dims and stages by selection ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Dims/BalancedChoice.h"

#include "shardopt/Cost/Breakdown.h"

#include <algorithm>
#include <set>

using namespace shardopt;
using namespace shardopt::selection;

static constexpr double rounding = 1e-11;

static Degrees withStages(Degrees degrees, StageCut cut) {
  degrees.stages = std::move(cut);
  return degrees;
}

static bool isBetter(Goal goal, const Evaluation &a, const Evaluation &b) {
  if (a.valid != b.valid)
    return a.valid;
  if (!a.valid && a.memoryGb != b.memoryGb)
    return a.memoryGb < b.memoryGb;
  return goal == Goal::Latency ? a.latencyMs < b.latencyMs * (1 - rounding)
                               : a.throughput > b.throughput * (1 + rounding);
}

static double valueOf(Goal goal, const Evaluation &evaluation) {
  return goal == Goal::Latency ? evaluation.latencyMs : evaluation.throughput;
}

StageCut selection::moveLayers(const cost::CostModel &costs,
                               const Degrees &degrees,
                               const std::vector<Dim> &dims, StageCut cut,
                               Goal goal) {
  auto look = [&](const StageCut &at) {
    return cost::breakdown(costs, {withStages(degrees, at), dims});
  };
  cost::Breakdown best = look(cut);
  if (best.stageMs.size() != cut.layers.size())
    return cut; // illegal dims
  for (int64_t left = cut.total(); left > 0; --left) {
    size_t slowest =
        std::max_element(best.stageMs.begin(), best.stageMs.end()) -
        best.stageMs.begin();
    std::optional<StageCut> better;
    for (size_t from = 0; from < cut.layers.size(); ++from)
      for (size_t to = 0; to < cut.layers.size(); ++to) {
        // Where all that counts is time, only the slowest has to have less.
        if (from == to || cut.layers[from] == 1 ||
            (best.evaluation.valid && from != slowest))
          continue;
        StageCut moved = cut;
        --moved.layers[from];
        ++moved.layers[to];
        cost::Breakdown found = look(moved);
        if (!isBetter(goal, found.evaluation, best.evaluation))
          continue;
        best = std::move(found);
        better = std::move(moved);
      }
    if (!better)
      break;
    cut = std::move(*better);
  }
  return cut;
}

/// The most that a stage takes to send what it made to the next.
static double mostSending(const cost::CostModel &costs,
                          const cost::Context &context) {
  double most = 0;
  for (cost::Layout layout :
       {cost::Layout::R, cost::Layout::T, cost::Layout::H}) {
    double seconds = 0;
    for (const cost::Collective &collective : costs.time().transfer(
             layout, context.rows * costs.model().rowBytes, context.degrees))
      seconds += costs.time().seconds(collective, context.degrees);
    most = std::max(most, seconds);
  }
  return most;
}

BalancedChoice selection::balancedChoice(const cost::CostModel &costs,
                                         const Degrees &degrees,
                                         Span<const cost::DimSet> domains,
                                         Goal goal,
                                         std::optional<double> incumbent) {
  constexpr size_t mostCuts = 8;
  BalancedChoice result;
  std::set<std::vector<int64_t>> tried;
  StageCut cut = evenCut(costs.layers().numLayers(), degrees.pp);
  cost::Context context = costs.context(degrees);
  std::optional<double> bound;
  while (tried.size() < mostCuts && tried.insert(cut.layers).second) {
    StrategyGraph graph(costs, withStages(degrees, cut), domains);
    if (!bound)
      bound = boundForAnyCut(
          graph, goal, double(degrees.pp - 1) * mostSending(costs, context));
    // The first cut is asked for dims to begin with, good or not.
    std::optional<double> known;
    if (result.choice.best)
      known = valueOf(goal, result.choice.best->evaluation);
    ChoiceResult found = optimalChoice(graph, goal, known);
    result.choice.problems += found.problems;
    if (!found.best)
      break;
    std::vector<Dim> dims = found.best->dims;
    if (!result.choice.best || isBetter(goal, found.best->evaluation,
                                        result.choice.best->evaluation)) {
      result.choice.best = std::move(found.best);
      result.cut = cut;
    }
    cut = moveLayers(costs, degrees, dims, std::move(cut), goal);
  }
  ChoiceResult &choice = result.choice;
  choice.bound = bound;
  auto isAsGood = [&](double value, double than) {
    return goal == Goal::Latency ? value <= than * (1 + rounding)
                                 : value >= than * (1 - rounding);
  };
  if (choice.best) {
    double value = valueOf(goal, choice.best->evaluation);
    choice.proved = isAsGood(value, *bound);
    if (incumbent && !isAsGood(value, *incumbent))
      choice.best.reset();
  }
  // Nothing is as good as what was known before.
  if (incumbent && bound && !isAsGood(*bound, *incumbent)) {
    choice.proved = true;
    choice.bound.reset();
  }
  if (result.cut.isEven())
    result.cut = {};
  return result;
}
