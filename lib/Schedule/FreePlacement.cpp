//===- FreePlacement.cpp - Devices for groups that are free ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Starts from two placements, the earliest finish of each operator in turn
// (HEFT, Topcuoglu et al. 2002) and cuts of equal load along the topological
// order, and anneals the better one: a step moves a group, swaps two, or swaps
// the urgency of two operators, and list scheduling tells what it is worth.
//
//===----------------------------------------------------------------------===//

#include "shardopt/Schedule/Backends.h"
#include "shardopt/Schedule/Coarsen.h"
#include "shardopt/Schedule/ListScheduler.h"
#include "shardopt/Support/Rng.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace shardopt;
using namespace shardopt::schedule;

namespace {

class FreePlacement : public Backend {
public:
  explicit FreePlacement(uint64_t seed) : seed(seed) {}
  const char *name() const override { return "placement"; }
  void improve(Incumbent &incumbent, const Budget &budget) override;

private:
  uint64_t seed;
};

/// Devices of groups, and keys of operators: what a step changes.
struct Candidate {
  std::vector<int32_t> devices;
  DispatchRule rule;
};

class PlacementSearch {
public:
  PlacementSearch(const Instance &instance);

  std::vector<int32_t> byEarliestFinish() const;
  std::vector<int32_t> byEqualLoad() const;
  /// Keys by the time after each operator, a repetition after the other.
  DispatchRule rule() const;
  /// Changes `candidate` a little; it still holds the parameters.
  void step(Candidate &candidate, Rng &rng) const;

private:
  bool canHold(const std::vector<int32_t> &devices, int32_t group,
               int32_t device) const;
  void findRanks();

  const Instance &instance;
  const PlanGraph &graph;
  std::vector<std::vector<int32_t>> members; ///< of groups
  std::vector<int64_t> parameters;           ///< of groups
  std::vector<int32_t> freeGroups;
  std::vector<int64_t> ranks; ///< longest time to the end, with transfers
};

} // namespace

PlacementSearch::PlacementSearch(const Instance &instance)
    : instance(instance), graph(instance.graph()), members(graph.groups.size()),
      parameters(graph.groups.size(), 0) {
  for (int32_t i = 0; i < instance.period(); ++i) {
    members[graph.ops[i].group].push_back(i);
    parameters[graph.ops[i].group] += graph.ops[i].parameterBytes;
  }
  for (size_t g = 0; g < graph.groups.size(); ++g)
    if (graph.groups[g].device < 0)
      freeGroups.push_back(int32_t(g));
  findRanks();
}

void PlacementSearch::findRanks() {
  ranks.assign(instance.period(), 0);
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
}

bool PlacementSearch::canHold(const std::vector<int32_t> &devices,
                              int32_t group, int32_t device) const {
  for (int32_t i : members[group])
    if (graph.time(i, device) < 0)
      return false;
  const std::optional<int64_t> &memory = graph.devices[device].memory;
  if (!memory)
    return true;
  int64_t bytes = parameters[group], largestBirth = 0;
  for (size_t g = 0; g < devices.size(); ++g)
    if (devices[g] == device && int32_t(g) != group)
      bytes += parameters[g];
  for (int32_t i : members[group])
    largestBirth = std::max(largestBirth, graph.ops[i].birthBytes);
  return bytes + largestBirth <= *memory;
}

std::vector<int32_t> PlacementSearch::byEarliestFinish() const {
  std::vector<int32_t> order = instance.order();
  std::stable_sort(order.begin(), order.end(),
                   [&](int32_t a, int32_t b) { return ranks[a] > ranks[b]; });
  std::vector<int32_t> devices = instance.placement();
  std::vector<int64_t> ends(instance.period(), 0);
  std::vector<int64_t> idle(instance.numMachines(), 0);
  for (int32_t i : order) {
    int32_t &device = devices[graph.ops[i].group];
    int64_t bestEnd = std::numeric_limits<int64_t>::max();
    int32_t best = -1;
    for (int32_t d = 0; d < instance.numDevices(); ++d) {
      if (device >= 0 ? d != device : !canHold(devices, graph.ops[i].group, d))
        continue;
      int64_t start = idle[d * numMachineKinds + int32_t(graph.ops[i].machine)];
      for (const Arc &arc : instance.predecessors(i)) {
        bool isLocal = devices[graph.ops[arc.op].group] == d;
        start = std::max(start, ends[arc.op] +
                                    (isLocal ? 0 : graph.link.time(arc.bytes)));
      }
      if (start + graph.time(i, d) < bestEnd) {
        bestEnd = start + graph.time(i, d);
        best = d;
      }
    }
    if (best < 0)
      return {};
    device = best;
    ends[i] = bestEnd;
    idle[best * numMachineKinds + int32_t(graph.ops[i].machine)] = bestEnd;
  }
  return devices;
}

std::vector<int32_t> PlacementSearch::byEqualLoad() const {
  std::vector<int32_t> devices = instance.placement();
  int64_t total = 0, before = 0;
  for (int32_t i = 0; i < instance.period(); ++i)
    total += std::max<int64_t>(1, graph.leastTime(i));
  int32_t count = instance.numDevices();
  for (int32_t i : instance.order()) {
    int32_t group = graph.ops[i].group;
    if (devices[group] < 0) {
      int32_t wanted = int32_t(before * count / total);
      for (int32_t k = 0; k < count && devices[group] < 0; ++k)
        if (canHold(devices, group, (wanted + k) % count))
          devices[group] = (wanted + k) % count;
      if (devices[group] < 0)
        return {};
      for (int32_t member : members[group])
        before += std::max<int64_t>(1, graph.leastTime(member));
    }
  }
  return devices;
}

