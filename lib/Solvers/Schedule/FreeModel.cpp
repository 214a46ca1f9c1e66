//===- FreeModel.cpp - Steps of operators whose device is free ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FreeModel.h"

#include <algorithm>
#include <map>
#include <numeric>

using namespace shardopt;
using namespace shardopt::schedule;

int64_t FreeModel::unitOf(const Instance &instance) {
  const PlanGraph &graph = instance.graph();
  int64_t divisor = 0;
  for (int32_t i = 0; i < instance.period(); ++i)
    for (int32_t d = 0; d < instance.numDevices(); ++d)
      divisor = std::gcd(divisor, std::max<int64_t>(0, graph.time(i, d)));
  for (const PlanEdge &edge : graph.edges)
    divisor = std::gcd(divisor, graph.link.time(edge.bytes));
  return std::max<int64_t>(1, divisor);
}

bool FreeModel::covers(const Instance &instance) {
  const PlanGraph &graph = instance.graph();
  bool isLimited = false, hasBirths = false;
  for (const PlanDevice &device : graph.devices) {
    isLimited |= device.memory.has_value();
    // Sums of parameters are counted one by one.
    constexpr int64_t mostBytes = 5000;
    if (device.memory && *device.memory > mostBytes)
      return false;
  }
  for (const PlanOp &op : graph.ops)
    hasBirths |= op.birthBytes > 0;
  return !isLimited || !hasBirths;
}

FreeModel::FreeModel(const Instance &instance, int64_t makespan)
    : instance(instance), spacing(unitOf(instance)),
      horizon(makespan / spacing) {
  Windows windows = computeWindows(instance, instance.placement());
  for (int32_t op = 0; op < instance.numOps(); ++op)
    grid.add(windows.heads[op] / spacing,
             horizon - windows.tails[op] / spacing);
}

int64_t FreeModel::size() const {
  int64_t devices = instance.numDevices();
  int64_t arcs = int64_t(instance.graph().edges.size()) * instance.copies();
  int64_t average =
      grid.numSteps() / std::max<int64_t>(1, instance.numOps()) + 1;
  // Of pairs of groups, the order in which devices are taken.
  int64_t places = int64_t(numGroups()) * devices * (numGroups() + devices);
  return (4 * grid.numSteps() + 2 * arcs * average) * devices + places;
}

void FreeModel::buildPlaces(StepSink &sink) const {
  const PlanGraph &graph = instance.graph();
  int32_t count = instance.numDevices();
  std::vector<int64_t> parameters(numGroups(), 0);
  for (int32_t i = 0; i < instance.period(); ++i) {
    parameters[graph.ops[i].group] += graph.ops[i].parameterBytes;
    for (int32_t d = 0; d < count; ++d)
      if (graph.time(i, d) < 0)
        sink.implies(placeOf(graph.ops[i].group, d), neverStep);
  }
  for (int32_t g = 0; g < numGroups(); ++g) {
    std::vector<Step> places;
    for (int32_t d = 0; d < count; ++d) {
      places.push_back(placeOf(g, d));
      for (int32_t other = 0; other < d; ++other)
        sink.anyOf({}, {placeOf(g, other), placeOf(g, d)});
    }
    if (graph.groups[g].device >= 0)
      sink.implies(alwaysStep, placeOf(g, graph.groups[g].device));
    sink.anyOf(places, {});
  }
  for (int32_t d = 0; d < count; ++d) {
    if (!graph.devices[d].memory)
      continue;
    std::vector<Stream> streams;
    for (int32_t g = 0; g < numGroups(); ++g)
      if (parameters[g])
        streams.push_back({{{placeOf(g, d), neverStep}}, parameters[g]});
    int64_t all =
        std::accumulate(parameters.begin(), parameters.end(), int64_t(0));
    if (all > *graph.devices[d].memory)
      sink.capacity(streams, *graph.devices[d].memory);
  }
}

/// Of devices alike, one is taken after the other.
void FreeModel::breakSymmetry(StepSink &sink) const {
  const PlanGraph &graph = instance.graph();
  for (const PlanDevice &device : graph.devices)
    if (device.kind != graph.devices[0].kind ||
        device.memory != graph.devices[0].memory)
      return;
  for (const PlanGroup &group : graph.groups)
    if (group.device >= 0)
      return;
  for (int32_t g = 0; g < numGroups(); ++g)
    for (int32_t d = 1; d < instance.numDevices(); ++d) {
      std::vector<Step> earlier;
      for (int32_t other = 0; other < g; ++other)
        earlier.push_back(placeOf(other, d - 1));
      sink.anyOf(earlier, {placeOf(g, d)});
    }
}

