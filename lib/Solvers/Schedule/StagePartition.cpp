//===- StagePartition.cpp - A graph for devices in a row ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/StagePartition.h"

#include "shardopt/Solvers/Schedule/ChainPartition.h"
#include "shardopt/Solvers/Schedule/Coarsen.h"
#include "shardopt/Solvers/Schedule/Heft.h"
#include "shardopt/Support/Rng.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

using namespace shardopt;
using namespace shardopt::schedule;

namespace {

/// The groups of a graph and what goes between them.
class GroupGraph {
public:
  explicit GroupGraph(const Instance &instance);

  size_t size() const { return graph.groups.size(); }
  /// The groups so that edges go forward, drawn by `priorities`, the largest
  /// first; fewer where there is a cycle.
  std::vector<int32_t> order(const std::vector<double> &priorities) const;
  /// Whether each group has an edge to the next in `order`, and no others.
  bool isChain(const std::vector<int32_t> &order) const;
  /// The exact cut of `order`; empty if nothing fits.
  std::vector<int32_t> cut(const std::vector<int32_t> &order) const;
  /// The largest sum of operators' times, each at its cheapest weighted device,
  /// that some weights of devices give; and the largest single group.
  int64_t bound() const;
  /// The devices where `group` may be, its neighbours' being `devices`.
  std::pair<int32_t, int32_t> range(const std::vector<int32_t> &devices,
                                    int32_t group) const;

  GroupNeeds needs;

private:
  static constexpr int64_t never = int64_t(1) << 50;

  const Instance &instance;
  const PlanGraph &graph;
  std::vector<std::vector<int64_t>> times; ///< of devices, of groups
  std::vector<std::set<int32_t>> before, after;
};

} // namespace

GroupGraph::GroupGraph(const Instance &instance)
    : needs(instance), instance(instance), graph(instance.graph()),
      times(instance.numDevices()), before(size()), after(size()) {
  for (int32_t d = 0; d < instance.numDevices(); ++d)
    for (size_t g = 0; g < size(); ++g) {
      int64_t time = 0;
      int32_t fixed = graph.groups[g].device;
      bool fits = (fixed < 0 || fixed == d) &&
                  needs.fit(graph, int32_t(g), d, /*parametersThere=*/0);
      for (int32_t i : needs.members[g])
        if (fits && graph.ops[i].machine == MachineKind::Compute)
          time += graph.time(i, d);
      times[d].push_back(fits ? time : never);
    }
  for (const PlanEdge &edge : contractEdges(
           graph.edges, [&](int32_t i) { return graph.ops[i].group; })) {
    after[edge.from].insert(edge.to);
    before[edge.to].insert(edge.from);
  }
}

std::vector<int32_t>
GroupGraph::order(const std::vector<double> &priorities) const {
  std::vector<size_t> waiting;
  std::set<std::pair<double, int32_t>> ready; // the least first
  for (size_t g = 0; g < size(); ++g) {
    waiting.push_back(before[g].size());
    if (before[g].empty())
      ready.insert({-priorities[g], int32_t(g)});
  }
  std::vector<int32_t> result;
  while (!ready.empty()) {
    int32_t group = ready.begin()->second;
    ready.erase(ready.begin());
    result.push_back(group);
    for (int32_t other : after[group])
      if (!--waiting[other])
        ready.insert({-priorities[other], other});
  }
  return result;
}

bool GroupGraph::isChain(const std::vector<int32_t> &order) const {
  for (size_t k = 0; k + 1 < order.size(); ++k)
    if (after[order[k]] != std::set<int32_t>{order[k + 1]})
      return false;
  return true;
}

std::vector<int32_t> GroupGraph::cut(const std::vector<int32_t> &order) const {
  std::vector<int32_t> places(size());
  for (size_t k = 0; k < order.size(); ++k)
    places[order[k]] = int32_t(k);
  ChainProblem chain;
  for (const PlanDevice &device : graph.devices)
    chain.memory.push_back(device.memory);
  chain.times.resize(instance.numDevices());
  for (int32_t group : order) {
    chain.bytes.push_back(needs.parameters[group]);
    for (int32_t d = 0; d < instance.numDevices(); ++d)
      chain.times[d].push_back(times[d][group]);
  }
  // Whatever crosses a cut is sent there; that bytes cross several is left to
  // `measureStages`.
  chain.cutTimes.assign(order.size() + 1, 0);
  for (const PlanEdge &edge : graph.edges) {
    int32_t from = places[graph.ops[edge.from].group];
    int32_t to = places[graph.ops[edge.to].group];
    chain.cutTimes[from] += graph.link.time(edge.bytes);
    chain.cutTimes[to] -= graph.link.time(edge.bytes);
  }
  std::partial_sum(chain.cutTimes.begin(), chain.cutTimes.end(),
                   chain.cutTimes.begin());
  std::optional<ChainPartition> partition = partitionChain(chain);
  if (!partition || partition->bottleneck >= never)
    return {};
  std::vector<int32_t> devices(size());
  int32_t device = 0;
  for (size_t k = 0; k < order.size(); ++k) {
    while (int32_t(k) >= partition->ends[device])
      ++device;
    devices[order[k]] = device;
  }
  return devices;
}

