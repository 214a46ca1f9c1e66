//===- Heft.cpp - The earliest finish of each operator in turn ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/Heft.h"

#include "shardopt/Solvers/Schedule/Sequential.h"
#include "shardopt/Solvers/Schedule/Validate.h"

#include <algorithm>
#include <limits>
#include <map>

using namespace shardopt;
using namespace shardopt::schedule;

GroupNeeds::GroupNeeds(const Instance &instance) {
  const PlanGraph &graph = instance.graph();
  members.resize(graph.groups.size());
  parameters.assign(graph.groups.size(), 0);
  largestBirth.assign(graph.groups.size(), 0);
  for (int32_t i = 0; i < instance.period(); ++i) {
    const PlanOp &op = graph.ops[i];
    members[op.group].push_back(i);
    parameters[op.group] += op.parameterBytes;
    largestBirth[op.group] = std::max(largestBirth[op.group], op.birthBytes);
  }
}

bool GroupNeeds::fit(const PlanGraph &graph, int32_t group, int32_t device,
                     int64_t parametersThere) const {
  for (int32_t i : members[group])
    if (graph.time(i, device) < 0)
      return false;
  const std::optional<int64_t> &memory = graph.devices[device].memory;
  return !memory ||
         parametersThere + parameters[group] + largestBirth[group] <= *memory;
}

std::vector<int64_t> schedule::upwardRanks(const Instance &instance) {
  const PlanGraph &graph = instance.graph();
  std::vector<int64_t> ranks(instance.period(), 0);
  const std::vector<int32_t> &order = instance.order();
  int64_t count = instance.numDevices();
  for (size_t k = order.size(); k-- > 0;) {
    int32_t i = order[k];
    for (const Arc &arc : instance.successors(i)) {
      bool isLocal = graph.ops[i].group == graph.ops[arc.op].group;
      int64_t transfer =
          isLocal ? 0 : graph.link.time(arc.bytes) * (count - 1) / count;
      ranks[i] = std::max(ranks[i], ranks[arc.op] + transfer);
    }
    ranks[i] += graph.leastTime(i);
  }
  return ranks;
}

DispatchRule schedule::rankRule(const Instance &instance,
                                const std::vector<int64_t> &ranks) {
  int64_t period = 1 + *std::max_element(ranks.begin(), ranks.end());
  DispatchRule result;
  for (int32_t op = 0; op < instance.numOps(); ++op)
    result.keys.push_back(period * instance.copyOf(op) / 2 -
                          ranks[op % instance.period()]);
  return result;
}

namespace {

/// The gaps of a machine; after the last one it idles for good.
class MachineGaps {
public:
  /// The earliest start of `time` from `ready` on.
  int64_t find(int64_t ready, int64_t time) const {
    for (auto gap = gaps.upper_bound(ready); gap != gaps.end(); ++gap)
      if (std::max(ready, gap->second) + time <= gap->first)
        return std::max(ready, gap->second);
    return std::max(ready, idle);
  }
  void take(int64_t start, int64_t end, bool keepsGaps) {
    if (start >= idle) {
      if (keepsGaps && start > idle)
        gaps[start] = idle;
      idle = end;
      return;
    }
    auto gap = gaps.lower_bound(end);
    if (gap == gaps.end() || start == end)
      return;
    auto [gapEnd, gapStart] = *gap;
    gaps.erase(gap);
    if (gapStart < start)
      gaps[start] = gapStart;
    if (end < gapEnd)
      gaps[gapEnd] = end;
  }

private:
  std::map<int64_t, int64_t> gaps; ///< from their ends to their starts
  int64_t idle = 0;
};

} // namespace

std::optional<Schedule>
schedule::placeByEarliestFinish(const Instance &instance,
                                const GroupNeeds &needs,
                                const std::vector<int64_t> &ranks) {
  const PlanGraph &graph = instance.graph();
  // Many gaps take long to look through.
  constexpr int32_t mostOpsInGaps = 20'000;
  bool keepsGaps = instance.period() <= mostOpsInGaps;
  std::vector<int32_t> order = instance.order();
  std::stable_sort(order.begin(), order.end(),
                   [&](int32_t a, int32_t b) { return ranks[a] > ranks[b]; });
  Schedule result{instance.placement(), {}};
  result.starts.assign(instance.period(), 0);
  std::vector<MachineGaps> machines(instance.numMachines());
  std::vector<int64_t> parameters(instance.numDevices(), 0);
  for (size_t g = 0; g < graph.groups.size(); ++g)
    if (result.devices[g] >= 0)
      parameters[result.devices[g]] += needs.parameters[g];
  auto machineOf = [&](int32_t i, int32_t d) -> MachineGaps & {
    return machines[d * numMachineKinds + int32_t(graph.ops[i].machine)];
  };
  for (int32_t i : order) {
    int32_t group = graph.ops[i].group;
    int32_t &device = result.devices[group];
    int64_t bestEnd = std::numeric_limits<int64_t>::max(), bestStart = 0;
    int32_t best = -1;
    for (int32_t d = 0; d < instance.numDevices(); ++d) {
      if (device >= 0 ? d != device
                      : !needs.fit(graph, group, d, parameters[d]))
        continue;
      int64_t ready = 0;
      for (const Arc &arc : instance.predecessors(i)) {
        int32_t other = result.devices[graph.ops[arc.op].group];
        ready =
            std::max(ready, result.starts[arc.op] + graph.time(arc.op, other) +
                                (other == d ? 0 : graph.link.time(arc.bytes)));
      }
      int64_t start = machineOf(i, d).find(ready, graph.time(i, d));
      if (start + graph.time(i, d) < bestEnd) {
        bestStart = start;
        bestEnd = start + graph.time(i, d);
        best = d;
      }
    }
    if (best < 0)
      return std::nullopt;
    if (device < 0)
      parameters[best] += needs.parameters[group];
    device = best;
    result.starts[i] = bestStart;
    machineOf(i, best).take(bestStart, bestEnd, keepsGaps);
  }
  return result;
}

std::optional<Schedule>
schedule::scheduleByEarliestFinish(const Instance &instance) {
  std::vector<int64_t> ranks = upwardRanks(instance);
  std::optional<Schedule> first =
      placeByEarliestFinish(instance, GroupNeeds(instance), ranks);
  if (!first)
    return std::nullopt;
  if (instance.copies() == 1 && validate(instance, *first))
    return first;
  if (std::optional<Schedule> listed =
          dispatch(instance, first->devices, rankRule(instance, ranks)))
    return listed;
  Schedule sequential = scheduleSequentially(instance, first->devices);
  if (!validate(instance, sequential))
    return std::nullopt;
  return sequential;
}
