//===- ExactSearch.cpp - The optimum of a decomposable simulator ----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/ExactSearch.h"
#include "BatchSearch.h"
#include "shardopt/Support/ParallelFor.h"

#include <algorithm>

namespace shardopt::search {

/// What rounding may take from a bound, relative.
static constexpr double boundTolerance = 1e-12;

namespace {
struct BoundedTuple {
  Degrees degrees;
  double bound;
};
} // namespace

static bool isRequested(const std::function<bool()> &stopRequested) {
  return stopRequested && stopRequested();
}

/// The tuples that may hold something feasible, best bound first, ties in the
/// order of the degrees. None if stopped.
static std::optional<std::vector<BoundedTuple>>
boundTuples(const std::vector<Degrees> &tuples, const DimDomains &domains,
            const Decomposition &decomposition, Goal goal, unsigned threads,
            const std::function<bool()> &stopRequested) {
  // Large enough to amortise the threads, small enough to stop in time.
  constexpr size_t blockSize = 256;
  std::vector<DegreeBound> bounds(tuples.size());
  for (size_t begin = 0; begin < tuples.size(); begin += blockSize) {
    if (isRequested(stopRequested))
      return std::nullopt;
    size_t size = std::min(blockSize, tuples.size() - begin);
    parallelFor(size, threads, [&](size_t i) {
      bounds[begin + i] = decomposition.bound(tuples[begin + i], domains, goal);
    });
  }

  std::vector<BoundedTuple> bounded;
  for (size_t i = 0; i < tuples.size(); ++i)
    if (bounds[i].infeasible == Reason::None)
      bounded.push_back({tuples[i], bounds[i].bound});
  std::stable_sort(bounded.begin(), bounded.end(),
                   [&](const BoundedTuple &a, const BoundedTuple &b) {
                     return isBetterValue(goal, a.bound, b.bound);
                   });
  return bounded;
}

/// Whether a tuple with this bound may hold a value as good as `incumbent`.
static bool mayReach(Goal goal, double bound, double incumbent) {
  double slack = boundTolerance * incumbent;
  return !isBetterValue(goal, incumbent,
                        goal == Goal::Throughput ? bound + slack
                                                 : bound - slack);
}

/// Puts `found` in the place of `best` if it is better, or as good with smaller
/// degrees.
static void improve(std::optional<Plan> &best, std::optional<Plan> &&found,
                    const Objective &objective) {
  if (!found)
    return;
  bool replaces = !best ||
                  objective.better(found->evaluation, best->evaluation) ||
                  (!objective.better(best->evaluation, found->evaluation) &&
                   found->strategy.degrees < best->strategy.degrees);
  if (replaces)
    best = std::move(found);
}

/// Whether there are more batches than to look at each of them.
static bool boundsRanges(const StrategySpace &space,
                         const Decomposition &decomposition, Goal goal) {
  Degrees any = space.degreesOf(0, 0);
  return space.fitsBatch() &&
         decomposition.boundBatches(any, any.batch, space.dimDomains(), goal,
                                    /*isQuick=*/true);
}

/// Makes `bound` no better than `value`.
static void loosen(std::optional<double> &bound, double value, Goal goal) {
  if (!bound || isBetterValue(goal, value, *bound))
    bound = value;
}

/// What was solved without a proof may hold more, up to its own bound.
static void addMissed(ExactResult &result, const Decomposition &decomposition,
                      Goal goal) {
  std::optional<double> missed = decomposition.missedBound(goal);
  if (!missed)
    return;
  loosen(result.bound, *missed, goal);
  double slack = boundTolerance * *missed;
  Objective objective;
  objective.goal = goal;
  // A better plan of other degrees may have settled it meanwhile.
  if (!result.best || isBetterValue(goal,
                                    goal == Goal::Throughput ? *missed - slack
                                                             : *missed + slack,
                                    objective.value(result.best->evaluation)))
    result.proved = false;
}

static ExactResult fromRanges(const StrategySpace &space,
                              const Decomposition &decomposition, Goal goal,
                              unsigned threads,
                              const std::function<bool()> &stopRequested,
                              const BatchIntervals &known,
                              BatchIntervals *left) {
  BatchResult found = searchBatches(space, decomposition, goal, 1, threads,
                                    stopRequested, known);
  if (left && !found.isStopped)
    *left = std::move(found.ranges);
  Objective objective;
  objective.goal = goal;
  ExactResult result;
  result.degreeTuples = space.numGrids() * space.numBatches();
  result.solvedTuples = found.solvedTuples;
  result.proved = !found.isStopped;
  result.bound = found.open;
  if (!found.plans.empty()) {
    loosen(result.bound, objective.value(found.plans.front().evaluation), goal);
    result.best = std::move(found.plans.front());
  }
  addMissed(result, decomposition, goal);
  return result;
}

ExactResult findOptimum(const StrategySpace &space,
                        const Decomposition &decomposition, Goal goal,
                        unsigned threads,
                        const std::function<bool()> &stopRequested,
                        BatchIntervals *left) {
  ExactResult result;
  Objective objective;
  objective.goal = goal;
  if (boundsRanges(space, decomposition, goal))
    return fromRanges(space, decomposition, goal, threads, stopRequested,
                      /*known=*/{}, left);
  std::vector<Degrees> all = space.degreeTuples();
  result.degreeTuples = all.size();
  auto tuples = boundTuples(all, space.dimDomains(), decomposition, goal,
                            threads, stopRequested);
  if (!tuples)
    return result;

  // Invariant: `result.best` is the best of tuples [0, next). Tuples are taken
  // in blocks that share the incumbent at their start; a worse incumbent only
  // costs time, since `solve` returns the optimum or nothing.
  size_t next = 0;
  std::vector<std::optional<Plan>> found(std::max(1u, threads));
  while (next < tuples->size()) {
    std::optional<double> incumbent;
    if (result.best)
      incumbent = objective.value(result.best->evaluation);
    if (incumbent && !mayReach(goal, (*tuples)[next].bound, *incumbent))
      break;
    if (isRequested(stopRequested)) {
      double open = (*tuples)[next].bound;
      result.bound = incumbent && isBetterValue(goal, *incumbent, open)
                         ? *incumbent
                         : open;
      return result;
    }
    size_t size = std::min(found.size(), tuples->size() - next);
    parallelFor(size, threads, [&](size_t i) {
      found[i] = decomposition.solve((*tuples)[next + i].degrees,
                                     space.dimDomains(), goal, incumbent);
    });
    for (size_t i = 0; i < size; ++i)
      improve(result.best, std::move(found[i]), objective);
    next += size;
    result.solvedTuples += size;
  }
  result.proved = true;
  if (result.best)
    result.bound = objective.value(result.best->evaluation);
  addMissed(result, decomposition, goal);
  return result;
}

ExactResult findOptimumWithin(const BatchIntervals &ranges,
                              const StrategySpace &space,
                              const Decomposition &decomposition, Goal goal,
                              unsigned threads,
                              const std::function<bool()> &stopRequested) {
  return ranges.empty()
             ? findOptimum(space, decomposition, goal, threads, stopRequested)
             : fromRanges(space, decomposition, goal, threads, stopRequested,
                          ranges, /*left=*/nullptr);
}

std::vector<Plan> findBestPlans(const StrategySpace &space,
                                const Decomposition &decomposition, Goal goal,
                                size_t count, unsigned threads,
                                const std::function<bool()> &stopRequested) {
  Objective objective;
  objective.goal = goal;
  std::vector<Plan> plans;
  if (count == 0)
    return plans;
  if (boundsRanges(space, decomposition, goal))
    return searchBatches(space, decomposition, goal, count, threads,
                         stopRequested)
        .plans;
  auto tuples = boundTuples(space.degreeTuples(), space.dimDomains(),
                            decomposition, goal, threads, stopRequested);
  if (!tuples)
    return plans;
  auto comesBefore = [&](const Plan &a, const Plan &b) {
    if (objective.better(a.evaluation, b.evaluation) ||
        objective.better(b.evaluation, a.evaluation))
      return objective.better(a.evaluation, b.evaluation);
    return a.strategy.degrees < b.strategy.degrees;
  };
  for (const BoundedTuple &tuple : *tuples) {
    std::optional<double> incumbent;
    if (plans.size() == count)
      incumbent = objective.value(plans.back().evaluation);
    if (isRequested(stopRequested) ||
        (incumbent && !mayReach(goal, tuple.bound, *incumbent)))
      break;
    std::optional<Plan> plan =
        decomposition.solve(tuple.degrees, space.dimDomains(), goal, incumbent);
    if (!plan)
      continue;
    plans.insert(
        std::upper_bound(plans.begin(), plans.end(), *plan, comesBefore),
        *plan);
    if (plans.size() > count)
      plans.pop_back();
  }
  return plans;
}

} // namespace shardopt::search
