//===- Objective.cpp - What a search optimises ----------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Objective.h"
#include "shardopt/Search/RawPerformance.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace shardopt::search {

/// Above the logarithm of any quotient of two doubles, three times.
static constexpr double structuralViolation = 1e4;

bool isBetterValue(Goal goal, double a, double b) {
  return goal == Goal::Throughput ? a > b : a < b;
}

bool Objective::better(const Evaluation &a, const Evaluation &b) const {
  if (a.valid != b.valid)
    return a.valid;
  if (!a.valid)
    return violation(a) < violation(b);
  if (value(a) != value(b))
    return isBetterValue(goal, value(a), value(b));
  return goal == Goal::Latency && a.throughput > b.throughput;
}

double Objective::value(const Evaluation &evaluation) const {
  return goal == Goal::Throughput ? evaluation.throughput
                                  : evaluation.latencyMs;
}

double Objective::score(const Evaluation &evaluation) const {
  constexpr double least = std::numeric_limits<double>::denorm_min();
  double logarithm = std::log(std::max(value(evaluation), least));
  return goal == Goal::Throughput ? logarithm : -logarithm;
}

double rawPerformance(const Objective &objective,
                      const Evaluation &evaluation) {
  // Squares of rewards stay finite in single precision.
  constexpr double most = 1e12;
  return std::min(most, objective.goal == Goal::Throughput
                            ? evaluation.throughput
                            : 1000 / evaluation.latencyMs);
}

/// How far `value` exceeds `limit`, as a logarithm, which is finite though the
/// quotient may not be.
static double excess(double value, double limit) {
  constexpr double most = std::numeric_limits<double>::max();
  return limit > 0 && value > limit ? std::log(std::min(value / limit, most))
                                    : 0;
}

double Objective::violation(const Evaluation &evaluation) const {
  if (evaluation.valid)
    return 0;
  if (!evaluation.hasMetrics())
    return structuralViolation;
  double known = excess(evaluation.memoryGb, memoryCapacityGb) +
                 excess(evaluation.activationsGb, activationsGb) +
                 excess(evaluation.latencyMs, sloMs);
  return known > 0 ? known : 1;
}

} // namespace shardopt::search
