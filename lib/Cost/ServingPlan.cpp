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

static bool isBetter(const ServingPlan &plan, const ServingPlan &other,
                     double rate) {
  if (rate <= 0)
    return plan.tokensPerDevice > other.tokensPerDevice;
  const double more = plan.usedDevices() - other.usedDevices();
  return more != 0 ? more < 0 : plan.times.tpot.ms < other.times.tpot.ms;
}

const ServingPlan *ServingPlans::best() const {
  if (!aggregated || !disaggregated)
    return aggregated      ? &*aggregated
           : disaggregated ? &*disaggregated
                           : nullptr;
  return isBetter(*disaggregated, *aggregated, rate) ? &*disaggregated
                                                     : &*aggregated;
}

int64_t cost::longestContext(const RequestLoad &load, Phase phase) {
  const double answer = phase == Phase::Decode ? *load[RequestField::Osl] : 0;
  return int64_t(*load[RequestField::Isl] + answer);
}

std::optional<std::string> cost::contextError(const Workload &workload,
                                              const RequestLoad &load) {
  if (!load.hasRequests())
    return std::nullopt;
  const int64_t longest = longestContext(load, workload.phase);
  if (workload.context <= longest)
    return std::nullopt;
  return "'context' is " + std::to_string(workload.context) +
         ", expected at most " + std::to_string(longest) +
         (workload.phase == Phase::Decode
              ? ", the tokens of a prompt and its answer"
              : ", the tokens of a prompt");
}

ServingGoal cost::goalOf(const RequestLoad &load) {
  using Field = RequestField;
  ServingGoal goal;
  goal.inputTokens = load[Field::Isl].value_or(1);
  goal.outputTokens = load[Field::Osl].value_or(1);
  goal.concurrency = load[Field::Concurrency].value_or(0);
  goal.rate = load[Field::Rate].value_or(0);
  goal.tpotMs = load[Field::TpotMs].value_or(50);
  goal.ttftMs = load[Field::TtftMs].value_or(2000);
  goal.traits.accepted = load[Field::AcceptedTokens].value_or(0);
  goal.traits.drafts = load[Field::DraftTokens].value_or(0);
  goal.traits.found = load[Field::PrefixHit].value_or(0);
  goal.traits.skew = load[Field::ExpertSkew].value_or(0);
  return goal;
}

/// Layouts of one replica: attention in `tp`, or in groups of it where there
/// are experts; these by their columns, or one by one. On at most `devices`, if
/// `canRun` runs them.
static std::vector<ServingSetup>
layouts(const ServingSetup &base, int64_t devices,
        const std::function<bool(const ServingSetup &)> &canRun) {
  std::vector<ServingSetup> all;
  auto add = [&](const ServingSetup &setup) {
    if (!canRun || canRun(setup))
      all.push_back(setup);
  };
  const double most = static_cast<double>(devices);
  for (double tp = 1; tp <= std::min(most, base.model.heads); tp *= 2)
    for (double groups = 1; tp * groups <= most; groups *= 2) {
      const double used = tp * groups;
      const bool hasExperts = base.model.experts > 0;
      if (!hasExperts && groups > 1)
        break; // replicas
      ServingSetup setup = base;
      setup.tp = tp;
      setup.attentionDp = groups;
      setup.expertTp = used;
      setup.expertEp = 1;
      if (groups == 1)
        add(setup);
      if (!hasExperts || used == 1 || used > base.model.experts)
        continue;
      std::swap(setup.expertTp, setup.expertEp);
      add(setup);
    }
  return all;
}

/// What the cluster attains with `concurrency` requests in flight.
static void rate(ServingPlan &plan, const ServingGoal &goal) {
  const double seconds =
      (plan.times.ttft.ms + goal.outputTokens * plan.times.tpot.ms) / 1e3;
  plan.requestsPerSecond = plan.concurrency / seconds;
  plan.tokensPerDevice =
      plan.requestsPerSecond * goal.outputTokens / goal.allDevices();
}

