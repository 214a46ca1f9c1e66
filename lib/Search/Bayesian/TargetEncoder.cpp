//===- TargetEncoder.cpp - What a critic learns of an evaluation ----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Bayesian/TargetEncoder.h"

#include <algorithm>
#include <cmath>

namespace shardopt::search {

/// What exceeds a limit by more than a factor of exp(3) would take the fit
/// over.
static constexpr double largestExcess = 3;
/// What a limit that is exceeded by 1 % costs, relative to 1 % of the goal.
static constexpr double limitPenalty = 5;
static constexpr double largestSlack = 2;
/// Factors of more than exp(50) are no measurements.
static constexpr double largestLogarithm = 50;

static bool isKnown(double limit) { return limit > 0 && std::isfinite(limit); }

/// The logarithm of `value`, at least 0, which may be the result of an overflow
/// or an underflow.
static double boundedLog(double value) {
  return std::clamp(std::log(value), -largestLogarithm, largestLogarithm);
}

static double logRatio(double value, double limit) {
  return value > 0 && isKnown(limit) ? boundedLog(value / limit) : 0;
}

static Slack clipped(double memory, double latency) {
  return {std::clamp(memory, -largestSlack, largestSlack),
          std::clamp(latency, -largestSlack, largestSlack)};
}

/// How full a device is: of what it stores, or of values between ops, whichever
/// is closer to its limit.
static double memoryRatio(const Evaluation &evaluation,
                          const Objective &objective) {
  double stored = logRatio(evaluation.memoryGb, objective.memoryCapacityGb);
  if (!isKnown(objective.activationsGb) || !(evaluation.activationsGb > 0))
    return stored;
  return std::max(stored,
                  logRatio(evaluation.activationsGb, objective.activationsGb));
}

Slack slackOf(const Evaluation &evaluation, const Objective &objective) {
  return clipped(memoryRatio(evaluation, objective),
                 logRatio(evaluation.latencyMs, objective.sloMs));
}

static bool hasLogarithms(const Evaluation &evaluation) {
  return evaluation.hasMetrics() && evaluation.latencyMs > 0 &&
         evaluation.throughput > 0;
}

static double logDevicesPerSequence(const Degrees &degrees) {
  return std::log(double(degrees.devices()) / double(degrees.batch));
}

Targets TargetEncoder::logarithms(const Strategy &strategy,
                                  const Evaluation &evaluation) const {
  Targets targets;
  targets[Latency] =
      isKnown(objective.sloMs)
          ? std::min(logRatio(evaluation.latencyMs, objective.sloMs),
                     largestExcess)
          : boundedLog(evaluation.latencyMs);
  targets[Memory] = std::clamp(memoryRatio(evaluation, objective),
                               -largestExcess, largestExcess);
  targets[Rate] = boundedLog(evaluation.throughput * evaluation.latencyMs) +
                  logDevicesPerSequence(strategy.degrees);
  return targets;
}

Targets TargetEncoder::origin(const Strategy &strategy) const {
  if (!freeModel)
    return {};
  Evaluation evaluation = freeModel->evaluate(strategy);
  return hasLogarithms(evaluation) ? logarithms(strategy, evaluation)
                                   : Targets{};
}

std::optional<Targets>
TargetEncoder::encode(const Strategy &strategy,
                      const Evaluation &evaluation) const {
  if (!hasLogarithms(evaluation))
    return std::nullopt;
  Targets targets = logarithms(strategy, evaluation);
  Targets relativeTo = origin(strategy);
  for (size_t i = 0; i < numTargets; ++i)
    targets[i] -= relativeTo[i];
  return targets;
}

TargetEncoder::Weights TargetEncoder::weightsOf(const Degrees &degrees) const {
  bool isThroughput = objective.goal == Goal::Throughput;
  return {isThroughput ? -logDevicesPerSequence(degrees) : 0, limitPenalty,
          isThroughput ? 1. : 0., isKnown(objective.sloMs)};
}

TargetEncoder::Opinion TargetEncoder::decode(const Strategy &strategy,
                                             const Targets &predicted) const {
  Targets targets = origin(strategy);
  for (size_t i = 0; i < numTargets; ++i)
    targets[i] += predicted[i];
  Weights weights = weightsOf(strategy.degrees);
  return {weights.score(targets),
          clipped(targets[Memory], weights.hasSlo ? targets[Latency] : 0)};
}

} // namespace shardopt::search
