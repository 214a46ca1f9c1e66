//===- RuleSweep.cpp - List scheduling by each rule of a family -----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rule gives operator i of repetition c the key
//
//   pace * c + place(i) + bias(phase of i)
//
// where `pace` is a multiple of the work of the busiest machine in a
// repetition, `place` is the time before i in a lone repetition, or the time
// after it, negated, and a bias puts off weight gradients, which nothing waits
// for, or forward passes. Where memory is limited, a rule also limits how many
// micro-batches hold the bytes of a stage: slope * (stages to come) + offset,
// which for slope 1 is the rule of 1F1B. The last slope is the largest at which
// all stages of each device can be as full as that together, so that none waits
// for bytes that wait for it.
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/Backends.h"
#include "shardopt/Solvers/Schedule/ListScheduler.h"
#include "shardopt/Support/ParallelFor.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace shardopt;
using namespace shardopt::schedule;

namespace {

struct Rule {
  double pace;
  bool fromEnd; ///< `place` is the time after, otherwise the time before
  double weightBias, forwardBias;
  double slope; ///< 0: no limit
  int32_t offset;
};

class RuleSweep : public Backend {
public:
  explicit RuleSweep(int threads) : threads(threads) {}
  const char *name() const override { return "rules"; }
  void improve(Incumbent &incumbent, const Budget &budget) override;

private:
  int threads;
};

} // namespace

namespace {

/// What all rules of an instance share.
struct RuleFrame {
  RuleFrame(const Instance &instance, const std::vector<int32_t> &devices);
  DispatchRule instantiate(const Rule &rule) const;
  /// The largest slope at which all stages of each device, as full as it lets
  /// them be, fit together; 0 for none.
  double fullestSlope() const;

  const Instance &instance;
  const std::vector<int32_t> &devices; ///< of groups
  std::vector<int64_t> before, after;  ///< of operators of the graph
  double period = 1;                   ///< work of the busiest machine
  int32_t stages = 0;

private:
  int32_t mostInFlight(const PlanOp &op, double slope, int32_t offset) const;
  bool fitsAt(double slope) const;
};

} // namespace

RuleFrame::RuleFrame(const Instance &instance,
                     const std::vector<int32_t> &devices)
    : instance(instance), devices(devices) {
  Windows windows = computeWindows(instance, devices);
  const PlanGraph &graph = instance.graph();
  int32_t count = instance.period();
  before.assign(windows.heads.begin(), windows.heads.begin() + count);
  // Of the last repetition, behind which nothing waits.
  after.assign(windows.tails.end() - count, windows.tails.end());
  std::vector<int64_t> work(instance.numMachines(), 0);
  for (int32_t i = 0; i < count; ++i) {
    int32_t device = devices[graph.ops[i].group];
    work[device * numMachineKinds + int32_t(graph.ops[i].machine)] +=
        graph.time(i, device);
    stages = std::max(stages, graph.ops[i].stage + 1);
  }
  period =
      double(std::max<int64_t>(1, *std::max_element(work.begin(), work.end())));
}

/// How many micro-batches may hold the bytes of an operator; 0: any number.
int32_t RuleFrame::mostInFlight(const PlanOp &op, double slope,
                                int32_t offset) const {
  if (!op.birthBytes || op.stage < 0)
    return 0;
  double most = std::ceil(slope * (stages - op.stage));
  return std::max<int32_t>(1, int32_t(most) + offset);
}

bool RuleFrame::fitsAt(double slope) const {
  const PlanGraph &graph = instance.graph();
  std::vector<int64_t> held(graph.devices.size(), 0);
  for (const PlanOp &op : graph.ops)
    held[devices[op.group]] +=
        op.parameterBytes + mostInFlight(op, slope, 0) * op.birthBytes;
  for (size_t device = 0; device < held.size(); ++device)
    if (held[device] > graph.devices[device].memory.value_or(held[device]))
      return false;
  return true;
}

double RuleFrame::fullestSlope() const {
  // More than one micro-batch for each stage to come is of no use.
  double fits = 0, most = 2;
  constexpr int halvings = 20;
  for (int i = 0; i < halvings; ++i) {
    double middle = (fits + most) / 2;
    (fitsAt(middle) ? fits : most) = middle;
  }
  return fits;
}

