//===- Deciding.cpp - Makespans by questions of yes and no ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Deciding.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::schedule;

/// All operators one after the other, each on its slowest device and with the
/// transfers before it.
static int64_t longestMakespan(const Instance &instance) {
  const PlanGraph &graph = instance.graph();
  int64_t most = 0;
  for (const PlanOp &op : graph.ops)
    most += *std::max_element(op.times.begin(), op.times.end());
  for (const PlanEdge &edge : graph.edges)
    most += graph.link.time(edge.bytes);
  return most * instance.copies();
}

std::optional<int64_t> schedule::coarseUnit(const Incumbent &incumbent,
                                            int64_t unit) {
  constexpr int64_t mostSteps = 1 << 15, coarseSteps = 1 << 9;
  constexpr double leastLeft = 0.8;
  if (!incumbent.exists() || incumbent.verdict().makespan / unit <= mostSteps)
    return unit;
  const Instance &instance = incumbent.instance();
  int64_t coarse =
      (incumbent.verdict().makespan + coarseSteps - 1) / coarseSteps;
  std::vector<int64_t> work(instance.numMachines(), 0), left(work);
  for (int32_t i = 0; i < instance.period(); ++i) {
    const PlanOp &op = instance.graph().ops[i];
    int32_t device = instance.graph().groups[op.group].device;
    int64_t time = instance.graph().time(i, device);
    size_t machine = size_t(device) * numMachineKinds + size_t(op.machine);
    work[machine] += time;
    left[machine] += time / coarse * coarse;
  }
  auto busiest = std::max_element(work.begin(), work.end());
  if (double(left[busiest - work.begin()]) < leastLeft * double(*busiest))
    return std::nullopt;
  return coarse;
}

void schedule::decideRounded(
    Incumbent &incumbent, const Budget &budget, int64_t unit,
    const std::function<Answer(int64_t makespan)> &decide) {
  // Where the least cannot be refuted, none can.
  int64_t low = incumbent.bound() / unit, asked = low;
  int64_t high = incumbent.verdict().makespan / unit;
  for (int64_t round = 0; low < high && !incumbent.isProved(); ++round) {
    if (budget.isOver() || (budget.rounds() && round >= budget.rounds()))
      return;
    Answer answer = decide(asked * unit);
    if (answer == Answer::Unknown)
      return;
    if (answer == Answer::Yes) {
      high = asked;
    } else {
      low = asked + 1;
      incumbent.raiseBound(low * unit);
    }
    asked = low + (high - low) / 2;
  }
}

void schedule::decideMakespans(Incumbent &incumbent, const Budget &budget,
                               int64_t unit, int64_t effort,
                               const Decide &decide) {
  auto roundUp = [unit](int64_t time) {
    return (time + unit - 1) / unit * unit;
  };
  int64_t most = roundUp(longestMakespan(incumbent.instance()));
  int64_t spent = 0;
  // No question takes more than all of them may.
  if (budget.rounds())
    effort = std::min(effort, budget.rounds());
  while (!incumbent.isProved() && !budget.isOver()) {
    if (budget.rounds() && spent >= budget.rounds())
      return;
    // Makespans are multiples of the unit.
    int64_t low = roundUp(incumbent.bound());
    int64_t high =
        incumbent.exists() ? incumbent.verdict().makespan - unit : most;
    if (low > high) {
      incumbent.raiseBound(low);
      return;
    }
    int64_t middle = low + (high - low) / unit / 2 * unit;
    Answer answer = Answer::Unknown;
    int64_t asked = -1;
    for (int64_t makespan : {low, middle, high}) {
      if (makespan == asked || budget.isOver())
        continue;
      asked = makespan;
      spent += effort;
      answer = decide(makespan, effort);
      if (answer == Answer::No)
        incumbent.raiseBound(makespan + unit);
      if (answer != Answer::Unknown)
        break;
    }
    if (answer != Answer::Unknown)
      continue;
    if (effort > INT32_MAX / 4)
      return;
    effort *= 2;
  }
}
