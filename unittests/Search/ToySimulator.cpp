//===- ToySimulator.cpp - A small decomposable simulator ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ToySimulator.h"

#include <algorithm>
#include <cassert>

namespace shardopt::search {

ToySimulator::ToySimulator(size_t numOps, uint64_t seed) {
  Rng rng(seed);
  for (size_t op = 0; op < numOps; ++op) {
    weight.push_back(4 + rng.below(40));
    cache.push_back(rng.below(3));
    work.push_back({double(8 + rng.below(64)), double(8 + rng.below(64)),
                    double(8 + rng.below(64))});
  }
}

double ToySimulator::opTime(const Degrees &degrees, size_t op, Dim dim) const {
  double time = work[op][size_t(dim)] * degrees.batch / degrees.ep + 16;
  return dim == Dim::None ? time : time / degrees.tp + 4 * (degrees.tp - 1);
}

double ToySimulator::opMemory(const Degrees &degrees, size_t op,
                              Dim dim) const {
  double whole = weight[op] + cache[op] * degrees.batch / degrees.ep;
  return whole / degrees.pp / (dim == Dim::None ? 1 : degrees.tp);
}

double ToySimulator::reshardTime(const Degrees &degrees, Dim from,
                                 Dim to) const {
  return from == to || degrees.tp == 1 ? 0
                                       : 8 + 2.0 * degrees.batch / degrees.ep;
}

Evaluation ToySimulator::finish(const Degrees &degrees, double time,
                                double memory) const {
  Evaluation evaluation;
  evaluation.latencyMs = time + 32 * (degrees.pp - 1);
  evaluation.memoryGb = memory;
  evaluation.throughput = 1000.0 * degrees.batch /
                          (evaluation.latencyMs / degrees.pp) /
                          degrees.devices();
  evaluation.reason = memory > capacityGb            ? Reason::Memory
                      : evaluation.latencyMs > sloMs ? Reason::Slo
                                                     : Reason::None;
  evaluation.valid = evaluation.reason == Reason::None;
  return evaluation;
}

Evaluation ToySimulator::evaluate(const Strategy &strategy) const {
  assert(strategy.dims.size() == work.size() && "one dim an op");
  const Degrees &degrees = strategy.degrees;
  if (degrees.pp > layers)
    return {};
  double time = 0, memory = 0;
  for (size_t op = 0; op < work.size(); ++op) {
    if (op > 0)
      time += reshardTime(degrees, strategy.dims[op - 1], strategy.dims[op]);
    time += opTime(degrees, op, strategy.dims[op]);
    memory += opMemory(degrees, op, strategy.dims[op]);
  }
  return finish(degrees, time, memory);
}

DegreeBound ToySimulator::bound(const Degrees &degrees,
                                const DimDomains &domains, Goal goal) const {
  if (degrees.pp > layers)
    return {Reason::Structural, 0};
  double time = 0, memory = 0;
  for (size_t op = 0; op < domains.size(); ++op) {
    double leastTime = opTime(degrees, op, domains[op].front());
    double leastMemory = opMemory(degrees, op, domains[op].front());
    for (Dim dim : domains[op]) {
      leastTime = std::min(leastTime, opTime(degrees, op, dim));
      leastMemory = std::min(leastMemory, opMemory(degrees, op, dim));
    }
    time += leastTime;
    memory += leastMemory;
  }
  Evaluation best = finish(degrees, time, memory);
  Objective objective;
  objective.goal = goal;
  double value = objective.value(best);
  return {best.reason,
          goal == Goal::Throughput ? value * looseness : value / looseness};
}

namespace {
struct Label {
  double time, memory;
  std::vector<Dim> dims;
};
} // namespace

/// Keeps the labels that no other one with the same last dim dominates. A label
/// with smaller dims and the same time is not dominated: it may be the first of
/// several optima.
static std::vector<Label> prune(const std::vector<Label> &labels) {
  std::vector<Label> kept;
  for (const Label &label : labels) {
    auto dominates = [&](const Label &other) {
      if (other.dims.back() != label.dims.back() || other.memory > label.memory)
        return false;
      return other.time < label.time ||
             (other.time == label.time && other.dims < label.dims);
    };
    if (std::none_of(labels.begin(), labels.end(), dominates))
      kept.push_back(label);
  }
  return kept;
}

std::optional<Plan> ToySimulator::solve(const Degrees &degrees,
                                        const DimDomains &domains, Goal goal,
                                        std::optional<double> incumbent) const {
  std::vector<Label> labels = {{0, 0, {}}};
  for (size_t op = 0; op < domains.size(); ++op) {
    std::vector<Label> extended;
    for (const Label &label : labels)
      for (Dim dim : domains[op]) {
        Label next = label;
        if (op > 0)
          next.time += reshardTime(degrees, label.dims.back(), dim);
        next.time += opTime(degrees, op, dim);
        next.memory += opMemory(degrees, op, dim);
        next.dims.push_back(dim);
        extended.push_back(std::move(next));
      }
    labels = prune(extended);
  }

  Objective objective;
  objective.goal = goal;
  std::optional<Plan> best;
  for (Label &label : labels) {
    Evaluation evaluation = finish(degrees, label.time, label.memory);
    if (!evaluation.valid)
      continue;
    if (incumbent &&
        isBetterValue(goal, *incumbent, objective.value(evaluation)))
      continue;
    bool first = !best || objective.better(evaluation, best->evaluation) ||
                 (!objective.better(best->evaluation, evaluation) &&
                  label.dims < best->strategy.dims);
    if (first)
      best = Plan{{degrees, std::move(label.dims)}, evaluation};
  }
  return best;
}

std::string searcherTestName(const testing::TestParamInfo<std::string> &info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

void forEachStrategy(const StrategySpace &space,
                     const std::function<void(const Strategy &)> &visit) {
  const DimDomains &domains = space.dimDomains();
  for (const Degrees &degrees : space.degreeTuples()) {
    std::vector<size_t> digits(domains.size());
    while (true) {
      Strategy strategy{degrees, {}};
      for (size_t op = 0; op < domains.size(); ++op)
        strategy.dims.push_back(domains[op][digits[op]]);
      visit(strategy);
      size_t op = domains.size();
      while (op > 0 && ++digits[op - 1] == domains[op - 1].size())
        digits[--op] = 0;
      if (op == 0)
        break;
    }
  }
}

std::optional<Plan> bruteForce(const StrategySpace &space,
                               const Simulator &simulator,
                               const Objective &objective) {
  std::optional<Plan> best;
  forEachStrategy(space, [&](const Strategy &strategy) {
    Evaluation evaluation = simulator.evaluate(strategy);
    if (evaluation.valid &&
        (!best || objective.better(evaluation, best->evaluation)))
      best = Plan{strategy, evaluation};
  });
  return best;
}

StrategySpace makeSpace(size_t numOps, const SpaceRequest &request) {
  SpaceFacts facts;
  facts.layers = 8;
  facts.experts = 16;
  for (size_t op = 0; op < numOps; ++op)
    facts.ops.push_back("op" + std::to_string(op));
  ErrorOr<StrategySpace> space = StrategySpace::create(facts, request);
  assert(space && "a valid request");
  return *space;
}

} // namespace shardopt::search
