//===- Ppo.h - Rewards, advantages and schedules of PPO ---------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_RESEARCH_PPO_H
#define SHARDOPT_RESEARCH_PPO_H

#include "shardopt/Search/Objective.h"
#include "shardopt/Support/Rng.h"
#include "shardopt/Support/Span.h"

#include <vector>

namespace shardopt::agent {

/// Eq. 1 of "Learning to Shard": alpha raw + beta (raw - b), and a constant for
/// invalid strategies.
struct PaperReward {
  double alpha = 1;
  double beta = 1;
  double invalid = -1000;

  /// `best` is b, the best raw performance before this evaluation.
  double operator()(const search::Objective &objective,
                    const Evaluation &evaluation, double best) const;
};

/// Advantages of episodes of one step, r - V: what generalised advantage
/// estimation gives for any gamma and lambda when every step ends an episode.
std::vector<double> oneStepAdvantages(Span<const double> rewards,
                                      Span<const double> values);

/// Zero mean and unit deviation (of a sample, over n - 1), as Stable-Baselines3
/// does; fewer than two values stay as they are.
void normalise(std::vector<double> &advantages);

/// `initial` (1 + cos(pi progress)) / 2, progress in [0, 1].
double cosineAnnealed(double initial, double progress);

/// One categorical distribution a variable, from the logits of all of them one
/// after the other.
class FactoredPolicy {
public:
  FactoredPolicy(Span<const uint32_t> choices, Span<const double> logits);

  /// An index a variable.
  std::vector<uint32_t> draw(Rng &rng) const;
  /// The logarithm of the probability of `actions`.
  double logProb(Span<const uint32_t> actions) const;
  /// min over the variables of the largest probability: where it reaches tau,
  /// the policy is as good as deterministic.
  double confidence() const;

private:
  std::vector<std::vector<double>> probabilities;
};

} // namespace shardopt::agent

#endif // SHARDOPT_RESEARCH_PPO_H
