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

void schedule::decideMakespans(Incumbent &incumbent, const Budget &budget,
                               int64_t unit, int64_t effort,
                               const Decide &decide) {
  auto roundUp = [unit](int64_t time) {
    return (time + unit - 1) / unit * unit;
  };
  int64_t most = roundUp(longestMakespan(incumbent.instance()));
  int64_t spent = 0;
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
