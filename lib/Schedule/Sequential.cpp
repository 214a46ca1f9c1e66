//===- Sequential.cpp - One operator after the other ----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Schedule/Sequential.h"

#include "shardopt/Schedule/Backends.h"

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

Schedule schedule::scheduleSequentially(const Instance &instance,
                                        const std::vector<int32_t> &devices) {
  const PlanGraph &graph = instance.graph();
  Schedule schedule{devices, {}};
  schedule.starts.assign(instance.numOps(), 0);
  int64_t now = 0;
  for (int32_t c = 0; c < instance.copies(); ++c)
    for (int32_t i : instance.order()) {
      int32_t first = c * instance.period(),
              device = schedule.devices[graph.ops[i].group];
      int64_t start = now;
      for (const Arc &arc : instance.predecessors(i))
        if (schedule.devices[graph.ops[arc.op].group] != device)
          start = std::max(start, schedule.end(instance, first + arc.op) +
                                      graph.link.time(arc.bytes));
      schedule.starts[first + i] = start;
      now = start + graph.time(i, device);
    }
  return schedule;
}

void Sequential::improve(Incumbent &incumbent, const Budget &) {
  const Instance &instance = incumbent.instance();
  if (incumbent.exists() || !instance.isPlaced())
    return;
  Schedule schedule = scheduleSequentially(instance, instance.placement());
  // Where memory is too small even for this, another order may fit.
  if (validate(instance, schedule))
    incumbent.offer(schedule, name());
}

std::unique_ptr<Backend> schedule::makeSequential() {
  return std::make_unique<Sequential>();
}
