//===- FreePlacement.cpp - Devices for groups that are free ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Starts from that of HEFT, cuts of equal load along the topological order, and
// the best one known, and anneals the best of them: a step moves a group, swaps
// two, or swaps the urgency of two operators, and list scheduling tells what it
// is worth.
//
//===----------------------------------------------------------------------===//

#include "FittingOrder.h"
#include "shardopt/Solvers/Schedule/Backends.h"
#include "shardopt/Solvers/Schedule/Coarsen.h"
#include "shardopt/Solvers/Schedule/Heft.h"
#include "shardopt/Support/Rng.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace shardopt;
using namespace shardopt::schedule;

namespace {

class FreePlacement : public Backend {
public:
  FreePlacement(uint64_t seed, bool anneals) : seed(seed), anneals(anneals) {}
  const char *name() const override { return "placement"; }
  void improve(Incumbent &incumbent, const Budget &budget) override;

private:
  uint64_t seed;
  bool anneals;
};

/// Devices of groups, and keys of operators: what a step changes.
struct Candidate {
  std::vector<int32_t> devices;
  std::vector<int64_t> parameters; ///< of devices
  DispatchRule rule;
};

class PlacementSearch {
public:
  explicit PlacementSearch(const Instance &instance);

  std::vector<int32_t> byEarliestFinish() const;
  std::vector<int32_t> byEqualLoad() const;
  Candidate makeCandidate(const std::vector<int32_t> &devices) const;
  /// Changes `candidate` a little; it still holds the parameters.
  void step(Candidate &candidate, Rng &rng) const;

private:
  /// Whether it fits; if so, `group` is there now.
  bool move(Candidate &candidate, int32_t group, int32_t device) const;
  void swap(Candidate &candidate, int32_t a, int32_t b) const;
  std::vector<int64_t> parametersOf(const std::vector<int32_t> &devices) const;

  const Instance &instance;
  const PlanGraph &graph;
  GroupNeeds needs;
  std::vector<int64_t> ranks;
  std::vector<int32_t> freeGroups;
};

} // namespace

PlacementSearch::PlacementSearch(const Instance &instance)
    : instance(instance), graph(instance.graph()), needs(instance),
      ranks(upwardRanks(instance)) {
  for (size_t g = 0; g < graph.groups.size(); ++g)
    if (graph.groups[g].device < 0)
      freeGroups.push_back(int32_t(g));
}

std::vector<int32_t> PlacementSearch::byEarliestFinish() const {
  std::optional<Schedule> first = placeByEarliestFinish(instance, needs, ranks);
  return first ? first->devices : std::vector<int32_t>();
}

std::vector<int64_t>
PlacementSearch::parametersOf(const std::vector<int32_t> &devices) const {
  std::vector<int64_t> parameters(instance.numDevices(), 0);
  for (size_t g = 0; g < devices.size(); ++g)
    if (devices[g] >= 0)
      parameters[devices[g]] += needs.parameters[g];
  return parameters;
}

Candidate
PlacementSearch::makeCandidate(const std::vector<int32_t> &devices) const {
  return {devices, parametersOf(devices), rankRule(instance, ranks)};
}

bool PlacementSearch::move(Candidate &candidate, int32_t group,
                           int32_t device) const {
  int32_t &own = candidate.devices[group];
  if (own == device ||
      !needs.fit(graph, group, device, candidate.parameters[device]))
    return own == device;
  candidate.parameters[own] -= needs.parameters[group];
  candidate.parameters[device] += needs.parameters[group];
  own = device;
  return true;
}

void PlacementSearch::swap(Candidate &candidate, int32_t a, int32_t b) const {
  int32_t deviceOfA = candidate.devices[a], deviceOfB = candidate.devices[b];
  if (deviceOfA == deviceOfB)
    return;
  int64_t &atA = candidate.parameters[deviceOfA];
  int64_t &atB = candidate.parameters[deviceOfB];
  int64_t more = needs.parameters[b] - needs.parameters[a];
  if (!needs.fit(graph, a, deviceOfB, atB - needs.parameters[b]) ||
      !needs.fit(graph, b, deviceOfA, atA - needs.parameters[a]))
    return;
  std::swap(candidate.devices[a], candidate.devices[b]);
  atA += more;
  atB -= more;
}

