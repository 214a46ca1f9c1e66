//===- Certificate.cpp - What a search found, recomputed ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/Certificate.h"
#include "shardopt/Cost/Breakdown.h"
#include "shardopt/Planning/Plan.h"

#include <algorithm>
#include <cmath>

using namespace shardopt;

/// What rounding in another order may change, a part of the value itself.
static constexpr double slack = 1e-9;

static bool isClose(double a, double b) {
  return a == b || std::abs(a - b) < slack * std::max(std::abs(a), std::abs(b));
}

static Error contradiction(const std::string &what, const std::string &claimed,
                           const std::string &found) {
  return Error{"the search says that " + what + " is " + claimed +
               ", but recomputed op by op it is " + found +
               "; expected the same: this is a bug, unless the checkpoint was "
               "changed"};
}

std::optional<Error> shardopt::verifyPlan(const cost::CostModel &costs,
                                          const search::Plan &plan) {
  const Evaluation &claimed = plan.evaluation;
  Evaluation found = cost::breakdown(costs, plan.strategy).evaluation;
  if (claimed.hasMetrics() != found.hasMetrics())
    return contradiction("the strategy found",
                         claimed.hasMetrics() ? "possible" : "impossible",
                         found.hasMetrics() ? "possible" : "impossible");
  auto number = [](double value) { return formatNumber(value, 12); };
  struct {
    const char *name;
    double claimed, found;
  } metrics[] = {
      {"the throughput", claimed.throughput, found.throughput},
      {"the latency in ms", claimed.latencyMs, found.latencyMs},
      {"the memory in GB", claimed.memoryGb, found.memoryGb},
      {"the activations in GB", claimed.activationsGb, found.activationsGb}};
  for (const auto &metric : metrics)
    if (!isClose(metric.claimed, metric.found))
      return contradiction(metric.name, number(metric.claimed),
                           number(metric.found));
  const cost::Limits &limits = costs.limits();
  bool isAtLimit = isClose(found.memoryGb * 1e9, limits.memoryBytes) ||
                   isClose(found.activationsGb * 1e9, limits.activationBytes) ||
                   isClose(found.latencyMs / 1e3, limits.latencySeconds);
  if (claimed.valid != found.valid && !isAtLimit)
    return contradiction("the strategy found",
                         claimed.valid ? "valid" : "invalid",
                         found.valid ? "valid" : "invalid");
  return std::nullopt;
}

std::optional<Error> shardopt::verifyResult(const cost::CostModel &costs,
                                            const search::SearchResult &result,
                                            search::Goal goal) {
  if (!result.best)
    return std::nullopt;
  if (auto error = verifyPlan(costs, *result.best))
    return error;
  if (!result.best->evaluation.valid)
    return contradiction("the best strategy", "found", "invalid");
  if (!result.bound)
    return std::nullopt;
  double value = search::Objective{goal, 0, 0}.value(result.best->evaluation);
  double bound = *result.bound;
  bool isBeyond =
      search::isBetterValue(goal, value, bound) && !isClose(value, bound);
  if (isBeyond || (result.proved && !isClose(value, bound)))
    return Error{"the search says that no strategy is better than " +
                 formatNumber(bound, 12) + ", but its best is " +
                 formatNumber(value, 12) +
                 (result.proved ? ", which it calls proved" : "") +
                 ": this is a bug"};
  return std::nullopt;
}
