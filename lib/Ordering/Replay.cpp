//===- Replay.cpp - A planned order, event by event -----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Ordering/Replay.h"

#include "shardopt/Simulation/EventSimulation.h"

#include <algorithm>
#include <numeric>
#include <tuple>

using namespace shardopt;
using namespace shardopt::ordering;
using namespace shardopt::schedule;
using simulation::Task;

/// The operators so that those of each machine are in their order, and each
/// comes after those that it waits for.
static std::vector<int32_t> issueOrder(const Instance &instance,
                                       const Schedule &schedule) {
  std::vector<int32_t> place(instance.period());
  for (int32_t k = 0; k < instance.period(); ++k)
    place[instance.order()[k]] = k;
  auto key = [&](int32_t op) {
    return std::make_tuple(schedule.starts[op], schedule.end(instance, op),
                           instance.copyOf(op), place[op % instance.period()]);
  };
  std::vector<int32_t> order(instance.numOps());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int32_t a, int32_t b) { return key(a) < key(b); });
  return order;
}

Replay ordering::replay(const Instance &instance, const Schedule &schedule,
                        double interference) {
  simulation::EventSimulation events(interference,
                                     unsigned(instance.numDevices()));
  std::vector<int> tasks(instance.numOps(), Task::none);
  for (int32_t op : issueOrder(instance, schedule)) {
    const PlanOp &plan = instance.at(op);
    Task task;
    task.device = unsigned(schedule.deviceOf(instance, op));
    if (plan.machine == MachineKind::Comm) {
      task.stream = simulation::streamOf(Axis::Tp);
      task.link = simulation::Link::Domain;
    }
    // A task waits for a few others at most: empty ones in front of it wait for
    // the rest.
    size_t waits = 0;
    const int32_t i = op % instance.period(), first = op - i;
    for (const Arc &arc : instance.predecessors(i)) {
      if (waits == task.after.size()) {
        Task join = task;
        task.after = {events.add(join), Task::none, Task::none};
        waits = 1;
      }
      task.after[waits++] = tasks[first + arc.op];
    }
    task.work = double(instance.graph().time(i, int32_t(task.device)));
    tasks[op] = events.add(task);
  }
  events.run();
  Replay result;
  for (int task : tasks) {
    result.ends.push_back(events.finish(task));
    result.makespan = std::max(result.makespan, result.ends.back());
  }
  return result;
}