DispatchRule PlacementSearch::rule() const {
  int64_t period = 1 + *std::max_element(ranks.begin(), ranks.end());
  DispatchRule result;
  for (int32_t op = 0; op < instance.numOps(); ++op)
    result.keys.push_back(period * instance.copyOf(op) / 2 -
                          ranks[op % instance.period()]);
  return result;
}

void PlacementSearch::step(Candidate &candidate, Rng &rng) const {
  std::vector<int32_t> &devices = candidate.devices;
  uint64_t kind = rng.below(4);
  if (kind == 0) {
    std::vector<int64_t> &keys = candidate.rule.keys;
    std::swap(keys[rng.below(keys.size())], keys[rng.below(keys.size())]);
    return;
  }
  int32_t group = freeGroups[rng.below(freeGroups.size())];
  int32_t old = devices[group];
  if (kind == 1) {
    int32_t other = freeGroups[rng.below(freeGroups.size())];
    std::swap(devices[group], devices[other]);
    if (!canHold(devices, group, devices[group]) ||
        !canHold(devices, other, devices[other]))
      std::swap(devices[group], devices[other]);
    return;
  }
  int32_t device = int32_t(rng.below(instance.numDevices()));
  if (kind == 2) {
    // To where one of its neighbours is.
    int32_t i = members[group][rng.below(members[group].size())];
    Span<const Arc> arcs =
        rng.below(2) ? instance.successors(i) : instance.predecessors(i);
    if (!arcs.empty())
      device = devices[graph.ops[arcs[rng.below(arcs.size())].op].group];
  }
  devices[group] = device;
  if (!canHold(devices, group, device))
    devices[group] = old;
}

/// Larger graphs are placed by one of fewer operators first.
static constexpr int32_t mostOpsToAnneal = 3000;

static void placeCoarsely(Incumbent &incumbent, const Budget &budget,
                          Backend &placement, const char *name) {
  const Instance &instance = incumbent.instance();
  constexpr int32_t target = 500;
  CoarseGraph coarse = coarsen(instance.graph(), target);
  if (int32_t(coarse.graph.ops.size()) > mostOpsToAnneal)
    return;
  ErrorOr<Instance> fewer = Instance::expand(coarse.graph, instance.copies());
  if (!fewer)
    return;
  Incumbent coarseIncumbent(*fewer, Objective::Makespan);
  placement.improve(coarseIncumbent, budget.part(0.5));
  if (!coarseIncumbent.exists())
    return;
  std::vector<int32_t> devices =
      coarse.undo(coarseIncumbent.schedule().devices);
  if (std::optional<Schedule> schedule =
          dispatch(instance, devices, PlacementSearch(instance).rule()))
    incumbent.offer(*schedule, name);
}

void FreePlacement::improve(Incumbent &incumbent, const Budget &budget) {
  const Instance &instance = incumbent.instance();
  if (instance.isPlaced())
    return;
  if (instance.period() > mostOpsToAnneal)
    placeCoarsely(incumbent, budget, *this, name());
  PlacementSearch search(instance);
  Rng rng(seed);
  std::optional<Candidate> current;
  int64_t value = 0;
  auto valueOf = [&](const Schedule &schedule) {
    return incumbent.objective() == Objective::Makespan
               ? makespanOf(instance, schedule)
               : incumbent.valueOf(*validate(instance, schedule));
  };
  for (const std::vector<int32_t> &devices :
       {search.byEarliestFinish(), search.byEqualLoad()}) {
    if (devices.empty())
      continue;
    Candidate candidate{devices, search.rule()};
    std::optional<Schedule> schedule =
        dispatch(instance, devices, candidate.rule);
    if (!schedule)
      continue;
    incumbent.offer(*schedule, name());
    int64_t own = valueOf(*schedule);
    if (!current || own < value) {
      current = std::move(candidate);
      value = own;
    }
  }
  if (!current)
    return;
  // By default as many steps as take about a second.
  int64_t rounds = budget.rounds()
                       ? budget.rounds()
                       : std::max<int64_t>(100, 2'000'000 / instance.numOps());
  double heat = 0.02 * double(value);
  for (int64_t round = 0; round < rounds; ++round) {
    if (incumbent.isProved() || budget.isOver())
      return;
    Candidate next = *current;
    search.step(next, rng);
    std::optional<Schedule> schedule =
        dispatch(instance, next.devices, next.rule);
    if (!schedule)
      continue;
    int64_t own = valueOf(*schedule);
    double left = heat * (1 - double(round) / double(rounds));
    if (own > value && double(own - value) > -left * std::log(1 - rng.real()))
      continue;
    if (own < incumbent.value())
      incumbent.offer(*schedule, name());
    current = std::move(next);
    value = own;
  }
}

std::unique_ptr<Backend> schedule::makeFreePlacement(uint64_t seed) {
  return std::make_unique<FreePlacement>(seed);
}