int64_t GroupGraph::bound() const {
  size_t count = times.size();
  int64_t single = 0;
  for (size_t g = 0; g < size(); ++g) {
    int64_t least = never;
    for (size_t d = 0; d < count; ++d)
      least = std::min(least, times[d][g]);
    single = std::max(single, least);
  }
  // For weights u >= 0 with sum 1, T >= sum_g min_d u_d p_dg: devices that draw
  // much work become dearer.
  std::vector<double> weights(count, 1.0 / double(count));
  double best = 0;
  constexpr int rounds = 200;
  for (int round = 0; round < rounds; ++round) {
    std::vector<double> loads(count, 0);
    double sum = 0;
    for (size_t g = 0; g < size(); ++g) {
      size_t cheapest = 0;
      for (size_t d = 1; d < count; ++d)
        if (weights[d] * double(times[d][g]) <
            weights[cheapest] * double(times[cheapest][g]))
          cheapest = d;
      sum += weights[cheapest] * double(times[cheapest][g]);
      loads[cheapest] += double(times[cheapest][g]);
    }
    best = std::max(best, sum);
    double most = *std::max_element(loads.begin(), loads.end()), total = 0;
    double step = 0.5 / std::sqrt(1 + round);
    for (size_t d = 0; d < count; ++d)
      total += weights[d] *= std::exp(step * loads[d] / std::max(1.0, most));
    for (double &weight : weights)
      weight /= total;
  }
  constexpr double rounding = 1e-9;
  return std::max(single, int64_t(std::ceil(best * (1 - rounding))));
}

std::pair<int32_t, int32_t>
GroupGraph::range(const std::vector<int32_t> &devices, int32_t group) const {
  int32_t least = 0, most = instance.numDevices() - 1;
  for (int32_t other : before[group])
    least = std::max(least, devices[other]);
  for (int32_t other : after[group])
    most = std::min(most, devices[other]);
  return {least, most};
}

StagePartition schedule::measureStages(const Instance &instance,
                                       const std::vector<int32_t> &devices) {
  const PlanGraph &graph = instance.graph();
  StagePartition result;
  result.devices = devices;
  result.loads.assign(instance.numDevices(), 0);
  for (int32_t i = 0; i < instance.period(); ++i)
    if (graph.ops[i].machine == MachineKind::Compute)
      result.loads[devices[graph.ops[i].group]] +=
          graph.time(i, devices[graph.ops[i].group]);
  for (const PlanEdge &edge : graph.edges) {
    int32_t from = devices[graph.ops[edge.from].group];
    if (from != devices[graph.ops[edge.to].group])
      result.loads[from] += graph.link.time(edge.bytes);
  }
  result.bottleneck =
      *std::max_element(result.loads.begin(), result.loads.end());
  return result;
}

/// Lower is better; of those with the same bottleneck, the more even one.
static std::pair<int64_t, double> rankOf(const StagePartition &partition) {
  double squares = 0;
  for (int64_t load : partition.loads)
    squares += double(load) * double(load);
  return {partition.bottleneck, squares};
}

/// Moves groups of `best` while that makes it no worse.
static void moveGroups(const Instance &instance, const GroupGraph &groups,
                       StagePartition &best, Rng &rng, int64_t steps,
                       const Budget &budget) {
  const PlanGraph &graph = instance.graph();
  std::vector<int64_t> parameters(instance.numDevices(), 0);
  for (size_t g = 0; g < groups.size(); ++g)
    parameters[best.devices[g]] += groups.needs.parameters[g];
  for (int64_t step = 0; step < steps && !budget.isOver(); ++step) {
    auto group = int32_t(rng.below(groups.size()));
    auto [least, most] = groups.range(best.devices, group);
    if (graph.groups[group].device >= 0 || least >= most)
      continue;
    auto device = int32_t(least + int64_t(rng.below(most - least + 1)));
    int32_t old = best.devices[group];
    if (device == old ||
        !groups.needs.fit(graph, group, device, parameters[device]))
      continue;
    std::vector<int32_t> devices = best.devices;
    devices[group] = device;
    StagePartition next = measureStages(instance, devices);
    if (rankOf(next) > rankOf(best))
      continue;
    parameters[old] -= groups.needs.parameters[group];
    parameters[device] += groups.needs.parameters[group];
    best = std::move(next);
  }
}

std::optional<StagePartition>
schedule::partitionStages(const Instance &instance, uint64_t seed,
                          int64_t steps, const Budget &budget) {
  GroupGraph groups(instance);
  Rng rng(seed);
  std::optional<StagePartition> best;
  bool isExact = false;
  constexpr int orders = 10;
  for (int k = 0; k < orders && !isExact; ++k) {
    // By index, then by the time to the end, then at random.
    std::vector<double> priorities(groups.size(), 0);
    std::vector<int64_t> ranks = upwardRanks(instance);
    for (int32_t i = 0; i < instance.period(); ++i) {
      double &priority = priorities[instance.graph().ops[i].group];
      priority = std::max(priority, k == 1 ? double(ranks[i]) : 0.0);
    }
    for (double &priority : priorities)
      priority = k > 1 ? rng.real() : priority;
    std::vector<int32_t> order = groups.order(priorities);
    if (order.size() != groups.size() || (best && budget.isOver()))
      break;
    std::vector<int32_t> devices = groups.cut(order);
    if (devices.empty())
      continue;
    StagePartition own = measureStages(instance, devices);
    isExact = groups.isChain(order);
    if (!best || rankOf(own) < rankOf(*best))
      best = std::move(own);
  }
  if (!best)
    return std::nullopt;
  if (!isExact)
    moveGroups(instance, groups, *best, rng, steps, budget);
  best->bound = isExact ? best->bottleneck : groups.bound();
  return best;
}
