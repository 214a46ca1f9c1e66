//===- Sequential.cpp - One operator after the other ----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/Sequential.h"

#include "FittingOrder.h"
#include "shardopt/Solvers/Schedule/Backends.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::schedule;

namespace {

class Sequential : public Backend {
public:
  const char *name() const override { return "sequential"; }
  void improve(Incumbent &incumbent, const Budget &budget) override;
};

} // namespace

Schedule schedule::scheduleInOrder(const Instance &instance,
                                   const std::vector<int32_t> &devices,
                                   const std::vector<int32_t> &order) {
  const PlanGraph &graph = instance.graph();
  Schedule schedule{devices, {}};
  schedule.starts.assign(instance.numOps(), 0);
  int64_t now = 0;
  for (int32_t op : order) {
    int32_t i = op % instance.period(), first = op - i;
    int32_t device = schedule.deviceOf(instance, op);
    int64_t start = now;
    for (const Arc &arc : instance.predecessors(i))
      if (schedule.deviceOf(instance, first + arc.op) != device)
        start = std::max(start, schedule.end(instance, first + arc.op) +
                                    graph.link.time(arc.bytes));
    schedule.starts[op] = start;
    now = start + graph.time(i, device);
  }
  return schedule;
}

Schedule schedule::scheduleSequentially(const Instance &instance,
                                        const std::vector<int32_t> &devices) {
  std::vector<int32_t> order;
  order.reserve(instance.numOps());
  for (int32_t c = 0; c < instance.copies(); ++c)
    for (int32_t i : instance.order())
      order.push_back(c * instance.period() + i);
  return scheduleInOrder(instance, devices, order);
}

void Sequential::improve(Incumbent &incumbent, const Budget &budget) {
  const Instance &instance = incumbent.instance();
  if (incumbent.exists() || !instance.isPlaced())
    return;
  Schedule schedule = scheduleSequentially(instance, instance.placement());
  if (validate(instance, schedule))
    incumbent.offer(schedule, name());
  else // another order may fit
    improveByFitting(incumbent, budget, name());
}

std::unique_ptr<Backend> schedule::makeSequential() {
  return std::make_unique<Sequential>();
}
