//===- Deciding.cpp - Makespans by questions of yes and no ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Deciding.h"

using namespace shardopt;
using namespace shardopt::schedule;

void schedule::improveByDeciding(Incumbent &incumbent, const Budget &budget,
                                 int64_t effort, const Decide &decide) {
  const Instance &instance = incumbent.instance();
  if (!instance.isPlaced() || incumbent.objective() != Objective::Makespan)
    return;
  std::vector<int32_t> devices = instance.placement();
  int64_t unit = StepModel(instance, devices, 0).unit();
  // One after the other, each with the transfers before it.
  int64_t most = 0;
  const PlanGraph &graph = instance.graph();
  for (int32_t i = 0; i < instance.period(); ++i)
    most += graph.time(i, devices[graph.ops[i].group]) * instance.copies();
  for (const PlanEdge &edge : graph.edges)
    most += graph.link.time(edge.bytes) * instance.copies();
  most = (most + unit - 1) / unit * unit;
  constexpr int64_t mostSize = 20'000'000;
  int64_t spent = 0;
  while (!incumbent.isProved() && !budget.isOver()) {
    if (budget.rounds() && spent >= budget.rounds())
      return;
    // Makespans are multiples of the unit.
    int64_t low = (incumbent.bound() + unit - 1) / unit * unit;
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
      StepModel model(instance, devices, makespan);
      if (model.isRefuted())
        answer = Answer::No;
      else if (model.size() <= mostSize)
        answer = decide(model, effort);
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
