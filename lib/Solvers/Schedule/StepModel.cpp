//===- StepModel.cpp - "Has it started by then?" as variables -------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/StepModel.h"

#include "shardopt/Solvers/Schedule/ListScheduler.h"

#include <algorithm>
#include <cassert>
#include <numeric>

using namespace shardopt;
using namespace shardopt::schedule;

void StepGrid::add(int64_t first, int64_t last) {
  firstTime.push_back(first);
  lastTime.push_back(last);
  firstStep.push_back(Step(std::min<int64_t>(count, INT32_MAX)));
  refuted |= last < first;
  count += std::max<int64_t>(0, last - first);
}

void StepGrid::addStart(StepSink &sink, int32_t op) const {
  for (int64_t time = firstTime[op]; time + 1 < lastTime[op]; ++time)
    sink.implies(at(op, time), at(op, time + 1));
}

void StepGrid::addPrecedence(StepSink &sink, int32_t from, int32_t to,
                             int64_t distance) const {
  for (int64_t time = firstTime[to]; time < lastTime[to] + 1; ++time)
    sink.implies(at(to, time), at(from, time - distance));
}

/// A step at which all of `ends` are true.
static Step joinSteps(StepSink &sink, const std::vector<Step> &ends) {
  std::vector<Step> open;
  for (Step end : ends) {
    if (end == neverStep)
      return neverStep;
    if (end != alwaysStep)
      open.push_back(end);
  }
  if (open.size() < 2)
    return open.empty() ? alwaysStep : open[0];
  Step all = sink.newStep();
  for (Step end : open)
    sink.implies(all, end);
  return all;
}

int64_t schedule::unitOf(const Instance &instance,
                         const std::vector<int32_t> &devices) {
  const PlanGraph &graph = instance.graph();
  int64_t divisor = 0;
  for (int32_t i = 0; i < instance.period(); ++i)
    divisor = std::gcd(divisor, graph.time(i, devices[graph.ops[i].group]));
  for (const PlanEdge &edge : graph.edges)
    if (devices[graph.ops[edge.from].group] !=
        devices[graph.ops[edge.to].group])
      divisor = std::gcd(divisor, graph.link.time(edge.bytes));
  return std::max<int64_t>(1, divisor);
}

std::optional<Between> StepGrid::runOf(int32_t op, int64_t length,
                                       int64_t time) const {
  Between run = {at(op, time), at(op, time - length)};
  if (run.from == neverStep || run.until == alwaysStep)
    return std::nullopt;
  return run;
}

std::optional<Between> StepGrid::lifeOf(StepSink &sink, int32_t birth,
                                        const std::vector<Freer> &freers,
                                        int64_t time) const {
  Between life = {at(birth, time), neverStep};
  if (life.from == neverStep || freers.empty())
    return life.from == neverStep ? std::nullopt : std::optional(life);
  std::vector<Step> ends;
  for (const Freer &freer : freers)
    ends.push_back(at(freer.op, time - freer.length));
  life.until = joinSteps(sink, ends);
  if (life.until == alwaysStep)
    return std::nullopt;
  return life;
}

StepModel::StepModel(const Instance &instance,
                     const std::vector<int32_t> &devices, int64_t makespan)
    : StepModel(instance, devices, makespan, unitOf(instance, devices)) {}

StepModel::StepModel(const Instance &instance,
                     const std::vector<int32_t> &devices, int64_t makespan,
                     int64_t spacing, std::optional<int64_t> turn)
    : instance(instance), devices(devices), spacing(spacing),
      isRounded(unitOf(instance, devices) % spacing != 0),
      horizon(makespan / spacing), turn(turn ? *turn / spacing : horizon + 1) {
  assert((!turn || instance.copies() == 1) && "a turn has one repetition");
  const PlanGraph &graph = instance.graph();
  for (int32_t i = 0; i < instance.period(); ++i)
    times.push_back(graph.time(i, devices[graph.ops[i].group]) / spacing);
  Windows windows = computeWindows(instance, devices);
  for (int32_t op = 0; op < instance.numOps(); ++op)
    grid.add(windows.heads[op] / spacing,
             horizon - windows.tails[op] / spacing);
}

std::vector<Step>
StepModel::stepsWithImage(const std::vector<int32_t> &image) const {
  auto count = size_t(numSteps());
  std::vector<Step> first(count);
  std::iota(first.begin(), first.end(), Step(0));
  for (int32_t op = 0; op < instance.numOps(); ++op) {
    int32_t i = op % instance.period();
    auto [begin, end] = grid.stepsOf(op);
    [[maybe_unused]] const auto [other, otherEnd] =
        grid.stepsOf(op - i + image[i]);
    assert(end - begin == otherEnd - other && "images have one window");
    for (Step step = begin; step < end; ++step)
      first[step] = std::min(step, other + (step - begin));
  }
  return first;
}

