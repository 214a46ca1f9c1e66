//===- Infeasible.cpp - What binds, and what would fit --------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Infeasible.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <set>

namespace shardopt::search {

using IsStopped = std::function<bool()>;

//===----------------------------------------------------------------------===//
// What binds
//===----------------------------------------------------------------------===//

BindingConstraint bindingConstraint(const Evaluation &invalid,
                                    const Objective &objective) {
  assert(!invalid.valid && "nothing binds");
  BindingConstraint binding;
  binding.kind = invalid.reason;
  if (invalid.reason == Reason::Memory) {
    binding.value = invalid.memoryGb;
    binding.limit = objective.memoryCapacityGb;
  } else if (invalid.reason == Reason::Activations) {
    binding.value = invalid.activationsGb;
    binding.limit = objective.activationsGb;
  } else if (invalid.reason == Reason::Slo) {
    binding.value = invalid.latencyMs;
    binding.limit = objective.sloMs;
  }
  return binding;
}

//===----------------------------------------------------------------------===//
// What would fit
//===----------------------------------------------------------------------===//

double roundUpLimit(double least) {
  double digits = 2 - std::floor(std::log10(least));
  double unit = std::pow(10.0, std::abs(digits));
  // Divide by whole powers of ten, which are exact.
  double rounded = digits > 0 ? std::ceil(least * unit) / unit
                              : std::ceil(least / unit) * unit;
  return std::max(rounded, least);
}

/// The shortest SLO under which something fits, rounded up.
static std::optional<NextFeasible> trySlo(const StrategySpace &space,
                                          double sloMs, Goal goal,
                                          const FeasibilityProbe &probe) {
  constexpr double noSlo = std::numeric_limits<double>::infinity();
  if (sloMs == noSlo)
    return std::nullopt;
  std::optional<Plan> fastest = probe(space, noSlo, Goal::Latency);
  if (!fastest)
    return std::nullopt;
  double longer = roundUpLimit(fastest->evaluation.latencyMs);
  if (longer <= sloMs)
    return std::nullopt; // found only now; no change of the SLO is needed
  Change change{Change::Kind::Slo, sloMs, longer};
  if (std::optional<Plan> plan = probe(space, longer, goal))
    return NextFeasible{change, std::move(*plan)};
  return NextFeasible{change, std::move(*fastest)};
}

/// The largest power of two below the batches of the request that fits.
static std::optional<NextFeasible>
tryBatch(const SpaceFacts &facts, const SpaceRequest &request,
         const StrategySpace &space, double sloMs, Goal goal,
         const FeasibilityProbe &probe, const IsStopped &isStopped) {
  int64_t smallest = space.degreeDomain(Degree::Batch).front();
  int64_t batch = 1;
  while (batch * 2 < smallest)
    batch *= 2;
  SpaceRequest changed = request;
  changed.pinned[Degree::Batch] = std::nullopt;
  for (; batch >= 1 && batch < smallest && !isStopped(); batch /= 2) {
    changed.lists[Degree::Batch] = {batch};
    ErrorOr<StrategySpace> smaller = StrategySpace::create(facts, changed);
    assert(smaller && "the degrees are as they were");
    if (std::optional<Plan> plan = probe(*smaller, sloMs, goal))
      return NextFeasible{
          {Change::Kind::Batch, double(smallest), double(batch)},
          std::move(*plan)};
  }
  return std::nullopt;
}

/// The fewest devices, more than the request allows and less than `maxFactor`
/// times as many, on which something fits.
static std::optional<NextFeasible>
tryDevices(const SpaceFacts &facts, const SpaceRequest &request, double sloMs,
           Goal goal, double maxFactor, const FeasibilityProbe &probe,
           const IsStopped &isStopped) {
  if (!request.devices && !request.maxDevices)
    return std::nullopt;
  int64_t limit = request.devices ? *request.devices : *request.maxDevices;

  SpaceRequest changed = request;
  changed.devices = changed.maxDevices = std::nullopt;
  ErrorOr<StrategySpace> unlimited = StrategySpace::create(facts, changed);
  assert(unlimited && "a part of it exists");
  std::set<int64_t> counts;
  for (size_t grid = 0; grid < unlimited->numGrids(); ++grid)
    if (int64_t count = unlimited->degreesOf(grid, 0).devices();
        count > limit && count < maxFactor * limit)
      counts.insert(count);

  // Exactly so many each time: grids of fewer have been probed by then.
  for (int64_t more : counts) {
    if (isStopped())
      break;
    changed.devices = more;
    ErrorOr<StrategySpace> space = StrategySpace::create(facts, changed);
    assert(space && "a grid has so many devices");
    if (std::optional<Plan> plan = probe(*space, sloMs, goal))
      return NextFeasible{{Change::Kind::Devices, double(limit), double(more)},
                          std::move(*plan)};
  }
  return std::nullopt;
}

std::optional<NextFeasible> findNextFeasible(const SpaceFacts &facts,
                                             const SpaceRequest &request,
                                             double sloMs, Goal goal,
                                             const FeasibilityProbe &probe,
                                             const IsStopped &stopRequested) {
  IsStopped isStopped = [&] { return stopRequested && stopRequested(); };
  ErrorOr<StrategySpace> space = StrategySpace::create(facts, request);
  assert(space && "the request was searched");
  std::optional<NextFeasible> smallest = trySlo(*space, sloMs, goal, probe);
  std::optional<NextFeasible> batch =
      tryBatch(facts, request, *space, sloMs, goal, probe, isStopped);
  if (batch &&
      (!smallest || batch->change.factor() < smallest->change.factor()))
    smallest = std::move(batch);
  double maxFactor = smallest ? smallest->change.factor()
                              : std::numeric_limits<double>::infinity();
  if (auto devices =
          tryDevices(facts, request, sloMs, goal, maxFactor, probe, isStopped))
    smallest = std::move(devices);
  return smallest;
}

} // namespace shardopt::search