/// `to` starts once `from` has ended on its device and, unless `isLocal`, sent
/// its bytes.
void FreeModel::addPrecedence(StepSink &sink, int32_t from, int32_t to,
                              Step isLocal, int64_t transfer) const {
  int32_t i = from % instance.period(), group = instance.at(from).group;
  std::vector<int64_t> times;
  for (int32_t d = 0; d < instance.numDevices(); ++d)
    times.push_back(timeOf(i, d));
  bool isAlike =
      std::count(times.begin(), times.end(), times[0]) == int64_t(times.size());
  for (int64_t time = 0; time <= horizon; ++time) {
    Step started = grid.at(to, time);
    if (started == neverStep)
      continue;
    for (int32_t d = 0; d < instance.numDevices(); ++d) {
      if (times[d] < 0)
        continue;
      std::vector<Step> when = {started};
      if (!isAlike)
        when.push_back(placeOf(group, d));
      sink.anyOf({grid.at(from, time - times[d])}, when);
      if (transfer)
        sink.anyOf({isLocal, grid.at(from, time - times[d] - transfer)}, when);
      if (isAlike)
        break;
    }
    if (started == alwaysStep)
      break;
  }
}

void FreeModel::buildEdges(StepSink &sink,
                           const std::function<bool()> &goesOn) const {
  const PlanGraph &graph = instance.graph();
  int32_t period = instance.period();
  // True only if two groups share a device.
  std::map<std::pair<int32_t, int32_t>, Step> shared;
  auto areLocal = [&](int32_t a, int32_t b) {
    if (a == b)
      return alwaysStep;
    auto [it, isNew] = shared.try_emplace({a, b}, neverStep);
    if (isNew) {
      it->second = sink.newStep();
      for (int32_t d = 0; d < instance.numDevices(); ++d)
        sink.anyOf({placeOf(b, d)}, {it->second, placeOf(a, d)});
    }
    return it->second;
  };
  for (int32_t op = 0; op < instance.numOps(); ++op) {
    grid.addStart(sink, op);
    // Windows take the fastest device.
    for (int32_t d = 0; d < instance.numDevices(); ++d)
      sink.anyOf({grid.at(op, horizon - timeOf(op % period, d))},
                 {placeOf(instance.at(op).group, d)});
  }
  for (const PlanEdge &edge : graph.edges) {
    if (!goesOn())
      return;
    int64_t transfer = graph.link.time(edge.bytes) / spacing;
    Step isLocal = transfer ? areLocal(graph.ops[edge.from].group,
                                       graph.ops[edge.to].group)
                            : alwaysStep;
    for (int32_t first = 0; first < instance.numOps(); first += period)
      addPrecedence(sink, first + edge.from, first + edge.to, isLocal,
                    transfer);
  }
  for (int32_t op = period; op < instance.numOps(); ++op)
    addPrecedence(sink, op - period, op, alwaysStep, 0);
}

void FreeModel::buildMachine(StepSink &sink, int32_t machine,
                             int64_t time) const {
  int32_t device = machine / numMachineKinds;
  std::vector<Stream> streams;
  for (int32_t op = 0; op < instance.numOps(); ++op) {
    int64_t length = timeOf(op % instance.period(), device);
    if (length <= 0 ||
        int32_t(instance.at(op).machine) != machine % numMachineKinds)
      continue;
    Step begun = grid.at(op, time), ended = grid.at(op, time - length);
    if (begun == neverStep || ended == alwaysStep)
      continue;
    Step runs = sink.newStep();
    sink.anyOf({runs, ended}, {placeOf(instance.at(op).group, device), begun});
    streams.push_back({{{runs, neverStep}}, 1});
  }
  if (streams.size() > 1)
    sink.exclusive(streams);
}

bool FreeModel::build(StepSink &sink, const Budget *budget) const {
  auto goesOn = [budget] { return !budget || !budget->isOver(); };
  buildPlaces(sink);
  if (goesOn())
    breakSymmetry(sink);
  buildEdges(sink, goesOn);
  for (int32_t m = 0; m < instance.numMachines(); ++m)
    for (int64_t time = 0; time < horizon; ++time) {
      if (!goesOn())
        return false;
      buildMachine(sink, m, time);
    }
  return goesOn();
}
