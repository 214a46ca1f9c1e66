//===- JointCritic.cpp - What is known of degrees and dims ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Bayesian/JointCritic.h"

#include <limits>

namespace shardopt::search {

/// The score of what has no metrics, below all others.
static constexpr double worstScore = -1e3;
/// Refusals are not to be forgotten where samples have to go.
static constexpr double refusalBadness = -std::numeric_limits<double>::max();

JointCritic::JointCritic(const StrategySpace &space, const Objective &objective)
    : space(space), objective(objective),
      encoder(objective, /*freeModel=*/nullptr), layout(space),
      metrics(space, layout, {}) {}

double JointCritic::scoreOf(const Point &point,
                            const Evaluation &evaluation) const {
  Strategy strategy = space.strategyAt(point);
  std::optional<Targets> targets = encoder.encode(strategy, evaluation);
  return targets ? encoder.decode(strategy, *targets).score : worstScore;
}

void JointCritic::tell(const Point &point, const Evaluation &evaluation) {
  Strategy strategy = space.strategyAt(point);
  std::optional<Targets> targets = encoder.encode(strategy, evaluation);
  double badness = -worstScore;
  if (targets) {
    badness = -encoder.decode(strategy, *targets).score;
    metrics.add(point, {targets->begin(), targets->end()}, badness);
  }
  if (!targets && !refusals) {
    refusals.emplace(space, layout, JointProcess::Options());
    for (const auto &[earlier, itsBadness] : accepted)
      refusals->add(earlier, {0}, itsBadness);
    accepted.clear();
  }
  if (refusals)
    refusals->add(point, {targets ? 0. : 1.},
                  targets ? badness : refusalBadness);
  else
    accepted.emplace_back(point, badness);
}

void JointCritic::fit(const std::vector<Point> &pending) {
  metrics.fit(pending);
  if (refusals)
    refusals->fit(pending);
}

DimTables JointCritic::tablesAt(const Point &point) {
  Channels base = {};
  std::vector<Channels> entries(layout.numEntries());
  metrics.addTables(point, 0, base, entries);
  if (refusals)
    refusals->addTables(point, numTargets, base, entries);
  return DimTables(layout, base, std::move(entries), weightsAt(point));
}

JointCritic::Predictor::Predictor(JointCritic &critic,
                                  const std::vector<DimIndices> &dims)
    : critic(critic), numDims(dims.size()),
      ofMetrics(critic.metrics.echoesOf(dims)) {
  if (critic.refusals)
    ofRefusals = critic.refusals->echoesOf(dims);
}

std::vector<JointCritic::Predictor::Forecast>
JointCritic::Predictor::at(const Point &point) const {
  std::vector<Channels> sums(numDims);
  std::vector<double> doubts =
      critic.metrics.addPredictions(point, 0, ofMetrics, sums);
  if (critic.refusals)
    critic.refusals->addPredictions(point, numTargets, ofRefusals, sums);
  double deviation = critic.metrics.deviationOf(TargetEncoder::Latency);
  std::vector<Forecast> forecasts;
  for (size_t i = 0; i < numDims; ++i)
    forecasts.push_back({sums[i], deviation * doubts[i]});
  return forecasts;
}

} // namespace shardopt::search
