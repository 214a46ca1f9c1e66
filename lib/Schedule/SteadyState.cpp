//===- SteadyState.cpp - A repetition every so often, for ever ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A slot is a time modulo the period. In the steady state as many repetitions
// as the latency has periods are under way, so that a slot sees an operator at
// the slot, one period later, two periods later, …: those are the repetitions
// of a stream, and the same sink takes them as takes those of a schedule.
//
//===----------------------------------------------------------------------===//

#include "shardopt/Schedule/SteadyState.h"

#include "SatProgram.h"
#include "shardopt/Schedule/Backends.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::schedule;

namespace {

/// The steps of one repetition that lasts at most `latency`.
class ModuloModel {
public:
  ModuloModel(const Instance &single, int64_t period, int64_t latency);

  bool isRefuted() const { return grid.isRefuted(); }
  int64_t numSteps() const { return grid.numSteps(); }
  bool build(StepSink &sink, const Budget &budget) const;
  std::vector<int64_t> read(const SatOutcome &outcome) const;

private:
  /// Calls `take` with the times of a slot, latest first: those of the
  /// repetitions that began first.
  template <typename Take> void forTimesOf(int64_t slot, Take take) const {
    for (int64_t time = slot + horizon / period * period; time >= 0;
         time -= period)
      take(time);
  }
  void buildMachine(StepSink &sink, int32_t machine) const;
  void buildMemory(StepSink &sink, int32_t device) const;

  const Instance &single;
  std::vector<int32_t> devices;  ///< of groups
  int64_t unit, period, horizon; ///< the latter in units
  std::vector<int64_t> times;    ///< of operators, in units
  StepGrid grid;
};

} // namespace

ModuloModel::ModuloModel(const Instance &single, int64_t period,
                         int64_t latency)
    : single(single), devices(single.placement()),
      unit(unitOf(single, devices)), period(period / unit),
      horizon(latency / unit) {
  Windows windows = computeWindows(single, devices);
  for (int32_t i = 0; i < single.period(); ++i) {
    times.push_back(
        single.graph().time(i, devices[single.graph().ops[i].group]) / unit);
    grid.add(windows.heads[i] / unit, horizon - windows.tails[i] / unit);
  }
}

void ModuloModel::buildMachine(StepSink &sink, int32_t machine) const {
  const PlanGraph &graph = single.graph();
  for (int64_t slot = 0; slot < period; ++slot) {
    std::vector<Stream> streams;
    for (int32_t i = 0; i < single.period(); ++i) {
      if (!times[i] || devices[graph.ops[i].group] * numMachineKinds +
                               int32_t(graph.ops[i].machine) !=
                           machine)
        continue;
      Stream stream;
      forTimesOf(slot, [&](int64_t time) {
        if (std::optional<Between> run = grid.runOf(i, times[i], time))
          stream.repetitions.push_back(*run);
      });
      if (!stream.repetitions.empty())
        streams.push_back(std::move(stream));
    }
    if (streams.size() > 1)
      sink.exclusive(streams);
  }
}

void ModuloModel::buildMemory(StepSink &sink, int32_t device) const {
  const PlanGraph &graph = single.graph();
  int64_t room = *graph.devices[device].memory;
  for (const PlanOp &op : graph.ops)
    if (devices[op.group] == device)
      room -= op.parameterBytes;
  for (int64_t slot = 0; slot < period; ++slot) {
    std::vector<Stream> streams;
    int64_t most = 0;
    for (int32_t i = 0; i < single.period(); ++i) {
      if (!graph.ops[i].birthBytes || devices[graph.ops[i].group] != device)
        continue;
      Stream stream;
      stream.weight = graph.ops[i].birthBytes;
      std::vector<StepGrid::Freer> freers;
      for (int32_t freer : single.freers(i))
        freers.push_back({freer, times[freer]});
      forTimesOf(slot, [&](int64_t time) {
        std::optional<Between> life = grid.lifeOf(sink, i, freers, time);
        if (!life)
          return;
        stream.repetitions.push_back(*life);
        most += stream.weight;
      });
      if (!stream.repetitions.empty())
        streams.push_back(std::move(stream));
    }
    if (most > room)
      sink.capacity(streams, room);
  }
}

bool ModuloModel::build(StepSink &sink, const Budget &budget) const {
  const PlanGraph &graph = single.graph();
  for (int32_t i = 0; i < single.period(); ++i)
    grid.addStart(sink, i);
  for (const PlanEdge &edge : graph.edges) {
    bool isLocal = devices[graph.ops[edge.from].group] ==
                   devices[graph.ops[edge.to].group];
    int64_t transfer = isLocal ? 0 : graph.link.time(edge.bytes) / unit;
    grid.addPrecedence(sink, edge.from, edge.to, times[edge.from] + transfer);
  }
  for (int32_t m = 0; m < single.numMachines() && !budget.isOver(); ++m)
    buildMachine(sink, m);
  for (int32_t d = 0; d < single.numDevices() && !budget.isOver(); ++d)
    if (graph.devices[d].memory)
      buildMemory(sink, d);
  return !budget.isOver();
}

