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

/// A normal draw (Box and Muller).
static double normal(Rng &rng) {
  constexpr double twoPi = 6.283185307179586;
  double radius = std::sqrt(-2 * std::log(1 - rng.real()));
  return radius * std::cos(twoPi * rng.real());
}

MlpEnsemble::MlpEnsemble(const StrategySpace &space, const Options &options,
                         uint64_t seed)
    : options(options), cells(space), rng(seed) {
  layout.hiddenBias = numInputs() * options.hidden;
  layout.output = layout.hiddenBias + options.hidden;
  layout.outputBias = layout.output + options.hidden * numTargets;
  layout.skip = layout.outputBias + numTargets;
  layout.size = layout.skip + numInputs() * numTargets;

  // As many inputs are on as there are variables; the skip begins at zero.
  double inputScale = 1 / std::sqrt(double(cells.numVariables()));
  double outputScale = 1 / std::sqrt(double(options.hidden));
  members.resize(options.members);
  for (Member &member : members) {
    member.weights.assign(layout.size, 0);
    member.first = member.second = member.weights;
    for (size_t i = 0; i < layout.hiddenBias; ++i)
      member.weights[i] = inputScale * normal(rng);
    for (size_t i = layout.output; i < layout.outputBias; ++i)
      member.weights[i] = outputScale * normal(rng);
  }
}

MlpEnsemble::Input MlpEnsemble::encode(const Point &point) const {
  Input input{cells.of(point), {}};
  for (size_t i = 0; i < input.places.size(); ++i) {
    double last = double(cells.begin(i + 1) - cells.begin(i)) - 1;
    input.places[i] = last > 0 ? 2 * point[i] / last - 1 : 0;
  }
  return input;
}

//===----------------------------------------------------------------------===//
// A network
//===----------------------------------------------------------------------===//

/// Calls `visit(index, value)` for every input that is not zero.
template <typename Input, typename Visit>
static void forEachInput(const Input &input, size_t firstPlace, Visit visit) {
  for (uint32_t cell : input.cells)
    visit(size_t(cell), 1.);
  for (size_t i = 0; i < input.places.size(); ++i)
    visit(firstPlace + i, input.places[i]);
}

Targets MlpEnsemble::forward(const Member &member, const Input &input,
                             std::vector<double> &hidden) const {
  const double *weights = member.weights.data();
  const size_t width = options.hidden;
  Targets outputs;
  for (size_t t = 0; t < numTargets; ++t)
    outputs[t] = weights[layout.outputBias + t];
  hidden.assign(weights + layout.hiddenBias,
                weights + layout.hiddenBias + width);
  forEachInput(input, cells.size(), [&](size_t i, double value) {
    for (size_t j = 0; j < width; ++j)
      hidden[j] += value * weights[i * width + j];
    for (size_t t = 0; t < numTargets; ++t)
      outputs[t] += value * weights[layout.skip + i * numTargets + t];
  });
  for (size_t j = 0; j < width; ++j) {
    hidden[j] = std::max(0., hidden[j]);
    for (size_t t = 0; t < numTargets; ++t)
      outputs[t] += hidden[j] * weights[layout.output + j * numTargets + t];
  }
  return outputs;
}

/// Adds to `gradient` the derivatives, where `slope` is that of the loss by the
/// outputs.
void MlpEnsemble::backward(const Member &member, const Input &input,
                           const std::vector<double> &hidden,
                           const Targets &slope,
                           std::vector<double> &gradient) const {
  const double *weights = member.weights.data();
  const size_t width = options.hidden;
  std::vector<double> hiddenSlope(width, 0);
  for (size_t t = 0; t < numTargets; ++t)
    gradient[layout.outputBias + t] += slope[t];
  for (size_t j = 0; j < width; ++j) {
    for (size_t t = 0; t < numTargets; ++t) {
      gradient[layout.output + j * numTargets + t] += slope[t] * hidden[j];
      if (hidden[j] > 0)
        hiddenSlope[j] +=
            slope[t] * weights[layout.output + j * numTargets + t];
    }
    gradient[layout.hiddenBias + j] += hiddenSlope[j];
  }
  forEachInput(input, cells.size(), [&](size_t i, double value) {
    for (size_t j = 0; j < width; ++j)
      gradient[i * width + j] += value * hiddenSlope[j];
    for (size_t t = 0; t < numTargets; ++t)
      gradient[layout.skip + i * numTargets + t] += value * slope[t];
  });
}

//===----------------------------------------------------------------------===//
// Training
//===----------------------------------------------------------------------===//

void MlpEnsemble::add(const Point &point, const Targets &targets,
                      double badness) {
  samples.push_back({encode(point), targets, badness});
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
  std::vector<double> gradient(layout.size, 0), hidden;
  for (size_t i = 0; i < options.batch; ++i) {
    const Sample &sample = samples[i % 2 ? best[rng.below(best.size())]
                                         : rng.below(samples.size())];
    Targets slope = forward(member, sample.input, hidden);
    for (size_t t = 0; t < numTargets; ++t) {
      // There is nothing to learn of a target that never varied.
      double wanted = deviation[t] > 0
                          ? (sample.targets[t] - mean[t]) / deviation[t]
                          : slope[t];
      slope[t] =
          std::clamp(slope[t] - wanted, -huber, huber) / double(options.batch);
    }
    backward(member, sample.input, hidden, slope, gradient);
  }
  double norm = std::sqrt(std::inner_product(gradient.begin(), gradient.end(),
                                             gradient.begin(), 0.));
  double scale =
      norm > options.largestGradient ? options.largestGradient / norm : 1;
  ++member.steps;
  double correction1 = 1 - std::pow(beta1, double(member.steps));
  double correction2 = 1 - std::pow(beta2, double(member.steps));
  for (size_t i = 0; i < layout.size; ++i) {
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
  Targets outputs = forward(members[active], encode(point), hidden);
  for (size_t t = 0; t < numTargets; ++t)
    outputs[t] = mean[t] + deviation[t] * outputs[t];
  return outputs;
}

} // namespace shardopt::search
