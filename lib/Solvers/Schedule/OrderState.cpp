//===- OrderState.cpp - Machine orders and what a move does to them -------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/OrderState.h"

#include "shardopt/Solvers/Schedule/Bounds.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::schedule;

OrderState::OrderState(const Instance &instance, const Schedule &schedule)
    : instance(instance), devices(schedule.devices),
      sequences(ordersOf(instance, schedule)) {
  int32_t count = instance.numOps();
  const PlanGraph &graph = instance.graph();
  machines.resize(count);
  times.resize(count);
  positions.resize(count);
  before.assign(count, -1);
  behind.assign(count, -1);
  for (int32_t op = 0; op < count; ++op) {
    int32_t device = schedule.deviceOf(instance, op);
    machines[op] = device * numMachineKinds + int32_t(instance.at(op).machine);
    times[op] = graph.time(op % instance.period(), device);
  }
  leastAfter = computeWindows(instance, devices).tails;
  buildArcs();
  for (const std::vector<int32_t> &order : sequences)
    if (!order.empty()) {
      link(order, 0, int32_t(order.size()) - 1);
      for (size_t k = 0; k < order.size(); ++k)
        positions[order[k]] = int32_t(k);
    }
  constexpr int64_t endless = int64_t(1) << 62;
  for (const PlanDevice &device : graph.devices)
    rooms.push_back(device.memory.value_or(endless));
  for (const PlanOp &op : graph.ops)
    rooms[devices[op.group]] -= op.parameterBytes;
  changes.resize(instance.numDevices());
  lives.resize(count);
  findRulers();

  waitsFor.assign(count, 0);
  newStarts.assign(count, 0);
  sorted.resize(count);
  ranks.resize(count);
  starts.assign(count, 0);
  // Any numbering will do where everything is timed.
  for (int32_t op = 0; op < count; ++op)
    sorted[op] = ranks[op] = op;
  bool isSound = retimeFrom(0, std::numeric_limits<int64_t>::max());
  assert(isSound && "the orders of a schedule do not contradict its edges");
  (void)isSound;
  commit();
}

void OrderState::buildArcs() {
  int32_t count = instance.numOps(), period = instance.period();
  const PlanGraph &graph = instance.graph();
  auto build = [&](bool forward, std::vector<int32_t> &offsets,
                   std::vector<Tail> &tails) {
    offsets.assign(1, 0);
    for (int32_t op = 0; op < count; ++op) {
      int32_t i = op % period, first = op - i;
      for (const Arc &arc :
           forward ? instance.successors(i) : instance.predecessors(i)) {
        bool isLocal =
            devices[graph.ops[i].group] == devices[graph.ops[arc.op].group];
        tails.push_back(
            {first + arc.op, isLocal ? 0 : graph.link.time(arc.bytes)});
      }
      offsets.push_back(int32_t(tails.size()));
    }
  };
  build(true, arcOffsets, arcs);
  build(false, predecessorOffsets, predecessorArcs);
}

void OrderState::applyTo(std::vector<int32_t> &order, const Move &move) const {
  auto begin = order.begin();
  if (move.from < move.to)
    std::rotate(begin + move.from, begin + move.from + 1, begin + move.to + 1);
  else
    std::rotate(begin + move.to, begin + move.from, begin + move.from + 1);
}

/// Sets the neighbours of what stands in [from, to].
void OrderState::link(const std::vector<int32_t> &order, int32_t from,
                      int32_t to) {
  int32_t last = int32_t(order.size()) - 1;
  for (int32_t k = from; k <= to; ++k) {
    before[order[k]] = k ? order[k - 1] : -1;
    behind[order[k]] = k < last ? order[k + 1] : -1;
  }
  if (from > 0)
    behind[order[from - 1]] = order[from];
  if (to < last)
    before[order[to + 1]] = order[to];
}

bool OrderState::retimeFrom(int32_t first, int64_t limit) {
  newFirst = first;
  int32_t count = int32_t(sorted.size());
  ready.clear();
  newLength = 0;
  for (int32_t k = 0; k < first; ++k)
    newLength = std::max(newLength, starts[sorted[k]] + times[sorted[k]]);
  for (int32_t k = first; k < count; ++k) {
    int32_t op = sorted[k];
    int64_t start = 0;
    int32_t waits = 0;
    auto waitFor = [&](int32_t other, int64_t delay) {
      if (ranks[other] >= first)
        ++waits;
      else
        start = std::max(start, starts[other] + times[other] + delay);
    };
    for (int32_t a = predecessorOffsets[op]; a < predecessorOffsets[op + 1];
         ++a)
      waitFor(predecessorArcs[a].op, predecessorArcs[a].delay);
    if (before[op] >= 0)
      waitFor(before[op], 0);
    newStarts[op] = start;
    waitsFor[op] = waits;
    if (!waits)
      ready.push_back(op);
  }
  for (size_t k = 0; k < ready.size(); ++k) {
    int32_t op = ready[k];
    if (newStarts[op] + leastAfter[op] > limit)
      return false;
    int64_t end = newStarts[op] + times[op];
    newLength = std::max(newLength, end);
    auto release = [&](int32_t other, int64_t time) {
      newStarts[other] = std::max(newStarts[other], time);
      if (!--waitsFor[other])
        ready.push_back(other);
    };
    for (int32_t a = arcOffsets[op]; a < arcOffsets[op + 1]; ++a)
      release(arcs[a].op, end + arcs[a].delay);
    if (behind[op] >= 0)
      release(behind[op], end);
  }
  newSorted.swap(ready);
  return int32_t(newSorted.size()) == count - first;
}

