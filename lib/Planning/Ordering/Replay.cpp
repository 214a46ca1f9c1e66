//===- Replay.cpp - A planned order, event by event -----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/Ordering/Replay.h"

#include "shardopt/Cost/Simulation/EventSimulation.h"

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

namespace {

/// Operators as tasks. Those of a stream run in the order in which they are
/// issued.
class Issuer {
public:
  Issuer(const Instance &instance, const std::vector<int32_t> &devices,
         double interference)
      : events(interference, unsigned(instance.numDevices()) + 1),
        instance(instance), devices(devices) {}

  /// Its task, which waits for `after`.
  int issue(int32_t op, const std::vector<int> &after);
  /// A task on no device that ends so long after the one before.
  int tick(double nanoseconds);

  simulation::EventSimulation events;

private:
  const Instance &instance;
  const std::vector<int32_t> &devices; ///< of groups
};

} // namespace

int Issuer::issue(int32_t op, const std::vector<int> &after) {
  const PlanOp &plan = instance.at(op);
  Task task;
  task.device = unsigned(devices[plan.group]);
  if (plan.machine == MachineKind::Comm) {
    task.stream = simulation::streamOf(Axis::Tp);
    task.link = simulation::Link::Domain;
  }
  // A task waits for a few others at most: empty ones in front of it wait for
  // the rest.
  size_t waits = 0;
  for (int other : after) {
    if (waits == task.after.size()) {
      Task join = task;
      task.after = {events.add(join), Task::none, Task::none};
      waits = 1;
    }
    task.after[waits++] = other;
  }
  task.work = double(
      instance.graph().time(op % instance.period(), int32_t(task.device)));
  return events.add(task);
}

int Issuer::tick(double nanoseconds) {
  Task task;
  task.device = unsigned(instance.numDevices());
  task.work = nanoseconds;
  return events.add(task);
}

Replay ordering::replay(const Instance &instance, const Schedule &schedule,
                        double interference) {
  Issuer issuer(instance, schedule.devices, interference);
  std::vector<int> tasks(instance.numOps(), Task::none);
  for (int32_t op : issueOrder(instance, schedule)) {
    int32_t i = op % instance.period(), first = op - i;
    std::vector<int> after;
    for (const Arc &arc : instance.predecessors(i))
      after.push_back(tasks[first + arc.op]);
    tasks[op] = issuer.issue(op, after);
  }
  issuer.events.run();
  Replay result;
  for (int task : tasks) {
    result.ends.push_back(issuer.events.finish(task));
    result.makespan = std::max(result.makespan, result.ends.back());
  }
  return result;
}

Replay ordering::replayTurn(const RingFrame &frame, const RingTurn &turn,
                            double interference) {
  const Instance &instance = frame.instance;
  std::vector<int32_t> devices = instance.placement();
  bool isPaced = interference == 0;
  size_t settled = size_t(turn.turnsToSettle) + 1;
  size_t averaged = isPaced ? 1 : settled;
  std::vector<std::vector<const ReturnEdge *>> returnsTo(
      size_t(instance.numOps()));
  for (const ReturnEdge &edge : frame.returns)
    returnsTo[edge.to].push_back(&edge);
  std::vector<int32_t> order =
      issueOrder(instance, Schedule{devices, turn.starts});
  Issuer issuer(instance, devices, interference);
  std::vector<std::vector<int>> tasks; ///< by turn
  int clock = Task::none;
  while (tasks.size() < settled + averaged + 1) {
    size_t n = tasks.size();
    if (isPaced && n > 0)
      clock = issuer.tick(double(turn.period));
    tasks.emplace_back(size_t(instance.numOps()), Task::none);
    for (int32_t op : order) {
      std::vector<int> after;
      for (const Arc &arc : instance.predecessors(op))
        after.push_back(tasks[n][arc.op]);
      for (const ReturnEdge *edge : returnsTo[op])
        if (size_t(edge->turns) <= n)
          after.push_back(tasks[n - edge->turns][edge->from]);
      if (instance.predecessors(op).empty() && clock != Task::none)
        after.push_back(clock);
      tasks[n][op] = issuer.issue(op, after);
    }
  }
  issuer.events.run();
  auto endOf = [&](size_t n) {
    double end = 0;
    for (int task : tasks[n])
      end = std::max(end, issuer.events.finish(task));
    return end;
  };
  size_t last = tasks.size() - 1;
  Replay result;
  result.makespan = (endOf(last) - endOf(last - averaged)) / double(averaged);
  double begin = double(turn.period) * double(last);
  for (int task : tasks[last])
    result.ends.push_back(issuer.events.finish(task) - begin);
  return result;
}
