//===- Critic.h - What screens proposals before a call is spent -*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_BAYESIAN_CRITIC_H
#define SHARDOPT_SEARCH_BAYESIAN_CRITIC_H

#include "shardopt/Search/Bayesian/KernelRidge.h"
#include "shardopt/Search/Bayesian/TargetEncoder.h"
#include "shardopt/Support/Rng.h"

#include <optional>
#include <utility>
#include <vector>

namespace shardopt::search {

/// Says which of several strategies is worth an evaluation.
class Critic {
public:
  using Opinion = TargetEncoder::Opinion;

  virtual ~Critic();

  virtual void tell(const Point &point, const Evaluation &evaluation) = 0;

  /// Takes what was told into account, and what is `pending`: asked for and not
  /// told yet. Called before the opinions that a proposal needs.
  virtual void prepare(const std::vector<Point> &pending = {}) = 0;

  virtual Opinion opinion(const Point &point) = 0;
};

/// Learns latency, memory and rate with a regression, and with another one
/// which strategies have no metrics, should there be any.
class LearnedCritic final : public Critic {
public:
  /// Fits anew at every `refitInterval`-th evaluation.
  LearnedCritic(const StrategySpace &space, const Objective &objective,
                const Simulator *freeModel, size_t refitInterval);

  void tell(const Point &point, const Evaluation &evaluation) override;
  /// Pending points count at their predicted value in the fits that come while
  /// they are pending.
  void prepare(const std::vector<Point> &pending = {}) override;
  Opinion opinion(const Point &point) override;

private:
  const StrategySpace &space;
  const Objective objective;
  const TargetEncoder encoder;
  const size_t refitInterval;

  size_t numTold = 0;
  size_t nextFit = 0; ///< at so many evaluations told
  KernelRidge metrics;
  /// 1 where there are no metrics, else 0; none while all had some.
  std::optional<KernelRidge> refusals;
  /// What was told before the first refusal, with its badness.
  std::vector<std::pair<Point, double>> accepted;
};

/// Has opinions that mean nothing: what screening is worth by itself.
class RandomCritic final : public Critic {
public:
  explicit RandomCritic(uint64_t seed) : rng(seed) {}

  void tell(const Point &, const Evaluation &) override {}
  void prepare(const std::vector<Point> &) override {}
  Opinion opinion(const Point &) override { return {rng.real(), {}}; }

private:
  Rng rng;
};

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_BAYESIAN_CRITIC_H
