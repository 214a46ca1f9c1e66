//===- ServingPlan.cpp - The best way to serve a model --------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/ServingPlan.h"

#include <algorithm>
#include <cmath>

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::calibrated;

/// Most requests in flight in one attention group.
static constexpr double maxInFlight = 4096;

double ServingPlan::usedDevices() const {
  return decoders.count * decoders.setup.devices() +
         (readers ? readers->count * readers->setup.devices() : 0);
}

const ServingPlan *ServingPlans::best() const {
  if (!aggregated || !disaggregated)
    return aggregated      ? &*aggregated
           : disaggregated ? &*disaggregated
                           : nullptr;
  return disaggregated->tokensPerDevice > aggregated->tokensPerDevice
             ? &*disaggregated
             : &*aggregated;
}

/// Layouts of one replica: attention in `tp`, or in groups of it where there
/// are experts; these by their columns, or one by one.
static std::vector<ServingSetup> layouts(const ServingSetup &base,
                                         const ServingGoal &goal) {
  std::vector<ServingSetup> all;
  const double most =
      static_cast<double>(std::min(goal.devices, goal.domainSize));
  for (double tp = 1; tp <= std::min(most, base.model.heads); tp *= 2)
    for (double groups = 1; tp * groups <= most; groups *= 2) {
      const double devices = tp * groups;
      const bool hasExperts = base.model.experts > 0;
      if (!hasExperts && groups > 1)
        break; // replicas
      ServingSetup setup = base;
      setup.tp = tp;
      setup.attentionDp = groups;
      setup.expertTp = devices;
      setup.expertEp = 1;
      if (groups == 1)
        all.push_back(setup);
      if (!hasExperts || devices == 1 || devices > base.model.experts)
        continue;
      std::swap(setup.expertTp, setup.expertEp);
      all.push_back(setup);
    }
  return all;
}

/// What the cluster attains with `concurrency` requests in flight.
static void rate(ServingPlan &plan, const ServingGoal &goal) {
  const double seconds =
      (plan.times.ttft.ms + goal.outputTokens * plan.times.tpot.ms) / 1e3;
  plan.requestsPerSecond = plan.concurrency / seconds;
  plan.tokensPerDevice = plan.requestsPerSecond * goal.outputTokens /
                         static_cast<double>(goal.devices);
}

static bool holds(const ServingTimes &times, const ServingGoal &goal) {
  return times.tpot.ms <= goal.tpotMs && times.ttft.ms <= goal.ttftMs;
}

static void keepBetter(std::optional<ServingPlan> &best,
                       const ServingPlan &plan) {
  if (!best || plan.tokensPerDevice > best->tokensPerDevice)
    best = plan;
}

/// Requests in flight in each of `groups` that are worth trying.
static std::vector<double> loads(const ServingGoal &goal, double groups) {
  if (goal.concurrency > 0)
    return {std::max(1.0, goal.concurrency / groups)};
  std::vector<double> all;
  for (double each = 1; each <= maxInFlight; each *= std::sqrt(2))
    if (all.empty() || std::round(each) > all.back())
      all.push_back(std::round(each));
  return all;
}

static std::optional<ServingPlan>
planAggregated(const CalibratedKernels &kernels,
               const std::vector<ServingSetup> &setups,
               const ServingEngine &engine, const ServingGoal &goal) {
  std::optional<ServingPlan> best;
  for (const ServingSetup &setup : setups) {
    ServingPlan plan;
    plan.decoders.setup = setup;
    plan.decoders.count =
        std::floor(static_cast<double>(goal.devices) / setup.devices());
    const double groups = plan.decoders.count * setup.attentionDp;
    for (double each : loads(goal, groups)) {
      auto times = serveAggregated(
          kernels, setup, engine,
          {goal.inputTokens, goal.outputTokens, each * setup.attentionDp});
      // More in flight takes no less time.
      if (!times || !holds(*times, goal))
        break;
      plan.times = *times;
      plan.concurrency = each * groups;
      rate(plan, goal);
      keepBetter(best, plan);
    }
  }
  return best;
}

/// Numbers of readers for decoders and how many of them there are: as many as
/// feed them, and one more or less.
static std::optional<ServingPlan>
planDisaggregated(const CalibratedKernels &kernels,
                  const std::vector<ServingSetup> &setups,
                  const ServingEngine &engine, const ServingGoal &goal) {
  std::optional<ServingPlan> best;
  const double devices = static_cast<double>(goal.devices);
  for (const ServingSetup &reading : setups)
    for (const ServingSetup &decoding : setups)
      for (double readers = 1;
           readers * reading.devices() + decoding.devices() <= devices;
           readers = readers < 4 ? readers + 1 : std::floor(readers * 1.5)) {
        ServingPlan plan;
        plan.readers = ServingWorkers{reading, readers};
        plan.decoders.setup = decoding;
        plan.decoders.count = std::floor(
            (devices - readers * reading.devices()) / decoding.devices());
        const double groups = plan.decoders.count * decoding.attentionDp;
        for (double each : loads(goal, groups)) {
          plan.concurrency = each * groups;
          auto times = serveDisaggregated(
              kernels, *plan.readers, plan.decoders, engine,
              {goal.inputTokens, goal.outputTokens, plan.concurrency});
          if (!times || !holds(*times, goal))
            break;
          plan.times = *times;
          rate(plan, goal);
          keepBetter(best, plan);
        }
      }
  return best;
}

ErrorOr<ServingPlans> cost::planServing(const CalibratedKernels &kernels,
                                        const ServingSetup &base,
                                        const ServingEngine &engine,
                                        const ServingGoal &goal) {
  ErrorOr<ServingStep> step = ServingStep::create(kernels, base, engine);
  if (!step)
    return step.error();
  const std::vector<ServingSetup> setups = layouts(base, goal);
  ServingPlans plans;
  plans.aggregated = planAggregated(kernels, setups, engine, goal);
  plans.disaggregated = planDisaggregated(kernels, setups, engine, goal);
  return plans;
}