void OrderState::findRulers() {
  constexpr int32_t none = -1, unknown = -2;
  const PlanGraph &graph = instance.graph();
  rulers.assign(instance.numDevices(), unknown);
  auto rule = [&](int32_t device, int32_t i) {
    int32_t &ruler = rulers[device];
    int32_t machine = machines[i];
    // What takes no time may end when the next one starts, or sooner.
    if (!times[i] || machine / numMachineKinds != device ||
        (ruler != unknown && ruler != machine))
      ruler = none;
    else
      ruler = machine;
  };
  for (int32_t i = 0; i < instance.period(); ++i) {
    int32_t device = devices[graph.ops[i].group];
    if (!graph.ops[i].birthBytes || !graph.devices[device].memory)
      continue;
    if (rulers[device] != none)
      rule(device, i);
    for (int32_t freer : instance.freers(i))
      if (rulers[device] != none)
        rule(device, freer);
  }
}

bool OrderState::fitsInOrder(int32_t ruler, int32_t last) {
  const PlanGraph &graph = instance.graph();
  const std::vector<int32_t> &order = sequences[ruler];
  int32_t period = instance.period();
  int64_t room = rooms[ruler / numMachineKinds];
  int32_t k = 0;
  for (; k <= last && room >= 0; ++k) {
    int32_t op = order[k], i = op % period;
    int64_t bytes = graph.ops[i].birthBytes;
    if (bytes && (instance.freers(i).empty() ||
                  lives[op].freed < int32_t(instance.freers(i).size()))) {
      lives[op].isBorn = true;
      room -= bytes;
    }
    if (room < 0)
      continue;
    for (int32_t birth : graph.ops[i].frees) {
      Life &life = lives[op - i + birth];
      if (++life.freed == int32_t(instance.freers(birth).size()) && life.isBorn)
        room += graph.ops[birth].birthBytes;
    }
  }
  while (k-- > 0) {
    int32_t op = order[k], i = op % period;
    lives[op] = {};
    for (int32_t birth : graph.ops[i].frees)
      lives[op - i + birth] = {};
  }
  return room >= 0;
}

bool OrderState::fitsMemory() {
  const PlanGraph &graph = instance.graph();
  for (auto &list : changes)
    list.clear();
  auto startOf = [&](int32_t op) {
    return ranks[op] < newFirst ? starts[op] : newStarts[op];
  };
  int32_t period = instance.period();
  for (int32_t i = 0; i < period; ++i) {
    int64_t bytes = graph.ops[i].birthBytes;
    int32_t device = devices[graph.ops[i].group];
    if (!bytes || !graph.devices[device].memory || rulers[device] >= 0)
      continue;
    const std::vector<int32_t> &freers = instance.freers(i);
    for (int32_t first = 0; first < instance.numOps(); first += period) {
      int64_t birth = startOf(first + i), death = -1;
      for (int32_t freer : freers)
        death = std::max(death, startOf(first + freer) + times[first + freer]);
      if (!freers.empty() && death <= birth)
        continue;
      changes[device].push_back({birth, bytes});
      if (!freers.empty())
        changes[device].push_back({death, -bytes});
    }
  }
  for (size_t d = 0; d < changes.size(); ++d) {
    std::sort(changes[d].begin(), changes[d].end());
    int64_t room = rooms[d];
    for (auto [time, bytes] : changes[d])
      if ((room -= bytes) < 0)
        return false;
  }
  return true;
}

std::optional<int64_t> OrderState::tryMove(const Move &move, int64_t limit) {
  std::vector<int32_t> &order = sequences[move.machine];
  int32_t low = std::min(move.from, move.to);
  int32_t high = std::max(move.from, move.to);
  int32_t first = int32_t(sorted.size());
  for (int32_t k = low; k <= high; ++k)
    first = std::min(first, ranks[order[k]]);
  applyTo(order, move);
  link(order, low, high);
  bool isRuled = rulers[move.machine / numMachineKinds] == move.machine;
  bool isGood = (!isRuled || fitsInOrder(move.machine, high)) &&
                retimeFrom(first, limit) && newLength <= limit && fitsMemory();
  applyTo(order, {move.machine, move.to, move.from});
  link(order, low, high);
  tried = isGood ? move : Move{-1, 0, 0};
  if (!isGood)
    return std::nullopt;
  return newLength;
}

void OrderState::commit() {
  if (tried.machine >= 0) {
    std::vector<int32_t> &order = sequences[tried.machine];
    applyTo(order, tried);
    int32_t low = std::min(tried.from, tried.to);
    int32_t high = std::max(tried.from, tried.to);
    link(order, low, high);
    for (int32_t k = low; k <= high; ++k)
      positions[order[k]] = k;
  }
  for (size_t k = 0; k < newSorted.size(); ++k) {
    int32_t op = newSorted[k];
    sorted[newFirst + k] = op;
    starts[op] = newStarts[op];
  }
  for (size_t k = 0; k < newSorted.size(); ++k)
    ranks[newSorted[k]] = newFirst + int32_t(k);
  length = newLength;
  tried.machine = -1;
}

std::vector<int32_t> OrderState::criticalPath() const {
  std::vector<int32_t> path;
  int32_t op = sorted[0];
  for (int32_t other : sorted)
    if (starts[other] + times[other] > starts[op] + times[op])
      op = other;
  while (op >= 0) {
    path.push_back(op);
    int32_t next = -1;
    // The machine first: only its order can be changed.
    if (before[op] >= 0 && starts[before[op]] + times[before[op]] == starts[op])
      next = before[op];
    for (int32_t a = predecessorOffsets[op];
         next < 0 && a < predecessorOffsets[op + 1]; ++a) {
      const Tail &arc = predecessorArcs[a];
      if (starts[arc.op] + times[arc.op] + arc.delay == starts[op])
        next = arc.op;
    }
    op = starts[op] > 0 || next >= 0 ? next : -1;
  }
  return path;
}
