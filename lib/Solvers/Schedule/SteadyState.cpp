//===- SteadyState.cpp - A repetition every so often, for ever ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/SteadyState.h"

#include "SatProgram.h"
#include "shardopt/Solvers/Schedule/Backends.h"
#include "shardopt/Solvers/Schedule/StepModel.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::schedule;

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
  int64_t slots = steady.leastPeriod / unit;
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
      StepModel model(*single, devices, latency, unit, steady.period);
      if (model.isRefuted())
        continue;
      if (model.numSteps() > mostSteps || budget.isOver())
        return std::nullopt;
      SatOutcome outcome = solveBySat(
          model.numSteps(),
          [&](StepSink &sink) { return model.build(sink, &budget); }, conflicts,
          budget);
      if (outcome.answer != Answer::Yes)
        continue;
      steady.starts =
          model.read([&](Step step) { return outcome.isTrue(step); })->starts;
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