int64_t StepModel::size() const {
  // Edges, the machine and memory read each step once or twice.
  int64_t arcs = int64_t(instance.graph().edges.size()) * instance.copies();
  int64_t count = numSteps();
  int64_t average = count / std::max<int64_t>(1, instance.numOps()) + 1;
  // Each time looks at each operator, however few times that may start.
  constexpr int64_t looksPerTerm = 16;
  return 4 * count + arcs * average +
         horizon / looksPerTerm * instance.numOps();
}

void StepModel::buildEdges(StepSink &sink, const GoesOn &goesOn) const {
  const PlanGraph &graph = instance.graph();
  int32_t period = instance.period();
  for (int32_t op = 0; op < instance.numOps() && goesOn(); ++op)
    grid.addStart(sink, op);
  for (int32_t first = 0; first < instance.numOps(); first += period) {
    for (const PlanEdge &edge : graph.edges) {
      if (!goesOn())
        return;
      bool isLocal = devices[graph.ops[edge.from].group] ==
                     devices[graph.ops[edge.to].group];
      int64_t transfer = isLocal ? 0 : graph.link.time(edge.bytes) / spacing;
      grid.addPrecedence(sink, first + edge.from, first + edge.to,
                         times[edge.from] + transfer);
    }
    if (first)
      for (int32_t i = 0; i < period; ++i)
        grid.addPrecedence(sink, first - period + i, first + i, times[i]);
  }
}

void StepModel::buildMachines(StepSink &sink, const GoesOn &goesOn) const {
  const PlanGraph &graph = instance.graph();
  std::vector<std::vector<int32_t>> members(instance.numMachines());
  for (int32_t i = 0; i < instance.period(); ++i)
    if (times[i])
      members[devices[graph.ops[i].group] * numMachineKinds +
              int32_t(graph.ops[i].machine)]
          .push_back(i);
  for (const std::vector<int32_t> &ops : members)
    for (int64_t moment = 0; moment < numMoments() && goesOn(); ++moment) {
      std::vector<Stream> streams;
      for (int32_t i : ops) {
        Stream stream;
        forRepetitionsAt(moment, [&](int32_t first, int64_t time) {
          if (std::optional<Between> run =
                  grid.runOf(first + i, times[i], time))
            stream.repetitions.push_back(*run);
        });
        if (!stream.repetitions.empty())
          streams.push_back(std::move(stream));
      }
      if (streams.size() > 1)
        sink.exclusive(streams);
    }
}

void StepModel::buildMemory(StepSink &sink, const GoesOn &goesOn) const {
  const PlanGraph &graph = instance.graph();
  std::vector<int64_t> rooms;
  for (const PlanDevice &device : graph.devices)
    rooms.push_back(device.memory.value_or(-1));
  std::vector<std::vector<int32_t>> births(instance.numDevices());
  for (int32_t i = 0; i < instance.period(); ++i) {
    int32_t device = devices[graph.ops[i].group];
    if (!graph.devices[device].memory)
      continue;
    rooms[device] -= graph.ops[i].parameterBytes;
    if (graph.ops[i].birthBytes)
      births[device].push_back(i);
  }
  /// Of the repetition that begins with operator `first`.
  auto lifeOf = [&](int32_t first, int32_t birth, int64_t time) {
    std::vector<StepGrid::Freer> freers;
    for (int32_t freer : instance.freers(birth))
      freers.push_back({first + freer, times[freer]});
    return grid.lifeOf(sink, first + birth, freers, time);
  };
  for (int32_t d = 0; d < instance.numDevices(); ++d)
    for (int64_t moment = 0;
         !births[d].empty() && moment < numMoments() && goesOn(); ++moment) {
      std::vector<Stream> streams;
      int64_t most = 0;
      for (int32_t i : births[d]) {
        Stream stream;
        stream.weight = graph.ops[i].birthBytes;
        forRepetitionsAt(moment, [&](int32_t first, int64_t time) {
          std::optional<Between> life = lifeOf(first, i, time);
          if (!life)
            return;
          stream.repetitions.push_back(*life);
          most += stream.weight;
        });
        if (!stream.repetitions.empty())
          streams.push_back(std::move(stream));
      }
      if (most > rooms[d])
        sink.capacity(streams, rooms[d]);
    }
}

std::optional<Schedule> StepModel::withOwnTimes(const Schedule &rounded) const {
  DispatchRule rule;
  rule.keys = rounded.starts;
  return dispatch(instance, devices, rule);
}

bool StepModel::build(StepSink &sink, const Budget *budget) const {
  GoesOn goesOn = [&] { return !budget || !budget->isOver(); };
  buildEdges(sink, goesOn);
  buildMachines(sink, goesOn);
  buildMemory(sink, goesOn);
  return goesOn();
}