static bool holds(const ServingTimes &times, const ServingGoal &goal) {
  return times.tpot.ms <= goal.tpotMs && times.ttft.ms <= goal.ttftMs;
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

namespace {
/// Tries plans, and keeps the best.
class Trial {
public:
  Trial(const CalibratedKernels &kernels, const ServingEngine &engine,
        const ServingGoal &goal)
      : kernels(kernels), engine(engine), goal(goal) {}

  void aggregated(const ServingSetup &setup);
  /// All pairs of layouts, with the readers on `prefill`; null: on the same
  /// machine.
  void disaggregated(const std::vector<ServingSetup> &reading,
                     const std::vector<ServingSetup> &decoding,
                     const PrefillMachine *prefill);

  std::optional<ServingPlan> best;

private:
  /// Decoders in numbers from 1 to `most`: all of them, or at a rate the fewest
  /// that serve it.
  void inNumbers(ServingPlan plan, double most);
  /// The best of `plan` under all loads; none where none holds the limits, or
  /// reaches the rate.
  std::optional<ServingPlan> underLoads(const ServingPlan &plan) const;
  std::optional<ServingPlan> at(ServingPlan plan, double concurrency) const;

  const CalibratedKernels &kernels;
  const CalibratedKernels *reading = nullptr; ///< of another machine
  const ServingEngine &engine;
  const ServingGoal &goal;
};
} // namespace

/// `plan` with so many requests in flight; none where a limit is missed.
std::optional<ServingPlan> Trial::at(ServingPlan plan,
                                     double concurrency) const {
  ServingLoad load{goal.inputTokens, goal.outputTokens, concurrency,
                   goal.traits};
  plan.concurrency = concurrency;
  if (!plan.readers)
    load.concurrency /= plan.decoders.count;
  ErrorOr<ServingTimes> times =
      plan.readers
          ? serveDisaggregated(kernels, *plan.readers, plan.decoders, engine,
                               load, reading)
          : serveAggregated(kernels, plan.decoders.setup, engine, load);
  if (!times || !holds(*times, goal))
    return std::nullopt;
  plan.times = *times;
  rate(plan, goal);
  return plan;
}

std::optional<ServingPlan> Trial::underLoads(const ServingPlan &plan) const {
  const double groups = plan.decoders.count * plan.decoders.setup.attentionDp;
  std::optional<ServingPlan> found;
  double before = 0; // less than what the rate takes
  for (double each : loads(goal, groups)) {
    std::optional<ServingPlan> tried = at(plan, each * groups);
    // More in flight takes no less time.
    if (!tried)
      break;
    if (goal.rate <= 0) {
      if (!found || isBetter(*tried, *found, 0))
        found = tried;
      continue;
    }
    if (tried->requestsPerSecond < goal.rate) {
      before = each;
      continue;
    }
    found = tried;
    for (double after = each; before > 0 && after - before > 0.01 * after;) {
      const double middle = (before + after) / 2;
      tried = at(plan, middle * groups);
      const bool isEnough = tried && tried->requestsPerSecond >= goal.rate;
      (isEnough ? after : before) = middle;
      if (isEnough)
        found = tried;
    }
    // What arrives, and not what could.
    found->requestsPerSecond = goal.rate;
    found->tokensPerDevice = goal.rate * goal.outputTokens / goal.allDevices();
    break;
  }
  return found;
}

void Trial::inNumbers(ServingPlan plan, double most) {
  if (most < 1)
    return;
  plan.decoders.count = most;
  std::optional<ServingPlan> found = underLoads(plan);
  // More decoders serve no less.
  double less = 0;
  while (goal.rate > 0 && found && found->decoders.count - less > 1) {
    plan.decoders.count = std::floor((less + found->decoders.count) / 2);
    if (std::optional<ServingPlan> fewer = underLoads(plan))
      found = fewer;
    else
      less = plan.decoders.count;
  }
  if (found && (!best || isBetter(*found, *best, goal.rate)))
    best = found;
}

void Trial::aggregated(const ServingSetup &setup) {
  ServingPlan plan;
  plan.decoders.setup = setup;
  inNumbers(plan,
            std::floor(static_cast<double>(goal.devices) / setup.devices()));
}

void Trial::disaggregated(const std::vector<ServingSetup> &readingSetups,
                          const std::vector<ServingSetup> &decodingSetups,
                          const PrefillMachine *prefill) {
  reading = prefill ? &prefill->kernels : nullptr;
  const double devices = static_cast<double>(goal.devices);
  const bool areApart = prefill && goal.prefillDevices > 0;
  const double readable =
      areApart ? static_cast<double>(goal.prefillDevices) : devices;
  ServingPlan plan;
  if (prefill)
    plan.readingMachine = prefill->name;
  for (const ServingSetup &reads : readingSetups)
    for (const ServingSetup &decodes : decodingSetups)
      for (double readers = 1; readers * reads.devices() <= readable;
           readers = readers < 4 ? readers + 1 : std::floor(readers * 1.5)) {
        const double left = areApart ? 0 : readers * reads.devices();
        plan.readers = ServingWorkers{reads, readers};
        plan.decoders.setup = decodes;
        inNumbers(plan, std::floor((devices - left) / decodes.devices()));
      }
}

ErrorOr<ServingPlans>
cost::planServing(const CalibratedKernels &kernels, const ServingSetup &base,
                  const ServingEngine &engine, const ServingGoal &goal,
                  const std::function<bool(const ServingSetup &)> &canRun,
                  const PrefillMachine *prefill) {
  for (const CalibratedKernels *each :
       {&kernels, prefill ? &prefill->kernels : &kernels})
    if (auto step = ServingStep::create(*each, base, engine); !step)
      return step.error();
  const std::vector<ServingSetup> setups =
      layouts(base, std::min(goal.devices, goal.domainSize), canRun);
  Trial aggregated(kernels, engine, goal), disaggregated(kernels, engine, goal);
  for (const ServingSetup &setup : setups)
    aggregated.aggregated(setup);
  disaggregated.disaggregated(setups, setups, /*prefill=*/nullptr);
  if (prefill) {
    const int64_t readable =
        goal.prefillDevices > 0 ? goal.prefillDevices : goal.devices;
    disaggregated.disaggregated(
        layouts(base, std::min(readable, prefill->domainSize), prefill->canRun),
        setups, prefill);
  }
  ServingPlans plans;
  plans.aggregated = aggregated.best;
  plans.disaggregated = disaggregated.best;
  plans.rate = goal.rate;
  return plans;
}
