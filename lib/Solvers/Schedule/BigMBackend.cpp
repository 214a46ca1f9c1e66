//===- BigMBackend.cpp - The disjunctive formulation ----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Starts are numbers, and for two operators of a machine a binary variable says
// which comes first: if not this one, a constant as large as the horizon makes
// its row void. Bytes of an operator that was born before another one and not
// freed before it count when that one starts, which the same variables say. The
// textbook's form of a job shop; its relaxation says next to nothing, so that
// it is here to be compared with.
//
//===----------------------------------------------------------------------===//

#include "CbcProgram.h"
#include "shardopt/Solvers/Schedule/Backends.h"

#include <algorithm>
#include <cmath>
#include <map>

using namespace shardopt;
using namespace shardopt::schedule;

namespace {

class BigMBackend : public Backend {
public:
  const char *name() const override { return "big-m"; }
  void improve(Incumbent &incumbent, const Budget &budget) override;
};

class BigMProgram {
public:
  BigMProgram(const Instance &instance, int64_t horizon);

  /// Whether memory can be written by what is on one machine.
  bool isSupported() const { return supported; }
  Schedule read(const std::vector<double> &values) const;

  CbcProgram program;

private:
  int32_t machineOf(int32_t op) const {
    return devices[instance.at(op).group] * numMachineKinds +
           int32_t(instance.at(op).machine);
  }
  int64_t timeOf(int32_t op) const {
    return instance.graph().time(op % instance.period(),
                                 devices[instance.at(op).group]);
  }
  /// `b` starts at least `distance` after `a`.
  void addPrecedence(int32_t a, int32_t b, int64_t distance) {
    program.addRow({{starts[a], 1}, {starts[b], -1}}, -double(distance));
  }
  /// 1 if `a` ends before `b` starts: a variable, or a number that is known.
  struct Before {
    int32_t variable = -1;
    double factor = 0, constant = 0;
  };
  Before before(int32_t a, int32_t b);
  void addMemory();

  const Instance &instance;
  std::vector<int32_t> devices; ///< of groups
  Windows windows;
  int64_t horizon;
  std::vector<int32_t> starts; ///< variables of operators
  std::map<std::pair<int32_t, int32_t>, int32_t> orders;
  bool supported = true;
};

} // namespace

BigMProgram::BigMProgram(const Instance &instance, int64_t horizon)
    : instance(instance), devices(instance.placement()),
      windows(computeWindows(instance, devices)), horizon(horizon) {
  const PlanGraph &graph = instance.graph();
  int32_t count = instance.numOps(), period = instance.period();
  for (int32_t op = 0; op < count; ++op)
    starts.push_back(program.addVariable(
        double(windows.heads[op]), double(horizon - windows.tails[op]), false));
  int32_t makespan = program.addVariable(0, double(horizon), false, 1);
  for (int32_t op = 0; op < count; ++op) {
    program.addRow({{starts[op], 1}, {makespan, -1}}, -double(timeOf(op)));
    int32_t i = op % period, first = op - i;
    for (const Arc &arc : instance.successors(i)) {
      bool isLocal =
          devices[graph.ops[i].group] == devices[graph.ops[arc.op].group];
      addPrecedence(op, first + arc.op,
                    timeOf(op) + (isLocal ? 0 : graph.link.time(arc.bytes)));
    }
    if (first)
      addPrecedence(op - period, op, timeOf(op));
  }
  for (int32_t a = 0; a < count; ++a)
    for (int32_t b = a + 1; b < count; ++b)
      if (machineOf(a) == machineOf(b) && timeOf(a) && timeOf(b))
        before(a, b);
  addMemory();
}

