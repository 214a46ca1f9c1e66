//===- FittingOrder.cpp - Orders that keep within memory ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Depth first. An operator that leaves no device less room than before is run
// as soon as it can: nothing later is harder for it. Of the others, those that
// take the least come first; sets of operators from which nothing led to the
// end are not entered again.
//
//===----------------------------------------------------------------------===//

#include "FittingOrder.h"

#include "shardopt/Solvers/Schedule/Sequential.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::schedule;

static constexpr int32_t mostOps = 2000;
static constexpr int64_t mostSteps = 20'000;

FittingOrder::FittingOrder(const Instance &instance, const Budget &budget)
    : instance(instance), graph(instance.graph()), budget(budget),
      devices(instance.placement()), stepsLeft(mostSteps) {
  std::vector<int64_t> bytes(graph.groups.size(), 0);
  for (const PlanOp &op : graph.ops)
    bytes[op.group] += op.parameterBytes + op.birthBytes;
  for (size_t g = 0; g < graph.groups.size(); ++g)
    if (devices[g] < 0)
      freeGroups.push_back(int32_t(g));
  std::stable_sort(freeGroups.begin(), freeGroups.end(),
                   [&](int32_t a, int32_t b) { return bytes[a] > bytes[b]; });
}

bool FittingOrder::takeStep() { return --stepsLeft >= 0 && !budget.isOver(); }

Answer FittingOrder::find(std::optional<Schedule> &schedule) {
  if (instance.numOps() > mostOps)
    return Answer::Unknown;
  Answer answer = place(0);
  if (answer == Answer::Yes)
    schedule = scheduleInOrder(instance, devices, order);
  // What lives for no time at all needs no room, and here it does.
  auto isBrief = [this](const PlanOp &op) {
    return op.birthBytes &&
           std::find(op.times.begin(), op.times.end(), 0) != op.times.end();
  };
  if (answer == Answer::No &&
      std::any_of(graph.ops.begin(), graph.ops.end(), isBrief))
    return Answer::Unknown;
  return answer;
}

//===----------------------------------------------------------------------===//
// Placements
//===----------------------------------------------------------------------===//

Answer FittingOrder::place(size_t index) {
  if (!takeStep())
    return Answer::Unknown;
  if (checkCapacity(instance, devices))
    return Answer::No;
  if (index == freeGroups.size())
    return orderPlaced();
  int32_t group = freeGroups[index];
  auto canRunOn = [&](int32_t device) {
    for (int32_t i = 0; i < instance.period(); ++i)
      if (graph.ops[i].group == group && graph.time(i, device) < 0)
        return false;
    return true;
  };
  // Those with the most room first.
  std::vector<int64_t> taken = leastMemory(instance, devices);
  auto roomOf = [&](int32_t device) {
    return graph.devices[device].memory.value_or(INT64_MAX) - taken[device];
  };
  std::vector<int32_t> candidates;
  for (int32_t d = 0; d < instance.numDevices(); ++d)
    if (canRunOn(d))
      candidates.push_back(d);
  std::stable_sort(candidates.begin(), candidates.end(),
                   [&](int32_t a, int32_t b) { return roomOf(a) > roomOf(b); });
  for (int32_t device : candidates) {
    devices[group] = device;
    if (Answer answer = place(index + 1); answer != Answer::No)
      return answer;
  }
  devices[group] = -1;
  return Answer::No;
}

//===----------------------------------------------------------------------===//
// Orders
//===----------------------------------------------------------------------===//

Answer FittingOrder::orderPlaced() {
  deadEnds.clear();
  State state;
  int32_t numOps = instance.numOps(), period = instance.period();
  state.isDone.assign(numOps, 0);
  for (const PlanDevice &device : graph.devices)
    state.room.push_back(device.memory.value_or(INT64_MAX / 2));
  for (const PlanOp &op : graph.ops)
    state.room[devices[op.group]] -= op.parameterBytes;
  for (int32_t op = 0; op < numOps; ++op) {
    // Repetitions in their order.
    state.waitsFor.push_back(
        int32_t(instance.predecessors(op % period).size()) + (op >= period));
    state.freersLeft.push_back(int32_t(instance.freers(op % period).size()));
    if (!state.waitsFor[op])
      state.ready.push_back(op);
  }
  return orderFrom(std::move(state));
}

int64_t FittingOrder::growth(const State &state, int32_t op) const {
  int32_t first = op - op % instance.period();
  int64_t bytes = instance.at(op).birthBytes;
  for (int32_t freed : instance.at(op).frees)
    if (state.freersLeft[first + freed] == 1 &&
        deviceOf(first + freed) == deviceOf(op))
      bytes -= graph.ops[freed].birthBytes;
  return bytes;
}

void FittingOrder::run(State &state, int32_t op) const {
  int32_t i = op % instance.period(), first = op - i;
  state.isDone[op] = 1;
  state.order.push_back(op);
  state.ready.erase(std::find(state.ready.begin(), state.ready.end(), op));
  state.room[deviceOf(op)] -= instance.at(op).birthBytes;
  for (int32_t freed : instance.at(op).frees)
    if (--state.freersLeft[first + freed] == 0)
      state.room[deviceOf(first + freed)] += graph.ops[freed].birthBytes;
  auto arrive = [&](int32_t next) {
    if (--state.waitsFor[next] == 0)
      state.ready.push_back(next);
  };
  for (const Arc &arc : instance.successors(i))
    arrive(first + arc.op);
  if (op + instance.period() < instance.numOps())
    arrive(op + instance.period());
}

void FittingOrder::runWhatIsSafe(State &state) const {
  for (bool any = true; any;) {
    any = false;
    for (int32_t op : std::vector<int32_t>(state.ready))
      if (fits(state, op) && growth(state, op) <= 0) {
        run(state, op);
        any = true;
      }
  }
}

Answer FittingOrder::orderFrom(State state) {
  runWhatIsSafe(state);
  if (state.ready.empty()) {
    order = std::move(state.order);
    return Answer::Yes;
  }
  if (!takeStep())
    return Answer::Unknown;
  if (deadEnds.count(state.isDone))
    return Answer::No;
  std::vector<std::pair<int64_t, int32_t>> candidates;
  for (int32_t op : state.ready)
    if (fits(state, op))
      candidates.push_back({growth(state, op), op});
  std::sort(candidates.begin(), candidates.end());
  for (auto [bytes, op] : candidates) {
    State next = state;
    run(next, op);
    if (Answer answer = orderFrom(std::move(next)); answer != Answer::No)
      return answer;
  }
  deadEnds.insert(std::move(state.isDone));
  return Answer::No;
}

void schedule::improveByFitting(Incumbent &incumbent, const Budget &budget,
                                const std::string &finder) {
  if (incumbent.exists())
    return;
  std::optional<Schedule> schedule;
  Answer answer = FittingOrder(incumbent.instance(), budget).find(schedule);
  if (schedule)
    incumbent.offer(*schedule, finder);
  if (answer == Answer::No)
    incumbent.refuteAll();
}
