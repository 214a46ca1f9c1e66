//===- MlpEnsemble.cpp - Small networks that take turns -------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/MlpEnsemble.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace shardopt::search {

MlpEnsemble::MlpEnsemble(const StrategySpace &space, const Options &options,
                         uint64_t seed)
    : options(options), network(space, options.hidden), rng(seed) {
  members.resize(options.members);
  for (Member &member : members) {
    member.weights = network.initialWeights(rng);
    member.first.assign(network.numWeights(), 0);
    member.second = member.first;
  }
}

void MlpEnsemble::add(const Point &point, const Targets &targets,
                      double badness) {
  samples.push_back({network.encode(point), targets, badness});
}

void MlpEnsemble::standardise(size_t target) {
  // Less is what rounding leaves of a constant.
  constexpr double leastDeviation = 1e-9;
  double n = double(samples.size());
  mean[target] = 0;
  for (const Sample &sample : samples)
    mean[target] += sample.targets[target] / n;
  double variance = 0;
  for (const Sample &sample : samples)
    variance += std::pow(sample.targets[target] - mean[target], 2) / n;
  deviation[target] = std::sqrt(variance);
  if (deviation[target] < leastDeviation)
    deviation[target] = 0;
}

void MlpEnsemble::fit() {
  active = rng.below(members.size());
  if (samples.size() < nextTraining)
    return;
  nextTraining = samples.size() + options.interval;
  for (size_t t = 0; t < numTargets; ++t)
    if (deviation[t] == 0)
      standardise(t);
  std::vector<size_t> best(samples.size());
  std::iota(best.begin(), best.end(), 0);
  std::stable_sort(best.begin(), best.end(), [&](size_t a, size_t b) {
    return samples[a].badness < samples[b].badness;
  });
  best.resize(std::min(best.size(), options.best));
  for (Member &member : members)
    for (size_t i = 0; i < (isTrained ? options.steps : options.firstSteps);
         ++i)
      step(member, best);
  isTrained = true;
}

/// One step of Adam (Kingma and Ba) with its usual constants.
void MlpEnsemble::step(Member &member, const std::vector<size_t> &best) {
  constexpr double beta1 = .9, beta2 = .999, epsilon = 1e-8;
  constexpr double huber = 1;
  std::vector<double> gradient(network.numWeights(), 0), hidden;
  for (size_t i = 0; i < options.batch; ++i) {
    const Sample &sample = samples[i % 2 ? best[rng.below(best.size())]
                                         : rng.below(samples.size())];
    Targets slope = network.forward(member.weights, sample.input, hidden);
    for (size_t t = 0; t < numTargets; ++t) {
      // There is nothing to learn of a target that never varied.
      double wanted = deviation[t] > 0
                          ? (sample.targets[t] - mean[t]) / deviation[t]
                          : slope[t];
      slope[t] =
          std::clamp(slope[t] - wanted, -huber, huber) / double(options.batch);
    }
    network.backward(member.weights, sample.input, hidden, slope, gradient);
  }
  double norm = std::sqrt(std::inner_product(gradient.begin(), gradient.end(),
                                             gradient.begin(), 0.));
  double scale =
      norm > options.largestGradient ? options.largestGradient / norm : 1;
  ++member.steps;
  double correction1 = 1 - std::pow(beta1, double(member.steps));
  double correction2 = 1 - std::pow(beta2, double(member.steps));
  for (size_t i = 0; i < network.numWeights(); ++i) {
    double slope = scale * gradient[i];
    double &first = member.first[i], &second = member.second[i];
    first = beta1 * first + (1 - beta1) * slope;
    second = beta2 * second + (1 - beta2) * slope * slope;
    member.weights[i] -= options.learningRate * (first / correction1) /
                         (std::sqrt(second / correction2) + epsilon);
  }
}

Targets MlpEnsemble::predict(const Point &point) const {
  if (!isTrained)
    return {};
  std::vector<double> hidden;
  Targets outputs =
      network.forward(members[active].weights, network.encode(point), hidden);
  for (size_t t = 0; t < numTargets; ++t)
    outputs[t] = mean[t] + deviation[t] * outputs[t];
  return outputs;
}

} // namespace shardopt::search