BigMProgram::Before BigMProgram::before(int32_t a, int32_t b) {
  if (a == b)
    return {};
  if (a > b) {
    Before other = before(b, a);
    return {other.variable, -other.factor, 1 - other.constant};
  }
  // What windows or repetitions order needs no variable.
  if (a % instance.period() == b % instance.period())
    return {-1, 0, 1};
  bool canPrecede = windows.heads[a] + timeOf(a) + windows.tails[b] <= horizon;
  bool canFollow = windows.heads[b] + timeOf(b) + windows.tails[a] <= horizon;
  if (!canFollow)
    return {-1, 0, 1};
  if (!canPrecede)
    return {-1, 0, 0};
  auto [it, isNew] = orders.try_emplace({a, b}, -1);
  if (isNew) {
    int32_t order = it->second = program.addVariable(0, 1, true);
    double large = double(horizon);
    // S_a + p_a <= S_b + H (1 - y),  S_b + p_b <= S_a + H y
    program.addRow({{starts[a], 1}, {starts[b], -1}, {order, large}},
                   large - double(timeOf(a)));
    program.addRow({{starts[b], 1}, {starts[a], -1}, {order, -large}},
                   -double(timeOf(b)));
  }
  return {it->second, 1, 0};
}

void BigMProgram::addMemory() {
  const PlanGraph &graph = instance.graph();
  int32_t period = instance.period();
  std::vector<int64_t> rooms;
  for (const PlanDevice &device : graph.devices)
    rooms.push_back(device.memory.value_or(INT64_MAX));
  for (const PlanOp &op : graph.ops)
    if (graph.devices[devices[op.group]].memory)
      rooms[devices[op.group]] -= op.parameterBytes;
  std::vector<std::vector<int32_t>> births(instance.numDevices());
  for (int32_t op = 0; op < instance.numOps(); ++op)
    if (instance.at(op).birthBytes &&
        graph.devices[devices[instance.at(op).group]].memory)
      births[devices[instance.at(op).group]].push_back(op);
  for (int32_t d = 0; d < instance.numDevices(); ++d)
    for (int32_t at : births[d]) {
      std::vector<std::pair<int32_t, double>> terms;
      double most = double(rooms[d] - instance.at(at).birthBytes);
      auto add = [&](Before order, double weight) {
        most -= weight * order.constant;
        if (order.variable >= 0)
          terms.push_back({order.variable, weight * order.factor});
      };
      for (int32_t other : births[d]) {
        if (other == at)
          continue;
        const std::vector<int32_t> &freers = instance.freers(other % period);
        double weight = double(instance.at(other).birthBytes);
        add(before(other, at), weight);
        supported &= machineOf(other) == machineOf(at) && freers.size() <= 1;
        for (int32_t freer : freers) {
          int32_t death = other - other % period + freer;
          supported &= machineOf(death) == machineOf(at);
          if (supported && death != at)
            add(before(death, at), -weight);
        }
      }
      if (supported)
        program.addRow(terms, most);
    }
}

Schedule BigMProgram::read(const std::vector<double> &values) const {
  Schedule schedule{devices, {}};
  for (int32_t variable : starts)
    schedule.starts.push_back(std::llround(values[variable]));
  return schedule;
}

void BigMBackend::improve(Incumbent &incumbent, const Budget &budget) {
  const Instance &instance = incumbent.instance();
  if (!instance.isPlaced() || incumbent.objective() != Objective::Makespan ||
      !incumbent.exists())
    return;
  // The schedule of the first rule is the horizon.
  makeRuleSweep(1)->improve(incumbent, Budget(0, 1, budget.stopToken()));
  // Rows for each pair of operators of a machine.
  constexpr int64_t mostPairs = 4'000'000;
  std::vector<int64_t> counts(instance.numMachines(), 0);
  for (int32_t op = 0; op < instance.numOps(); ++op)
    ++counts[incumbent.schedule().deviceOf(instance, op) * numMachineKinds +
             int32_t(instance.at(op).machine)];
  int64_t pairs = 0;
  for (int64_t count : counts)
    pairs += count * count / 2;
  if (pairs > mostPairs)
    return;
  BigMProgram bigM(instance, incumbent.verdict().makespan);
  if (!bigM.isSupported())
    return;
  int64_t nodes = budget.rounds() ? budget.rounds() : INT32_MAX;
  CbcProgram::Outcome outcome = bigM.program.solve(budget, nodes);
  if (outcome.answer != Answer::Yes)
    return;
  incumbent.offer(bigM.read(outcome.values), name());
  constexpr double rounding = 1e-6;
  incumbent.raiseBound(int64_t(std::ceil(outcome.bound - rounding)));
}

std::unique_ptr<Backend> schedule::makeBigMBackend() {
  return std::make_unique<BigMBackend>();
}