DispatchRule RuleFrame::instantiate(const Rule &rule) const {
  const PlanGraph &graph = instance.graph();
  DispatchRule result;
  std::vector<double> own(instance.period());
  for (int32_t i = 0; i < instance.period(); ++i) {
    own[i] = rule.fromEnd ? -double(after[i]) : double(before[i]);
    if (graph.ops[i].phase == PlanOpPhase::WeightGradient)
      own[i] += rule.weightBias * period;
    if (graph.ops[i].phase == PlanOpPhase::Forward)
      own[i] += rule.forwardBias * period;
  }
  // Halves of a period make ties that are broken by index.
  for (int32_t op = 0; op < instance.numOps(); ++op)
    result.keys.push_back(
        int64_t(std::llround(2 * (own[op % instance.period()] +
                                  rule.pace * period * instance.copyOf(op)))));
  if (!rule.slope)
    return result;
  result.mostInFlight.assign(instance.period(), 0);
  for (int32_t i = 0; i < instance.period(); ++i)
    result.mostInFlight[i] =
        mostInFlight(graph.ops[i], rule.slope, rule.offset);
  return result;
}

static std::vector<Rule> makeRules(const RuleFrame &frame) {
  const Instance &instance = frame.instance;
  bool isRepeated = instance.copies() > 1;
  bool isLimited = false, hasPhases = false;
  for (const PlanDevice &device : instance.graph().devices)
    isLimited |= device.memory.has_value();
  for (const PlanOp &op : instance.graph().ops)
    hasPhases |= op.phase == PlanOpPhase::WeightGradient;
  std::vector<double> paces = {1, 0.75, 1.5, 0.5, 1.25, 2, 0.25, 4, 0};
  if (!isRepeated)
    paces = {1};
  std::vector<double> slopes = {0};
  std::vector<int32_t> offsets = {0};
  if (isLimited) {
    slopes = {1, 0.75, 0.5, 2, 1.5, 0.34, 0.66, 0};
    if (double slope = frame.fullestSlope())
      slopes.push_back(slope);
    offsets = {0, 1, 2, -1};
  }
  std::vector<double> weightBiases = {0}, forwardBiases = {0};
  if (hasPhases) {
    weightBiases = {1e3, 0, 1, 3};
    forwardBiases = {0, 1, -1, 1e2};
  }
  // Those that differ little from the first of their slope and offset come
  // first, so that a few of all kinds are tried where each takes long.
  std::vector<std::pair<size_t, Rule>> rules;
  for (double slope : slopes)
    for (int32_t offset : offsets)
      for (size_t w = 0; w < weightBiases.size(); ++w)
        for (size_t f = 0; f < forwardBiases.size(); ++f)
          for (size_t fromStart : {0, 1})
            for (size_t p = 0; p < paces.size(); ++p)
              if (slope || !offset)
                rules.push_back({w + f + fromStart + p,
                                 {paces[p], !fromStart, weightBiases[w],
                                  forwardBiases[f], slope, offset}});
  std::stable_sort(
      rules.begin(), rules.end(),
      [](const auto &a, const auto &b) { return a.first < b.first; });
  std::vector<Rule> result;
  for (const auto &[distance, rule] : rules)
    result.push_back(rule);
  return result;
}

void RuleSweep::improve(Incumbent &incumbent, const Budget &budget) {
  const Instance &instance = incumbent.instance();
  std::vector<int32_t> devices =
      incumbent.exists() ? incumbent.schedule().devices : instance.placement();
  if (std::count(devices.begin(), devices.end(), -1))
    return;
  RuleFrame frame(instance, devices);
  std::vector<Rule> rules = makeRules(frame);
  if (budget.rounds() && int64_t(rules.size()) > budget.rounds())
    rules.resize(budget.rounds());
  // Batches of a fixed size, so that the result is that of one thread.
  constexpr size_t batch = 64;
  for (size_t first = 0; first < rules.size(); first += batch) {
    if (incumbent.isProved() || budget.isOver())
      return;
    size_t count = std::min(batch, rules.size() - first);
    std::vector<std::optional<Schedule>> found(count);
    bool isTimed = incumbent.objective() == Criterion::Makespan;
    int64_t limit =
        isTimed && incumbent.exists() ? incumbent.verdict().makespan : 0;
    parallelFor(count, unsigned(threads), [&](size_t k) {
      if (!budget.isOver())
        found[k] =
            dispatch(instance, devices, frame.instantiate(rules[first + k]),
                     limit, &budget);
    });
    for (const std::optional<Schedule> &schedule : found)
      if (schedule)
        incumbent.offer(*schedule, name());
  }
}

std::unique_ptr<Backend> schedule::makeRuleSweep(int threads) {
  return std::make_unique<RuleSweep>(threads);
}
