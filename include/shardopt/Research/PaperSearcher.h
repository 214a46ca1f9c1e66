//===- PaperSearcher.h - searcher=ppo-paper ---------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_RESEARCH_PAPERSEARCHER_H
#define SHARDOPT_RESEARCH_PAPERSEARCHER_H

#include "shardopt/Research/EliteHistory.h"
#include "shardopt/Research/Ppo.h"
#include "shardopt/Search/Agent/Network.h"
#include "shardopt/Search/PendingSet.h"
#include "shardopt/Search/Searcher.h"
#include "shardopt/Search/SearcherRegistry.h"
#include "shardopt/Support/Constants.h"

#include <memory>
#include <optional>
#include <vector>

namespace shardopt::agent {

/// The defaults are those of the paper's Appendix A and, where it says nothing,
/// of Stable-Baselines3, which it used.
struct PaperConstants {
  int64_t history = 3;
  int64_t width = 256;
  int64_t attentionHeads = 8;
  int64_t feedForward = 256;
  int64_t hidden = 256;

  PaperReward reward;

  int64_t rollout = 2;
  int64_t gradientSteps = 2;
  double learningRate = 1e-3;
  PpoWeights weights;
  bool normaliseAdvantages = true;
  double maxGradNorm = 0.5;
  double adamEpsilon = 1e-5;

  int64_t chunks = 5;
  double confidence = 0.95;

  ConstantTable table();
};

/// The agent of "Learning to Shard" (arXiv 2509.00217), section 3.
///
/// An episode is one step: the policy sees the elite history, draws a value for
/// every variable, and gets the reward of Eq. 1. After `rollout` steps PPO
/// makes `gradientSteps` steps on all of them.
///
/// An agent lives for at most budget/chunks evaluations, its chunk, over which
/// the learning rate falls as half a cosine. It ends before when the largest
/// probability of every head has reached `confidence`. The next one has a new
/// network and a new optimiser, and inherits b and the elites. What an early
/// exit saves goes to further agents, until the budget is spent: the paper says
/// that the saved budget is to be fully utilised and not how.
///
/// Heads that are independent can draw degrees beyond the device limit; the
/// environment then changes as few of them as it can, and the reward is that
/// of the strategy evaluated.
class PaperSearcher final : public search::Searcher {
public:
  /// `network` has the shape that `shape` gives.
  PaperSearcher(const search::SearcherContext &context,
                const PaperConstants &constants,
                std::unique_ptr<HistoryNetwork> network);

  /// `choices` has to outlive the shape.
  static HistoryShape shape(const PaperConstants &constants,
                            const std::vector<uint32_t> &choices);

  std::vector<Strategy> ask(size_t n) override;
  void tell(const std::vector<Strategy> &strategies,
            const std::vector<Evaluation> &evaluations) override;
  bool done() const override { return error.has_value(); }
  /// Agents so far, and those among them that became confident.
  std::vector<search::Count> counts() const override {
    return {{"agents", numAgents}, {"early_exits", numEarlyExits}};
  }
  std::optional<Error> finish() override { return error; }

  // What tests look at.
  const EliteHistory &elites() const { return history; }
  double best() const { return bestRaw; }
  uint64_t agents() const { return numAgents; }
  uint64_t earlyExits() const { return numEarlyExits; }
  /// Of the last update.
  double learningRate() const { return lastLearningRate; }

private:
  /// A strategy that was asked for.
  struct Step {
    uint64_t agent; ///< which one drew it
    std::vector<double> observation;
    std::vector<uint32_t> actions;
    double logProb, value;
    search::Point point; ///< the actions, within the device limit
  };

  /// The steps that were told since the last update.
  struct Rollout {
    std::vector<double> observations;
    std::vector<uint32_t> actions;
    std::vector<double> logProbs, values, rewards;

    void add(const Step &step, double reward);
  };

  void restart();
  /// Fills in `observation`, `logits` and `value`.
  void look();
  std::optional<search::Point> propose();
  void learn(const Step &step, const Evaluation &evaluation);
  void update();
  void check(Failure problem);

  const std::shared_ptr<const search::StrategySpace> sharedSpace;
  const search::StrategySpace &space;
  const search::Objective objective;
  const PaperConstants constants;
  const uint64_t chunk; ///< evaluations of an agent at most
  const std::vector<uint32_t> choices;
  Rng rng;
  std::unique_ptr<HistoryNetwork> network;

  EliteHistory history;
  double bestRaw = 0; ///< b
  Rollout rollout;
  search::PendingSet<Step> pending;
  uint64_t calls = 0; ///< of this agent
  uint64_t numAgents = 0, numEarlyExits = 0;
  double lastLearningRate = 0;
  std::optional<Error> error; ///< of the network; ends the search

  // Of the present step.
  std::vector<double> observation, logits;
  double value = 0;
};

} // namespace shardopt::agent

#endif // SHARDOPT_RESEARCH_PAPERSEARCHER_H
