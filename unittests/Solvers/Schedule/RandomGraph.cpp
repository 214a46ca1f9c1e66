//===- RandomGraph.cpp - Small graphs, and their best schedules -----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomGraph.h"

#include "shardopt/Support/Rng.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::schedule;

Instance schedule::makeRandomInstance(uint64_t seed,
                                      const RandomGraphOptions &options) {
  Rng rng(seed);
  auto chance = [&](int32_t percent) {
    return rng.below(100) < uint64_t(percent);
  };
  PlanGraph graph;
  graph.deviceKinds = {"device"};
  PlanDevice device;
  device.memory = options.memory;
  graph.devices.assign(options.devices, device);
  for (int32_t i = 0; i < options.ops; ++i) {
    PlanOp op;
    op.id = "op" + std::to_string(i);
    op.times = {options.leastTime +
                int64_t(rng.below(options.mostTime - options.leastTime + 1))};
    if (chance(options.commPercent))
      op.machine = MachineKind::Comm;
    op.group = i;
    op.stage = i;
    graph.groups.push_back(
        {op.id, options.isPlaced ? int32_t(rng.below(options.devices)) : -1});
    for (int32_t k = 0; k < i; ++k)
      if (chance(options.edgePercent))
        graph.edges.push_back(
            {k, i, int64_t(rng.below(options.mostBytes + 1))});
    if (chance(options.birthPercent)) {
      op.birthBytes = 1 + int64_t(rng.below(2));
      op.claims = i;
    }
    graph.ops.push_back(op);
  }
  // Most bytes are given back, by some operator that is not before.
  for (int32_t i = 0; i < options.ops; ++i)
    if (graph.ops[i].birthBytes && chance(80)) {
      int32_t freer = i + int32_t(rng.below(options.ops - i));
      graph.ops[freer].frees.push_back(i);
      if (freer != i)
        graph.edges.push_back({i, freer, 0});
    }
  return *Instance::expand(std::move(graph), options.copies);
}

namespace {

class Enumeration {
public:
  Enumeration(const Instance &instance, int64_t limit)
      : instance(instance), limit(limit) {
    schedule.devices = instance.placement();
    schedule.starts.assign(instance.numOps(), 0);
  }

  std::optional<int64_t> run() {
    place(0);
    return best;
  }

private:
  void place(size_t group) {
    if (group == schedule.devices.size()) {
      order(0, 0);
      return;
    }
    int32_t fixed = instance.graph().groups[group].device;
    for (int32_t d = 0; d < instance.numDevices(); ++d)
      if (fixed < 0 || fixed == d) {
        schedule.devices[group] = d;
        place(group + 1);
      }
  }

  /// Tries all starts of the operator at `position` in topological order.
  void order(int32_t position, int64_t end) {
    if (end >= limit)
      return;
    if (position == instance.numOps()) {
      if (validate(instance, schedule)) {
        best = end;
        limit = end;
      }
      return;
    }
    int32_t period = instance.period();
    int32_t first = position / period * period;
    int32_t op = first + instance.order()[position % period];
    int32_t device = schedule.deviceOf(instance, op);
    int64_t ready = 0;
    for (const Arc &arc : instance.predecessors(op - first)) {
      int32_t other = first + arc.op;
      bool isLocal = schedule.deviceOf(instance, other) == device;
      ready = std::max(
          ready, schedule.end(instance, other) +
                     (isLocal ? 0 : instance.graph().link.time(arc.bytes)));
    }
    int64_t time = instance.graph().time(op - first, device);
    for (int64_t start = ready; start + time < limit; ++start) {
      schedule.starts[op] = start;
      order(position + 1, std::max(end, start + time));
    }
  }

  const Instance &instance;
  int64_t limit;
  Schedule schedule;
  std::optional<int64_t> best;
};

} // namespace

std::optional<int64_t> schedule::findBestMakespan(const Instance &instance,
                                                  int64_t limit) {
  return Enumeration(instance, limit).run();
}
