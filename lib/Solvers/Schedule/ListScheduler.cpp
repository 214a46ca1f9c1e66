//===- ListScheduler.cpp - Always the ready operator that matters ---------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Time goes from event to event: an operator ends, or what it sent arrives. At
// each, what ended gives its bytes back, what became ready joins the list of
// its machine, and idle machines choose.
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/ListScheduler.h"

#include <algorithm>
#include <queue>
#include <set>
#include <tuple>

using namespace shardopt;
using namespace shardopt::schedule;

namespace {

class Dispatcher {
public:
  Dispatcher(const Instance &instance, const std::vector<int32_t> &devices,
             const DispatchRule &rule, int64_t limit, const Budget *budget);

  std::optional<Schedule> run();

private:
  struct Event {
    int64_t time;
    int32_t op;
    bool isEnd; ///< otherwise it becomes ready
    bool operator>(const Event &other) const {
      return std::make_tuple(time, !isEnd, op) >
             std::make_tuple(other.time, !other.isEnd, other.op);
    }
  };

  void finish(int32_t op);
  void freeBytes(int32_t op);
  void release(int32_t op);
  /// One thing less to wait for, which is over at `time`.
  void arrive(int32_t op, int64_t time);
  bool fits(int32_t op) const;
  void start(int32_t op, int32_t machine);
  /// Starts what idle machines choose; whether any did.
  bool startAll();

  const Instance &instance;
  const PlanGraph &graph;
  const DispatchRule &rule;
  int64_t limit;
  const Budget *budget;
  Schedule result;
  std::vector<int32_t> waitsFor;    ///< of operators: predecessors
  std::vector<int64_t> readyAt;     ///< of operators: the latest so far
  std::vector<int32_t> freersLeft;  ///< of operators with bytes
  std::vector<int32_t> inFlight;    ///< of operators of the graph
  std::vector<int64_t> room;        ///< of devices
  std::vector<int64_t> machineFree; ///< of machines: when they are idle again
  std::vector<std::set<std::pair<int64_t, int32_t>>> ready; ///< of machines
  std::vector<char> isTouched; ///< machines to which something happened
  std::vector<int32_t> touched;
  std::priority_queue<Event, std::vector<Event>, std::greater<Event>> events;
  int64_t now = 0;
  int32_t numStarted = 0;
};

} // namespace

Dispatcher::Dispatcher(const Instance &instance,
                       const std::vector<int32_t> &devices,
                       const DispatchRule &rule, int64_t limit,
                       const Budget *budget)
    : instance(instance), graph(instance.graph()), rule(rule), limit(limit),
      budget(budget), inFlight(instance.period(), 0),
      machineFree(instance.numMachines(), 0), ready(instance.numMachines()),
      isTouched(instance.numMachines(), 0) {
  int32_t numOps = instance.numOps(), period = instance.period();
  result.devices = devices;
  result.starts.assign(numOps, 0);
  readyAt.assign(numOps, 0);
  waitsFor.resize(numOps);
  freersLeft.resize(numOps);
  for (int32_t op = 0; op < numOps; ++op) {
    int32_t i = op % period;
    // Repetitions start in order.
    waitsFor[op] = int32_t(instance.predecessors(i).size()) + (op >= period);
    freersLeft[op] = int32_t(instance.freers(i).size());
  }
  constexpr int64_t endless = int64_t(1) << 62;
  for (const PlanDevice &device : graph.devices)
    room.push_back(device.memory.value_or(endless));
  for (const PlanOp &op : graph.ops)
    room[devices[op.group]] -= op.parameterBytes;
  for (int32_t op = 0; op < numOps; ++op)
    if (!waitsFor[op])
      events.push({0, op, false});
}

void Dispatcher::arrive(int32_t op, int64_t time) {
  readyAt[op] = std::max(readyAt[op], time);
  if (!--waitsFor[op])
    events.push({std::max(readyAt[op], now), op, false});
}

