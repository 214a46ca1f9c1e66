//===- Instance.cpp - A graph repeated for all micro-batches --------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/Instance.h"

#include "shardopt/Solvers/Schedule/OpLimit.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::schedule;

Instance::Arcs Instance::collect(const PlanGraph &graph, bool forward) {
  Arcs rows;
  rows.offsets.assign(graph.ops.size() + 1, 0);
  for (const PlanEdge &edge : graph.edges)
    ++rows.offsets[(forward ? edge.from : edge.to) + 1];
  for (size_t i = 0; i < graph.ops.size(); ++i)
    rows.offsets[i + 1] += rows.offsets[i];
  rows.arcs.resize(graph.edges.size());
  std::vector<int32_t> next(rows.offsets.begin(), rows.offsets.end() - 1);
  for (const PlanEdge &edge : graph.edges)
    rows.arcs[next[forward ? edge.from : edge.to]++] =
        Arc{forward ? edge.to : edge.from, edge.bytes};
  return rows;
}

std::optional<Error> schedule::checkNumOps(size_t ops, int64_t copies) {
  if (!ops || copies <= maxOps / int64_t(ops))
    return std::nullopt;
  return Error{"expected at most " + std::to_string(maxOps) + " ops, found " +
               std::to_string(ops) + " in each of " + std::to_string(copies) +
               " micro-batches"};
}

ErrorOr<Instance> Instance::expand(PlanGraph graph, int32_t copies) {
  if (copies < 1)
    return Error{"expected at least 1 micro-batch, found " +
                 std::to_string(copies)};
  if (std::optional<Error> error = checkNumOps(graph.ops.size(), copies))
    return *error;
  Instance instance;
  instance.plan = std::move(graph);
  instance.repetitions = copies;
  instance.before = collect(instance.plan, false);
  instance.after = collect(instance.plan, true);
  instance.topological = instance.plan.topologicalOrder();
  instance.freedBy.resize(instance.plan.ops.size());
  for (size_t i = 0; i < instance.plan.ops.size(); ++i)
    for (int32_t freed : instance.plan.ops[i].frees)
      instance.freedBy[freed].push_back(int32_t(i));
  return instance;
}

bool Instance::isPlaced() const {
  return std::all_of(plan.groups.begin(), plan.groups.end(),
                     [](const PlanGroup &group) { return group.device >= 0; });
}

std::vector<int32_t> Instance::placement() const {
  std::vector<int32_t> devices;
  for (const PlanGroup &group : plan.groups)
    devices.push_back(group.device);
  return devices;
}

Instance Instance::withMemory(std::optional<int64_t> memory) const {
  Instance other = *this;
  for (PlanDevice &device : other.plan.devices)
    device.memory = memory;
  return other;
}

Instance Instance::withAtMost(int64_t memory) const {
  Instance other = *this;
  for (PlanDevice &device : other.plan.devices)
    device.memory = std::min(device.memory.value_or(memory), memory);
  return other;
}

int64_t schedule::makespanOf(const Instance &instance,
                             const Schedule &schedule) {
  int64_t makespan = 0;
  for (int32_t op = 0; op < instance.numOps(); ++op)
    makespan = std::max(makespan, schedule.end(instance, op));
  return makespan;
}
