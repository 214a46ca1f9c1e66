//===- Bounds.cpp - What no schedule can undercut -------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Schedule/Bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

using namespace shardopt;
using namespace shardopt::schedule;

int64_t Bounds::makespan() const {
  return std::max({criticalPath, machine, memoryRamp, residence, refuted});
}

namespace {

/// Of an operator on one machine: when it may start, how long it takes, and
/// what is to come after it.
struct Job {
  int64_t head, time, rest;
};

class BoundComputation {
public:
  BoundComputation(const Instance &instance,
                   const std::vector<int32_t> &devices)
      : instance(instance), graph(instance.graph()), devices(devices),
        windows(computeWindows(instance, devices)) {}

  Bounds run();
  int64_t leastPeriod() const;

private:
  int64_t machineBound(int32_t machine) const;
  int64_t sharedBound() const;
  int64_t rampBound(int32_t device) const;
  int64_t fillOfMemory(int32_t device) const;
  /// Bytes times the time that they live at least, over the memory, for so many
  /// repetitions.
  double residenceBound(int32_t device, int32_t copies) const;
  /// The least time between the start of `birth` and the end of what frees it.
  int64_t leastLife(int32_t birth) const;
  bool isOn(int32_t planOp, int32_t device) const {
    return devices[graph.ops[planOp].group] == device;
  }
  int64_t roomOn(int32_t device) const;

  const Instance &instance;
  const PlanGraph &graph;
  const std::vector<int32_t> &devices;
  Windows windows;
};

} // namespace

/// The end of the best schedule of one machine whose jobs may be interrupted
/// (Jackson): whenever one comes or ends, the one with the most after it runs.
static int64_t interruptibleEnd(std::vector<Job> jobs) {
  std::sort(jobs.begin(), jobs.end(),
            [](const Job &a, const Job &b) { return a.head < b.head; });
  std::priority_queue<std::pair<int64_t, int64_t>> ready; // rest, time left
  int64_t now = 0, end = 0;
  for (size_t next = 0; next < jobs.size() || !ready.empty();) {
    if (ready.empty())
      now = std::max(now, jobs[next].head);
    for (; next < jobs.size() && jobs[next].head <= now; ++next)
      ready.push({jobs[next].rest, jobs[next].time});
    auto [rest, left] = ready.top();
    ready.pop();
    int64_t until = next < jobs.size() ? jobs[next].head
                                       : std::numeric_limits<int64_t>::max();
    int64_t run = std::min(left, until - now);
    now += run;
    if (run < left)
      ready.push({rest, left - run});
    else
      end = std::max(end, now + rest);
  }
  return end;
}

int64_t BoundComputation::machineBound(int32_t machine) const {
  std::vector<Job> jobs;
  int32_t device = machine / numMachineKinds;
  for (int32_t op = 0; op < instance.numOps(); ++op) {
    int32_t i = op % instance.period();
    if (!isOn(i, device) ||
        int32_t(graph.ops[i].machine) != machine % numMachineKinds)
      continue;
    int64_t time = graph.time(i, device);
    jobs.push_back({windows.heads[op], time, windows.tails[op] - time});
  }
  return interruptibleEnd(std::move(jobs));
}

/// The least times of all operators, spread evenly over all devices.
int64_t BoundComputation::sharedBound() const {
  int64_t work[numMachineKinds] = {};
  for (int32_t i = 0; i < instance.period(); ++i)
    work[int32_t(graph.ops[i].machine)] += graph.leastTime(i);
  int64_t most = *std::max_element(std::begin(work), std::end(work));
  int64_t count = instance.numDevices();
  return (most * instance.copies() + count - 1) / count;
}

int64_t BoundComputation::roomOn(int32_t device) const {
  int64_t room = *graph.devices[device].memory;
  for (int32_t i = 0; i < instance.period(); ++i)
    if (isOn(i, device))
      room -= graph.ops[i].parameterBytes;
  return room;
}

/// The most that the compute machine of a device can do with the bytes that fit
/// and without giving any back, rounded up: those with the most work for their
/// bytes first.
int64_t BoundComputation::fillOfMemory(int32_t device) const {
  std::vector<int64_t> workOf(instance.period(), 0);
  for (int32_t i = 0; i < instance.period(); ++i) {
    const PlanOp &op = graph.ops[i];
    if (op.claims >= 0 && isOn(i, device) && op.machine == MachineKind::Compute)
      workOf[op.claims] += graph.time(i, device);
  }
  std::vector<int32_t> births;
  for (int32_t i = 0; i < instance.period(); ++i)
    if (graph.ops[i].birthBytes && workOf[i])
      births.push_back(i);
  auto worth = [&](int32_t i) {
    return double(workOf[i]) / double(graph.ops[i].birthBytes);
  };
  std::stable_sort(births.begin(), births.end(),
                   [&](int32_t a, int32_t b) { return worth(a) > worth(b); });
  int64_t room = roomOn(device), fill = 0;
  for (int32_t i : births) {
    int64_t bytes = graph.ops[i].birthBytes;
    int64_t whole = std::min<int64_t>(instance.copies(), room / bytes);
    fill += whole * workOf[i];
    room -= whole * bytes;
    if (whole == instance.copies())
      continue;
    if (room)
      fill += int64_t(double(workOf[i]) * double(room) / double(bytes)) + 1;
    break;
  }
  return fill;
}