void Dispatcher::freeBytes(int32_t op) {
  int32_t first = op - op % instance.period();
  for (int32_t freed : instance.at(op).frees) {
    if (--freersLeft[first + freed])
      continue;
    int32_t device = result.deviceOf(instance, first + freed);
    room[device] += graph.ops[freed].birthBytes;
    --inFlight[freed];
    release(first + freed);
  }
}

/// Has the machine of `op` choose again.
void Dispatcher::release(int32_t op) {
  int32_t machine = result.deviceOf(instance, op) * numMachineKinds +
                    int32_t(instance.at(op).machine);
  // Memory is that of the device: both of its machines may have waited.
  int32_t first = machine - machine % numMachineKinds;
  for (int32_t m = first; m < first + numMachineKinds; ++m)
    if (!isTouched[m]) {
      isTouched[m] = 1;
      touched.push_back(m);
    }
}

void Dispatcher::finish(int32_t op) {
  freeBytes(op);
  release(op);
  int32_t i = op % instance.period(), first = op - i;
  int32_t device = result.deviceOf(instance, op);
  for (const Arc &arc : instance.successors(i)) {
    int32_t successor = first + arc.op;
    bool isLocal = result.deviceOf(instance, successor) == device;
    arrive(successor, now + (isLocal ? 0 : graph.link.time(arc.bytes)));
  }
}

bool Dispatcher::fits(int32_t op) const {
  const PlanOp &planOp = instance.at(op);
  if (!planOp.birthBytes)
    return true;
  int32_t i = op % instance.period();
  if (!rule.mostInFlight.empty() && rule.mostInFlight[i] &&
      inFlight[i] >= rule.mostInFlight[i])
    return false;
  return planOp.birthBytes <= room[result.deviceOf(instance, op)];
}

void Dispatcher::start(int32_t op, int32_t machine) {
  int32_t i = op % instance.period();
  int32_t device = machine / numMachineKinds;
  int64_t time = graph.time(i, device);
  ++numStarted;
  result.starts[op] = now;
  machineFree[machine] = now + time;
  room[device] -= graph.ops[i].birthBytes;
  ++inFlight[i];
  events.push({now + time, op, true});
  if (op + instance.period() < instance.numOps())
    arrive(op + instance.period(), now);
}

bool Dispatcher::startAll() {
  bool any = false;
  std::sort(touched.begin(), touched.end());
  std::vector<int32_t> machines;
  machines.swap(touched);
  for (int32_t m : machines) {
    isTouched[m] = 0;
    if (machineFree[m] > now)
      continue;
    for (auto it = ready[m].begin(); it != ready[m].end(); ++it) {
      int32_t op = it->second;
      if (!fits(op))
        continue;
      ready[m].erase(it);
      start(op, m);
      any = true;
      break;
    }
  }
  return any;
}

std::optional<Schedule> Dispatcher::run() {
  int64_t makespan = 0;
  constexpr int32_t stride = 1024; // between looks at the clock
  for (int32_t step = 1; !events.empty(); ++step) {
    if (budget && step % stride == 0 && budget->isOver())
      return std::nullopt;
    now = events.top().time;
    while (!events.empty() && events.top().time == now) {
      Event event = events.top();
      events.pop();
      if (event.isEnd) {
        finish(event.op);
        makespan = now;
        continue;
      }
      release(event.op);
      int32_t machine = result.deviceOf(instance, event.op) * numMachineKinds +
                        int32_t(instance.at(event.op).machine);
      ready[machine].insert({rule.keys[event.op], event.op});
    }
    if (limit && now >= limit)
      return std::nullopt;
    startAll();
  }
  if (numStarted < instance.numOps() || (limit && makespan >= limit))
    return std::nullopt;
  return std::move(result);
}

std::optional<Schedule> schedule::dispatch(const Instance &instance,
                                           const std::vector<int32_t> &devices,
                                           const DispatchRule &rule,
                                           int64_t limit,
                                           const Budget *budget) {
  return Dispatcher(instance, devices, rule, limit, budget).run();
}
