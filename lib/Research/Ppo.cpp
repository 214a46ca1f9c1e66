//===- Ppo.cpp - Rewards, advantages and schedules of PPO -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Research/Ppo.h"
#include "shardopt/Search/RawPerformance.h"

#include <algorithm>
#include <cmath>

namespace shardopt::agent {

double PaperReward::operator()(const search::Objective &objective,
                               const Evaluation &evaluation,
                               double best) const {
  if (!evaluation.valid)
    return invalid;
  double raw = rawPerformance(objective, evaluation);
  return alpha * raw + beta * (raw - best);
}

std::vector<double> oneStepAdvantages(Span<const double> rewards,
                                      Span<const double> values) {
  assert(rewards.size() == values.size() && "one value a reward");
  std::vector<double> advantages;
  for (size_t i = 0; i < rewards.size(); ++i)
    advantages.push_back(rewards[i] - values[i]);
  return advantages;
}

void normalise(std::vector<double> &advantages) {
  if (advantages.size() < 2)
    return;
  double mean = 0;
  for (double advantage : advantages)
    mean += advantage / advantages.size();
  double squares = 0;
  for (double advantage : advantages)
    squares += (advantage - mean) * (advantage - mean);
  double deviation = std::sqrt(squares / (advantages.size() - 1));
  for (double &advantage : advantages)
    advantage = (advantage - mean) / (deviation + 1e-8);
}

double cosineAnnealed(double initial, double progress) {
  return initial * 0.5 * (1 + std::cos(M_PI * progress));
}

FactoredPolicy::FactoredPolicy(Span<const uint32_t> choices,
                               Span<const double> logits) {
  const double *first = logits.begin();
  for (uint32_t count : choices) {
    double largest = *std::max_element(first, first + count);
    double total = 0;
    std::vector<double> &head = probabilities.emplace_back();
    for (uint32_t i = 0; i < count; ++i)
      total += head.emplace_back(std::exp(first[i] - largest));
    for (double &probability : head)
      probability /= total;
    first += count;
  }
  assert(first == logits.end() && "one logit a value");
}

std::vector<uint32_t> FactoredPolicy::draw(Rng &rng) const {
  std::vector<uint32_t> actions;
  for (const std::vector<double> &head : probabilities)
    actions.push_back(uint32_t(rng.weighted(head)));
  return actions;
}

double FactoredPolicy::logProb(Span<const uint32_t> actions) const {
  double sum = 0;
  for (size_t i = 0; i < actions.size(); ++i)
    sum += std::log(probabilities[i][actions[i]]);
  return sum;
}

double FactoredPolicy::confidence() const {
  double least = 1;
  for (const std::vector<double> &head : probabilities)
    least = std::min(least, *std::max_element(head.begin(), head.end()));
  return least;
}

} // namespace shardopt::agent