std::vector<int64_t> ModuloModel::read(const SatOutcome &outcome) const {
  std::vector<int64_t> starts;
  for (int32_t i = 0; i < single.period(); ++i)
    starts.push_back(unit * grid.startOf(i, [&](Step step) {
      return outcome.isTrue(step);
    }));
  return starts;
}

Schedule schedule::unroll(const Instance &instance, const SteadyState &steady) {
  Schedule schedule{instance.placement(), {}};
  for (int32_t op = 0; op < instance.numOps(); ++op)
    schedule.starts.push_back(steady.starts[op % instance.period()] +
                              instance.copyOf(op) * steady.period);
  return schedule;
}

/// Enough repetitions for all that are under way at once, twice, by the
/// validator of schedules. Whether they are one; if so, with peaks.
static bool checkUnrolled(const Instance &single, SteadyState &steady) {
  int64_t underWay = steady.latency / std::max<int64_t>(1, steady.period) + 1;
  ErrorOr<Instance> several =
      Instance::expand(single.graph(), int32_t(2 * underWay));
  if (!several)
    return false;
  ErrorOr<Verdict> verdict = validate(*several, unroll(*several, steady));
  if (!verdict)
    return false;
  for (const DeviceUse &device : verdict->devices)
    steady.peaks.push_back(device.peakMemory);
  return true;
}

/// Whether bytes that live for ever would fill the memory of a device.
static bool fillsMemory(const Instance &single,
                        const std::vector<int32_t> &devices) {
  for (int32_t i = 0; i < single.period(); ++i) {
    const PlanOp &op = single.graph().ops[i];
    if (op.birthBytes && single.freers(i).empty() &&
        single.graph().devices[devices[op.group]].memory)
      return true;
  }
  return false;
}

std::optional<SteadyState>
schedule::planSteadyState(const Instance &instance,
                          const std::optional<Ring> &ring,
                          const Budget &budget) {
  // A slot and an operator of its machine are a variable or more.
  constexpr int32_t mostOps = 2000;
  constexpr int64_t mostSteps = 2'000'000, conflicts = 20'000;
  constexpr int64_t mostSlots = 1 << 15;
  ErrorOr<Instance> single = Instance::expand(instance.graph(), 1);
  std::vector<int32_t> devices = instance.placement();
  if (!makeSatBackend() || !single || !instance.isPlaced() ||
      instance.period() > mostOps || fillsMemory(*single, devices))
    return std::nullopt;
  int64_t unit = unitOf(*single, devices);
  auto roundUp = [unit](int64_t time) {
    return (time + unit - 1) / unit * unit;
  };
  int64_t shortest = computeBounds(*single, devices).criticalPath;
  SteadyState steady;
  steady.leastPeriod = std::max(unit, leastPeriod(*single, devices));
  // Each slot looks at each operator, however few times that may start.
  constexpr int64_t looksPerStep = 16;
  const int64_t slots = steady.leastPeriod / unit;
  if (slots > mostSlots || slots * instance.period() > looksPerStep * mostSteps)
    return std::nullopt;
  if (ring)
    steady.leastPeriod = std::max(
        steady.leastPeriod,
        (shortest + ring->returnTime + ring->groups - 1) / ring->groups);
  // One repetition after the other needs no more than all of its times.
  int64_t most = steady.leastPeriod;
  for (int32_t i = 0; i < single->period(); ++i)
    most += single->graph().time(i, devices[single->graph().ops[i].group]);
  for (const PlanEdge &edge : single->graph().edges)
    most += single->graph().link.time(edge.bytes);
  for (steady.period = roundUp(steady.leastPeriod);
       steady.period <= most && !budget.isOver();
       steady.period += roundUp(std::max(unit, steady.period / 64))) {
    std::vector<int64_t> latencies;
    if (ring)
      latencies = {ring->groups * steady.period - ring->returnTime};
    else
      for (int64_t halves : {0, 1, 2, 4, 8})
        latencies.push_back(roundUp(shortest + halves * steady.period / 2));
    for (int64_t latency : latencies) {
      ModuloModel model(*single, steady.period, latency);
      if (model.isRefuted())
        continue;
      if (model.numSteps() > mostSteps || budget.isOver())
        return std::nullopt;
      SatOutcome outcome = solveBySat(
          model.numSteps(),
          [&](StepSink &sink) { return model.build(sink, budget); }, conflicts,
          budget);
      if (outcome.answer != Answer::Yes)
        continue;
      steady.starts = model.read(outcome);
      for (int32_t i = 0; i < single->period(); ++i)
        steady.latency = std::max(
            steady.latency,
            steady.starts[i] +
                single->graph().time(i, devices[single->graph().ops[i].group]));
      if (!checkUnrolled(*single, steady))
        return std::nullopt;
      return steady;
    }
  }
  return std::nullopt;
}