std::vector<int32_t> PlacementSearch::byEqualLoad() const {
  std::vector<int32_t> devices = instance.placement();
  std::vector<int64_t> parameters = parametersOf(devices);
  int64_t total = 0, before = 0;
  for (int32_t i = 0; i < instance.period(); ++i)
    total += std::max<int64_t>(1, graph.leastTime(i));
  int32_t count = instance.numDevices();
  for (int32_t i : instance.order()) {
    int32_t group = graph.ops[i].group;
    if (devices[group] >= 0)
      continue;
    int32_t wanted = int32_t(before * count / total);
    for (int32_t k = 0; k < count && devices[group] < 0; ++k) {
      int32_t device = (wanted + k) % count;
      if (needs.fit(graph, group, device, parameters[device]))
        devices[group] = device;
    }
    if (devices[group] < 0)
      return {};
    parameters[devices[group]] += needs.parameters[group];
    for (int32_t member : needs.members[group])
      before += std::max<int64_t>(1, graph.leastTime(member));
  }
  return devices;
}

void PlacementSearch::step(Candidate &candidate, Rng &rng) const {
  uint64_t kind = rng.below(4);
  if (kind == 0) {
    std::vector<int64_t> &keys = candidate.rule.keys;
    std::swap(keys[rng.below(keys.size())], keys[rng.below(keys.size())]);
    return;
  }
  int32_t group = freeGroups[rng.below(freeGroups.size())];
  if (kind == 1) {
    swap(candidate, group, freeGroups[rng.below(freeGroups.size())]);
    return;
  }
  int32_t device = int32_t(rng.below(instance.numDevices()));
  const std::vector<int32_t> &members = needs.members[group];
  if (kind == 2 && !members.empty()) {
    // To where one of its neighbours is.
    int32_t i = members[rng.below(members.size())];
    Span<const Arc> arcs =
        rng.below(2) ? instance.successors(i) : instance.predecessors(i);
    if (!arcs.empty())
      device =
          candidate.devices[graph.ops[arcs[rng.below(arcs.size())].op].group];
  }
  move(candidate, group, device);
}

/// Larger graphs are placed by one of fewer operators first.
static constexpr int32_t mostOpsToAnneal = 3000;

static void placeCoarsely(Incumbent &incumbent, const Budget &budget,
                          Backend &placement, const char *name) {
  const Instance &instance = incumbent.instance();
  constexpr int32_t target = 500;
  CoarseGraph coarse = coarsen(instance.graph(), target, &budget);
  if (int32_t(coarse.graph.ops.size()) > mostOpsToAnneal)
    return;
  ErrorOr<Instance> fewer = Instance::expand(coarse.graph, instance.copies());
  if (!fewer)
    return;
  Incumbent coarseIncumbent(*fewer, Criterion::Makespan);
  placement.improve(coarseIncumbent, budget.part(0.5));
  if (!coarseIncumbent.exists() || budget.isOver())
    return;
  std::vector<int32_t> devices =
      coarse.undo(coarseIncumbent.schedule().devices);
  if (std::optional<Schedule> schedule =
          dispatch(instance, devices, rankRule(instance, upwardRanks(instance)),
                   0, &budget))
    incumbent.offer(*schedule, name);
}

void FreePlacement::improve(Incumbent &incumbent, const Budget &budget) {
  const Instance &instance = incumbent.instance();
  if (instance.isPlaced())
    return;
  // Whatever the time, there is one schedule.
  if (!incumbent.exists())
    if (std::optional<Schedule> first = scheduleByEarliestFinish(instance))
      incumbent.offer(*first, name());
  improveByFitting(incumbent, budget, name());
  if (!anneals || budget.isOver())
    return;
  if (instance.period() > mostOpsToAnneal)
    placeCoarsely(incumbent, budget, *this, name());
  PlacementSearch search(instance);
  Rng rng(seed);
  std::optional<Candidate> current;
  int64_t value = 0;
  auto valueOf = [&](const Schedule &schedule) {
    return incumbent.objective() == Criterion::Makespan
               ? makespanOf(instance, schedule)
               : incumbent.valueOf(*validate(instance, schedule));
  };
  std::vector<std::vector<int32_t>> starts = {search.byEarliestFinish(),
                                              search.byEqualLoad()};
  if (incumbent.exists())
    starts.push_back(incumbent.schedule().devices);
  for (const std::vector<int32_t> &devices : starts) {
    if (budget.isOver())
      return;
    if (devices.empty())
      continue;
    Candidate candidate = search.makeCandidate(devices);
    std::optional<Schedule> schedule =
        dispatch(instance, devices, candidate.rule, 0, &budget);
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
        dispatch(instance, next.devices, next.rule, 0, &budget);
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

std::unique_ptr<Backend> schedule::makeFreePlacement(uint64_t seed,
                                                     bool anneals) {
  return std::make_unique<FreePlacement>(seed, anneals);
}
