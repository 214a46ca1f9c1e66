//===- Critic.cpp - What screens proposals before a call is spent ---------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Bayesian/Critic.h"

#include <algorithm>
#include <limits>

namespace shardopt::search {

/// What certain refusal costs in the score, far more than any difference in
/// the goal; and how likely a refusal has to look to cost anything.
static constexpr double refusalPenalty = 20;
static constexpr double refusalThreshold = .25;

/// Refusals are not to be forgotten where samples have to go.
static constexpr double leastBadness = -std::numeric_limits<double>::max();

Critic::~Critic() = default;

LearnedCritic::LearnedCritic(const StrategySpace &space,
                             const Objective &objective,
                             const Simulator *freeModel, size_t refitInterval)
    : space(space), objective(objective), encoder(objective, freeModel),
      refitInterval(refitInterval), metrics(space, KernelRidge::Options()) {}

/// Orders evaluations as the objective does, the best first.
static double badness(const Evaluation &evaluation,
                      const Objective &objective) {
  constexpr double aboveAnyScore = 1e3;
  return evaluation.valid ? -objective.score(evaluation)
                          : aboveAnyScore + objective.violation(evaluation);
}

void LearnedCritic::tell(const Point &point, const Evaluation &evaluation) {
  double bad = badness(evaluation, objective);
  std::optional<Targets> targets =
      encoder.encode(space.strategyAt(point), evaluation);
  if (targets)
    metrics.add(point, *targets, bad);
  if (!targets && !refusals) {
    refusals.emplace(space, KernelRidge::Options());
    for (const auto &[earlier, itsBadness] : accepted)
      refusals->add(earlier, {0}, itsBadness);
    accepted.clear();
  }
  if (refusals)
    refusals->add(point, {targets ? 0. : 1.}, targets ? bad : leastBadness);
  else
    accepted.emplace_back(point, bad);
  ++numTold;
}

void LearnedCritic::prepare(const std::vector<Point> &pending) {
  if (numTold < nextFit)
    return;
  nextFit = numTold + refitInterval;
  metrics.fit(pending);
  if (refusals)
    refusals->fit(pending);
}

Critic::Opinion LearnedCritic::opinion(const Point &point) {
  Opinion opinion =
      encoder.decode(space.strategyAt(point), metrics.predict(point));
  if (refusals)
    opinion.score -= refusalPenalty * std::max(0., refusals->predict(point)[0] -
                                                       refusalThreshold);
  return opinion;
}

} // namespace shardopt::search