int64_t BoundComputation::rampBound(int32_t device) const {
  int64_t begin = std::numeric_limits<int64_t>::max(), rest = begin, work = 0;
  bool hasClaims = false;
  for (int32_t op = 0; op < instance.numOps(); ++op) {
    int32_t i = op % instance.period();
    const PlanOp &planOp = graph.ops[i];
    for (int32_t freed : planOp.frees)
      if (isOn(freed, device))
        begin = std::min(begin, windows.heads[op] + graph.leastTime(i));
    if (!isOn(i, device) || planOp.machine != MachineKind::Compute)
      continue;
    int64_t time = graph.time(i, device);
    work += time;
    rest = std::min(rest, windows.tails[op] - time);
    hasClaims |= planOp.claims >= 0;
    bool isFill = planOp.claims >= 0 && isOn(planOp.claims, device) &&
                  graph.ops[planOp.claims].birthBytes;
    if (!isFill)
      begin = std::min(begin, windows.heads[op]);
  }
  if (!hasClaims)
    return 0;
  int64_t fill = fillOfMemory(device);
  // Unless all its work fits, some of it ends after `begin`.
  return fill >= std::min(begin, work) ? 0 : begin + work - fill + rest;
}

int64_t BoundComputation::leastLife(int32_t birth) const {
  constexpr int64_t none = -1;
  std::vector<int64_t> since(instance.period(), none); // to the start of each
  since[birth] = 0;
  for (int32_t i : instance.order()) {
    if (since[i] == none)
      continue;
    int32_t device = devices[graph.ops[i].group];
    int64_t time = device < 0 ? graph.leastTime(i) : graph.time(i, device);
    for (const Arc &arc : instance.successors(i)) {
      int32_t other = devices[graph.ops[arc.op].group];
      int64_t transfer = device < 0 || other < 0 || other == device
                             ? 0
                             : graph.link.time(arc.bytes);
      since[arc.op] = std::max(since[arc.op], since[i] + time + transfer);
    }
  }
  int64_t life = 0;
  for (int32_t freer : instance.freers(birth))
    if (since[freer] != none)
      life = std::max(life, since[freer] + graph.leastTime(freer));
  return life;
}

double BoundComputation::residenceBound(int32_t device, int32_t copies) const {
  // Bytes times time may exceed 64 bits.
  double residence = 0;
  for (int32_t i = 0; i < instance.period(); ++i)
    if (graph.ops[i].birthBytes && isOn(i, device))
      residence += double(graph.ops[i].birthBytes) * double(leastLife(i));
  int64_t room = roomOn(device);
  if (room <= 0)
    return 0;
  constexpr double rounding = 1e-9;
  return std::max(0.0, residence * copies / double(room) * (1 - rounding));
}

int64_t BoundComputation::leastPeriod() const {
  std::vector<int64_t> work(instance.numMachines(), 0);
  for (int32_t i = 0; i < instance.period(); ++i) {
    int32_t device = devices[graph.ops[i].group];
    work[device * numMachineKinds + int32_t(graph.ops[i].machine)] +=
        graph.time(i, device);
  }
  int64_t least = *std::max_element(work.begin(), work.end());
  for (int32_t d = 0; d < instance.numDevices(); ++d)
    if (graph.devices[d].memory)
      least = std::max(least, int64_t(std::ceil(residenceBound(d, 1))));
  return least;
}

Bounds BoundComputation::run() {
  Bounds bounds;
  for (int32_t op = 0; op < instance.numOps(); ++op)
    bounds.criticalPath =
        std::max(bounds.criticalPath, windows.heads[op] + windows.tails[op]);
  bounds.machine = sharedBound();
  for (int32_t m = 0; m < instance.numMachines(); ++m)
    bounds.machine = std::max(bounds.machine, machineBound(m));
  size_t births = 0;
  for (const PlanOp &op : graph.ops)
    births += op.birthBytes > 0;
  constexpr size_t mostSteps = 50'000'000;
  bool isSmall = births * graph.ops.size() <= mostSteps;
  for (int32_t d = 0; d < instance.numDevices(); ++d) {
    if (!graph.devices[d].memory)
      continue;
    bounds.memoryRamp = std::max(bounds.memoryRamp, rampBound(d));
    if (isSmall)
      bounds.residence = std::max(
          bounds.residence, int64_t(residenceBound(d, instance.copies())));
  }
  return bounds;
}

int64_t schedule::leastPeriod(const Instance &instance,
                              const std::vector<int32_t> &devices) {
  return BoundComputation(instance, devices).leastPeriod();
}

Bounds schedule::computeBounds(const Instance &instance,
                               const std::vector<int32_t> &devices) {
  return BoundComputation(instance, devices).run();
}
