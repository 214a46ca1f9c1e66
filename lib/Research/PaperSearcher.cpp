//===- PaperSearcher.cpp - searcher=ppo-paper -----------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Research/PaperSearcher.h"
#include "shardopt/Search/Agent/Encoding.h"
#include "shardopt/Search/RawPerformance.h"

#include <algorithm>
#include <numeric>

namespace shardopt::agent {

ConstantTable PaperConstants::table() {
  ConstantTable table("'agent-options' of searcher 'ppo-paper'");
  table.integer("history", history, 1, 100,
                "T: archived strategies that the policy sees.");
  table.integer("width", width, 1, 4096,
                "d: size of a strategy's embedding; a multiple of "
                "`attention-heads`.");
  table.integer("attention-heads", attentionHeads, 1, 64,
                "Heads of the encoder block.");
  table.integer("feed-forward", feedForward, 1, 65536,
                "Hidden units inside the encoder block.");
  table.integer("hidden", hidden, 1, 4096,
                "Hidden units of the two small MLPs, of policy and value.");
  table.real("alpha", reward.alpha, 0, 1e6,
             "Weight of the raw performance in the reward.");
  table.real("beta", reward.beta, 0, 1e6,
             "Weight of its distance to the best so far.");
  table.real("invalid-reward", reward.invalid, -1e9, 0,
             "Reward of an invalid strategy.");
  table.integer("rollout", rollout, 1, 10000, "Steps between two updates.");
  table.integer("gradient-steps", gradientSteps, 1, 1000,
                "Gradient steps of an update, each on the whole rollout.");
  table.real("learning-rate", learningRate, 0, 1,
             "Of Adam, when an agent starts; it falls as half a cosine.");
  table.real("clip", weights.clip, 1e-6, 1, "PPO's clip range.");
  table.real("value-weight", weights.value, 0, 1e6,
             "Weight of the value's error in the loss.");
  table.real("entropy", weights.entropy, 0, 1e6,
             "Weight of the entropy bonus in the loss.");
  table.flag("normalise-advantages", normaliseAdvantages,
             "Whether the advantages of a rollout get zero mean and unit "
             "deviation.");
  table.real("max-grad-norm", maxGradNorm, 1e-9, 1e9,
             "Longer gradients are scaled down to this norm.");
  table.real("adam-epsilon", adamEpsilon, 0, 1,
             "Term that keeps Adam's denominator from vanishing.");
  table.integer("chunks", chunks, 1, 10000,
                "Equal parts of the budget; an agent lives for one at most.");
  table.real("confidence", confidence, 0, 1,
             "tau: an agent ends when every head has a value this likely.");
  return table;
}

HistoryShape PaperSearcher::shape(const PaperConstants &constants,
                                  const std::vector<uint32_t> &choices) {
  HistoryShape shape;
  shape.records = constants.history;
  shape.recordSize = choices.size();
  shape.width = constants.width;
  shape.attentionHeads = constants.attentionHeads;
  shape.feedForward = constants.feedForward;
  shape.hidden = constants.hidden;
  shape.choices = choices;
  shape.adamEpsilon = constants.adamEpsilon;
  return shape;
}

PaperSearcher::PaperSearcher(const search::SearcherContext &context,
                             const PaperConstants &constants,
                             std::unique_ptr<HistoryNetwork> network)
    : sharedSpace(context.space), space(*sharedSpace),
      objective(context.objective), constants(constants),
      chunk(std::max<uint64_t>((context.budget + constants.chunks - 1) /
                                   constants.chunks,
                               constants.rollout)),
      choices(choicesOf(space)), rng(context.seed), network(std::move(network)),
      history(constants.history),
      logits(std::accumulate(choices.begin(), choices.end(), size_t(0))) {
  restart();
}

void PaperSearcher::check(Failure problem) {
  if (problem && !error)
    error = Error{"searcher 'ppo-paper': " + std::string(problem)};
}

void PaperSearcher::restart() {
  check(network->reset(rng.below(uint64_t(1) << 63)));
  rollout = {};
  calls = 0;
  ++numAgents;
}

void PaperSearcher::look() {
  observation = history.observe(space);
  check(network->evaluate(observation, logits, value));
}

/// An agent makes one update at least before it may end, so that a search
/// spends its budget even where the space leaves no choice.
std::optional<search::Point> PaperSearcher::propose() {
  if (calls == chunk)
    restart();
  look();
  bool isConfident =
      FactoredPolicy(choices, logits).confidence() >= constants.confidence;
  if (isConfident && calls >= uint64_t(constants.rollout)) {
    ++numEarlyExits;
    restart();
    look();
  }
  if (error)
    return std::nullopt;
  FactoredPolicy policy(choices, logits);
  search::Point point = policy.draw(rng);
  Step step{numAgents, observation, point, policy.logProb(point), value, {}};
  space.repair(point, space.batch(), rng);
  step.point = point;
  pending.add(space.strategyAt(point), std::move(step));
  ++calls;
  return point;
}

std::vector<Strategy> PaperSearcher::ask(size_t n) {
  if (n == 0 || error)
    return {};
  std::optional<search::Point> point = propose();
  if (!point)
    return {};
  return {space.strategyAt(*point)};
}

void PaperSearcher::tell(const std::vector<Strategy> &strategies,
                         const std::vector<Evaluation> &evaluations) {
  pending.settle(strategies, evaluations,
                 [&](const Step &step, const Evaluation &evaluation) {
                   learn(step, evaluation);
                 });
}

/// A step of an agent that has ended teaches its successor nothing but what the
/// strategy is worth.
void PaperSearcher::learn(const Step &step, const Evaluation &evaluation) {
  double reward = constants.reward(objective, evaluation, bestRaw);
  if (evaluation.valid) {
    double raw = rawPerformance(objective, evaluation);
    bestRaw = std::max(bestRaw, raw);
    history.tell(step.point, raw);
  }
  if (step.agent != numAgents)
    return;
  rollout.add(step, reward);
  if (rollout.rewards.size() == size_t(constants.rollout))
    update();
}

void PaperSearcher::Rollout::add(const Step &step, double reward) {
  observations.insert(observations.end(), step.observation.begin(),
                      step.observation.end());
  actions.insert(actions.end(), step.actions.begin(), step.actions.end());
  logProbs.push_back(step.logProb);
  values.push_back(step.value);
  rewards.push_back(reward);
}

void PaperSearcher::update() {
  std::vector<double> advantages =
      oneStepAdvantages(rollout.rewards, rollout.values);
  if (constants.normaliseAdvantages)
    normalise(advantages);
  // Episodes of one step: the return is the reward.
  HistoryRollout batch{rollout.observations, rollout.actions, rollout.logProbs,
                       advantages, rollout.rewards};
  lastLearningRate =
      cosineAnnealed(constants.learningRate, double(calls) / chunk);
  PpoLoss loss;
  for (int64_t step = 0; step < constants.gradientSteps; ++step) {
    check(network->computeLoss(batch, constants.weights, loss));
    check(network->step(lastLearningRate, constants.maxGradNorm));
  }
  rollout = {};
}

} // namespace shardopt::agent
