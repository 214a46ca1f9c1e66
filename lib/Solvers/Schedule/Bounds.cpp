//===- Bounds.cpp - What no schedule can undercut -------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/Bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

using namespace shardopt;
using namespace shardopt::schedule;

int64_t Bounds::makespan() const {
  return std::max(
      {criticalPath, machine, memoryRamp, memoryTurn, residence, refuted});
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
  /// What the compute machine of a device does before it has to give back bytes
  /// or to do what needs none.
  struct Ramp {
    int64_t begin = std::numeric_limits<int64_t>::max(); ///< the end of that
    int64_t fill = 0; ///< the most that it can do until then
    bool exists = false;
  };
  Ramp rampOf(int32_t device) const;
  bool isFill(int32_t planOp, int32_t device) const;
  int64_t rampBound(int32_t device, const Ramp &ramp) const;
  int64_t fillOfMemory(int32_t device) const;
  int64_t turnBound(int32_t device, const Ramp &ramp) const;
  int64_t leastTurn(int32_t device) const;
  std::vector<int64_t> workOfTurns(int32_t device) const;
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

/// Whether it works with the bytes of an operator of the device.
bool BoundComputation::isFill(int32_t planOp, int32_t device) const {
  const PlanOp &op = graph.ops[planOp];
  return isOn(planOp, device) && op.machine == MachineKind::Compute &&
         op.claims >= 0 && isOn(op.claims, device) &&
         graph.ops[op.claims].birthBytes;
}

BoundComputation::Ramp BoundComputation::rampOf(int32_t device) const {
  Ramp ramp;
  for (int32_t op = 0; op < instance.numOps(); ++op) {
    int32_t i = op % instance.period();
    const PlanOp &planOp = graph.ops[i];
    for (int32_t freed : planOp.frees)
      if (isOn(freed, device))
        ramp.begin =
            std::min(ramp.begin, windows.heads[op] + graph.leastTime(i));
    if (!isOn(i, device) || planOp.machine != MachineKind::Compute)
      continue;
    ramp.exists |= planOp.claims >= 0;
    if (!isFill(i, device))
      ramp.begin = std::min(ramp.begin, windows.heads[op]);
  }
  if (ramp.exists)
    ramp.fill = fillOfMemory(device);
  return ramp;
}

int64_t BoundComputation::rampBound(int32_t device, const Ramp &ramp) const {
  int64_t rest = std::numeric_limits<int64_t>::max(), work = 0;
  for (int32_t op = 0; op < instance.numOps(); ++op) {
    int32_t i = op % instance.period();
    if (!isOn(i, device) || graph.ops[i].machine != MachineKind::Compute)
      continue;
    int64_t time = graph.time(i, device);
    work += time;
    rest = std::min(rest, windows.tails[op] - time);
  }
  // Unless all its work fits, some of it ends after `begin`.
  return ramp.fill >= std::min(ramp.begin, work)
             ? 0
             : ramp.begin + work - ramp.fill + rest;
}

/// For each operator with bytes on a device: what its compute machine has to do
/// before they are given back, apart from what takes bytes. What several of
/// them need counts for the one that needs the least.
std::vector<int64_t> BoundComputation::workOfTurns(int32_t device) const {
  std::vector<std::pair<std::vector<int32_t>, int32_t>> needs;
  std::vector<int32_t> reachedFor(instance.period(), -1);
  for (int32_t birth = 0; birth < instance.period(); ++birth) {
    if (!graph.ops[birth].birthBytes || !isOn(birth, device))
      continue;
    std::vector<int32_t> open, needed;
    auto reach = [&](int32_t i) {
      if (reachedFor[i] == birth)
        return;
      reachedFor[i] = birth;
      open.push_back(i);
      if (isOn(i, device) && graph.ops[i].machine == MachineKind::Compute &&
          !isFill(i, device))
        needed.push_back(i);
    };
    for (int32_t freer : instance.freers(birth))
      reach(freer);
    for (size_t k = 0; k < open.size(); ++k)
      for (const Arc &arc : instance.predecessors(open[k]))
        reach(arc.op);
    needs.push_back({std::move(needed), birth});
  }
  std::stable_sort(needs.begin(), needs.end(),
                   [](const auto &a, const auto &b) {
                     return a.first.size() < b.first.size();
                   });
  std::vector<int64_t> works(instance.period(), 0);
  std::vector<char> isCounted(instance.period(), 0);
  for (const auto &[needed, birth] : needs)
    for (int32_t i : needed) {
      if (!isCounted[i])
        works[birth] += graph.time(i, device);
      isCounted[i] = 1;
    }
  return works;
}

/// The least that the compute machine of a device does, apart from what takes
/// bytes, before all that take any have begun: so many have to have given
/// theirs back that the others fit. Those with the least work for their bytes
/// are taken to be the ones.
int64_t BoundComputation::leastTurn(int32_t device) const {
  std::vector<int64_t> works = workOfTurns(device);
  std::vector<int32_t> births;
  std::vector<char> hasFill(instance.period(), 0);
  for (int32_t i = 0; i < instance.period(); ++i)
    if (isFill(i, device))
      hasFill[graph.ops[i].claims] = 1;
  int64_t missing = -roomOn(device);
  for (int32_t i = 0; i < instance.period(); ++i)
    if (hasFill[i]) {
      births.push_back(i);
      missing += graph.ops[i].birthBytes * instance.copies();
    }
  auto price = [&](int32_t i) {
    return double(works[i]) / double(graph.ops[i].birthBytes);
  };
  std::stable_sort(births.begin(), births.end(),
                   [&](int32_t a, int32_t b) { return price(a) < price(b); });
  int64_t turn = 0;
  for (int32_t i : births) {
    if (missing <= 0)
      break;
    int64_t bytes = graph.ops[i].birthBytes;
    int64_t whole = std::min<int64_t>(instance.copies(), missing / bytes);
    turn += whole * works[i];
    missing -= whole * bytes;
    if (whole == instance.copies())
      continue;
    turn += int64_t(double(works[i]) * double(missing) / double(bytes));
    missing = 0;
  }
  return turn;
}

int64_t BoundComputation::turnBound(int32_t device, const Ramp &ramp) const {
  std::vector<char> isFollowed(instance.period(), 0);
  for (int32_t k = instance.period(); k-- > 0;) {
    int32_t i = instance.order()[k];
    for (const Arc &arc : instance.successors(i))
      isFollowed[i] |= isFollowed[arc.op] || isFill(arc.op, device);
  }
  int64_t work = 0, rest = std::numeric_limits<int64_t>::max();
  for (int32_t op = 0; op < instance.numOps(); ++op) {
    int32_t i = op % instance.period();
    if (!isFill(i, device))
      continue;
    int64_t time = graph.time(i, device);
    work += time;
    if (!isFollowed[i])
      rest = std::min(rest, windows.tails[op] - time);
  }
  work += leastTurn(device);
  // Until `begin` no more than the fill is done, so that what is more than that
  // ends as much later.
  constexpr int64_t never = std::numeric_limits<int64_t>::max();
  if (work <= ramp.fill || ramp.begin == never)
    return 0;
  return std::max<int64_t>(0, ramp.begin - ramp.fill) + work + rest;
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
    Ramp ramp = rampOf(d);
    if (ramp.exists)
      bounds.memoryRamp = std::max(bounds.memoryRamp, rampBound(d, ramp));
    if (ramp.exists && isSmall)
      bounds.memoryTurn = std::max(bounds.memoryTurn, turnBound(d, ramp));
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
