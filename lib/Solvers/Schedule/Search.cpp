//===- Search.cpp - What back-ends share ----------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/Search.h"

#include <algorithm>
#include <tuple>

using namespace shardopt;
using namespace shardopt::schedule;

Budget::Budget(double seconds, int64_t rounds, const StopToken *stop)
    : start(std::chrono::steady_clock::now()), limit(seconds),
      mostRounds(rounds), stop(stop) {}

double Budget::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
      .count();
}

double Budget::secondsLeft() const {
  constexpr double endless = 1e9;
  return limit > 0 ? std::max(0.0, limit - seconds()) : endless;
}

Budget Budget::part(double fraction) const {
  constexpr double least = 1e-3; // 0 would be no limit
  return limit > 0 ? Budget(std::max(least, fraction * secondsLeft()),
                            mostRounds, stop)
                   : *this;
}

bool Budget::isOver() const {
  return (stop && stop->requested()) || secondsLeft() <= 0;
}

Incumbent::Incumbent(const Instance &instance, Criterion objective)
    : problem(instance), aim(objective),
      limits(computeBounds(instance, instance.placement())) {
  if (objective != Criterion::Memory)
    return;
  for (const PlanOp &op : instance.graph().ops)
    leastBytes = std::max(leastBytes, op.birthBytes + op.parameterBytes);
  for (int64_t bytes : leastMemory(instance, instance.placement()))
    leastBytes = std::max(leastBytes, bytes);
}

int64_t Incumbent::valueOf(const Verdict &verdict) const {
  switch (aim) {
  case Criterion::Makespan:
    return verdict.makespan;
  case Criterion::OwnSpan:
    return verdict.ownSpan();
  case Criterion::Memory:
    return verdict.peakMemory();
  }
  return 0;
}

int64_t Incumbent::value() const { return valueOf(best); }

int64_t Incumbent::bound() const {
  const PlanGraph &graph = problem.graph();
  switch (aim) {
  case Criterion::Makespan:
    return limits.makespan();
  case Criterion::OwnSpan: {
    // A device spans at least its own work.
    if (!problem.isPlaced())
      return 0;
    std::vector<int64_t> work(problem.numDevices(), 0);
    for (int32_t i = 0; i < problem.period(); ++i) {
      int32_t device = graph.groups[graph.ops[i].group].device;
      if (graph.ops[i].machine == MachineKind::Compute)
        work[device] += graph.time(i, device) * problem.copies();
    }
    return *std::max_element(work.begin(), work.end());
  }
  case Criterion::Memory:
    return leastBytes;
  }
  return 0;
}

bool Incumbent::offer(const Schedule &schedule, const std::string &finder) {
  ErrorOr<Verdict> verdict = validate(problem, schedule);
  if (!verdict) {
    ++rejected;
    reason = finder + ": " + verdict.error().message;
    return false;
  }
  auto rank = [&](const Verdict &of) {
    return std::make_tuple(valueOf(of), of.makespan, of.ownSpan());
  };
  if (found && rank(*verdict) >= rank(best))
    return false;
  found = schedule;
  best = std::move(*verdict);
  by = finder;
  return true;
}

void Incumbent::raiseBound(int64_t makespan) {
  limits.refuted = std::max(limits.refuted, makespan);
}

void Incumbent::raiseMemoryBound(int64_t bytes) {
  leastBytes = std::max(leastBytes, bytes);
}
