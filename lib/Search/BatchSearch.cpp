//===- BatchSearch.cpp - Exact search over ranges of batches --------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BatchSearch.h"

#include "shardopt/Support/ParallelFor.h"

#include <algorithm>
#include <queue>

namespace shardopt::search {

/// What rounding may take from a bound, relative.
static constexpr double rounding = 1e-12;

namespace {

/// How much is known of a range.
enum class Knowledge : uint8_t {
  Nothing,
  Wider, ///< a bound of more than the range has
  Quick, ///< bounded with little work
  Full,
};

struct Range : BatchInterval {
  Range() = default;
  Range(const BatchInterval &range, Knowledge knowledge)
      : BatchInterval(range), knowledge(knowledge) {}

  Knowledge knowledge = Knowledge::Nothing;

  bool isSingle() const { return first == last; }
};

/// Ranges whose batches differ by a larger factor, a quotient, are halved
/// before they are bounded with care.
constexpr int64_t narrowMost = 11, narrowLeast = 10;

/// What has come of a range.
struct Step {
  std::vector<Range> rest; ///< what is left to look at
  std::optional<Plan> solved;
  bool wasSolved = false;
};

class BatchSearch {
public:
  BatchSearch(const StrategySpace &space, const Decomposition &decomposition,
              Goal goal, size_t count)
      : space(space), decomposition(decomposition), goal(goal), count(count) {
    objective.goal = goal;
  }

  /// Where `known` is empty, of all batches.
  BatchResult run(const BatchIntervals &known, unsigned threads,
                  const std::function<bool()> &stopRequested);

private:
  /// Whether `a` is looked at after `b`.
  struct ComesLater {
    Goal goal;
    bool operator()(const Range &a, const Range &b) const {
      if (a.bound != b.bound)
        return isBetterValue(goal, b.bound, a.bound);
      if (a.knowledge != b.knowledge)
        return a.knowledge < b.knowledge;
      return std::pair(a.grid, a.first) > std::pair(b.grid, b.first);
    }
  };

  void openAll(unsigned threads, const std::function<bool()> &isStopped);
  bool isNarrow(const Range &range) const;
  Step look(const Range &range) const;
  std::optional<Range> bounded(Range range, Knowledge knowledge) const;
  bool mayReach(double bound) const;
  std::optional<double> incumbent() const;
  void insert(Plan plan);

  const StrategySpace &space;
  const Decomposition &decomposition;
  const Goal goal;
  const size_t count;
  Objective objective;
  std::priority_queue<Range, std::vector<Range>, ComesLater> open{
      ComesLater{goal}};
  BatchResult result;
};

} // namespace

/// The value that a plan has to reach.
std::optional<double> BatchSearch::incumbent() const {
  if (result.plans.size() < count)
    return std::nullopt;
  return objective.value(result.plans.back().evaluation);
}

bool BatchSearch::mayReach(double bound) const {
  std::optional<double> wanted = incumbent();
  if (!wanted)
    return true;
  double slack = rounding * *wanted;
  return !isBetterValue(
      goal, *wanted, goal == Goal::Throughput ? bound + slack : bound - slack);
}

/// `range` with its bound; none if nothing in it is feasible.
std::optional<Range> BatchSearch::bounded(Range range,
                                          Knowledge knowledge) const {
  Degrees least = space.degreesOf(range.grid, range.first);
  Degrees most = space.degreesOf(range.grid, range.last);
  std::optional<DegreeBound> bound =
      decomposition.boundBatches(least, most.batch, space.dimDomains(), goal,
                                 knowledge == Knowledge::Quick);
  if (bound->infeasible != Reason::None)
    return std::nullopt;
  // What bounds a range bounds its parts, and less in it.
  if (range.knowledge == Knowledge::Nothing ||
      isBetterValue(goal, range.bound, bound->bound))
    range.bound = bound->bound;
  range.knowledge = knowledge;
  return range;
}

bool BatchSearch::isNarrow(const Range &range) const {
  return narrowLeast * space.degreesOf(range.grid, range.last).batch <=
         narrowMost * space.degreesOf(range.grid, range.first).batch;
}

/// Bounds a range, or solves or halves one that is bounded.
Step BatchSearch::look(const Range &range) const {
  Step step;
  if (range.knowledge == Knowledge::Wider) {
    if (std::optional<Range> quick = bounded(range, Knowledge::Quick))
      step.rest.push_back(*quick);
    return step;
  }
  if (range.knowledge == Knowledge::Quick && isNarrow(range)) {
    if (std::optional<Range> full = bounded(range, Knowledge::Full))
      step.rest.push_back(*full);
    return step;
  }
  if (range.isSingle()) {
    step.wasSolved = true;
    step.solved = decomposition.solve(space.degreesOf(range.grid, range.first),
                                      space.dimDomains(), goal, incumbent());
    return step;
  }
  Range low = range, high = range;
  while (true) {
    low.last = low.first + (high.last - low.first) / 2;
    high.first = low.last + 1;
    std::optional<Range> quick = bounded(high, Knowledge::Quick);
    if (quick)
      step.rest.push_back(*quick);
    // Where nothing is feasible in the upper half the lower one is about as
    // good as both, and halved without a look at what it is.
    if (quick || isNarrow(low))
      break;
    high.last = low.last;
  }
  if (std::optional<Range> quick = bounded(low, Knowledge::Quick))
    step.rest.push_back(*quick);
  return step;
}

/// Better plans first; of equals those of smaller degrees.
void BatchSearch::insert(Plan plan) {
  auto comesBefore = [&](const Plan &a, const Plan &b) {
    if (objective.better(a.evaluation, b.evaluation) ||
        objective.better(b.evaluation, a.evaluation))
      return objective.better(a.evaluation, b.evaluation);
    return a.strategy.degrees < b.strategy.degrees;
  };
  std::vector<Plan> &plans = result.plans;
  plans.insert(std::upper_bound(plans.begin(), plans.end(), plan, comesBefore),
               std::move(plan));
  if (plans.size() > count)
    plans.pop_back();
}

/// Opens all batches of every combination of the other degrees.
void BatchSearch::openAll(unsigned threads,
                          const std::function<bool()> &isStopped) {
  // Large enough to amortise the threads, small enough to stop in time.
  constexpr size_t blockSize = 256;
  std::vector<std::optional<Range>> found(blockSize);
  for (size_t begin = 0; begin < space.numGrids(); begin += blockSize) {
    result.isStopped = isStopped();
    if (result.isStopped)
      return;
    size_t size = std::min(blockSize, space.numGrids() - begin);
    parallelFor(size, threads, [&](size_t i) {
      BatchInterval all{uint32_t(begin + i), 0,
                        uint32_t(space.numBatches() - 1), 0};
      found[i] = bounded({all, Knowledge::Nothing}, Knowledge::Quick);
    });
    for (size_t i = 0; i < size; ++i)
      if (found[i])
        open.push(*found[i]);
  }
}

BatchResult BatchSearch::run(const BatchIntervals &known, unsigned threads,
                             const std::function<bool()> &stopRequested) {
  auto isStopped = [&] { return stopRequested && stopRequested(); };
  for (const BatchInterval &range : known)
    open.push({range, Knowledge::Wider});
  if (known.empty())
    openAll(threads, isStopped);
  if (result.isStopped)
    return std::move(result);

  // Invariant: all that is feasible is in a range of `open` or was solved, and
  // the best of what was is in `result`. Ranges of a block share the incumbent
  // at its start; a worse one only costs time. A look takes about as long as
  // starting a thread, so that each gets several.
  constexpr size_t looksOfThread = 16;
  size_t blockMost = threads <= 1 ? 1 : threads * looksOfThread;
  std::vector<Range> block;
  std::vector<Step> steps;
  while (!open.empty() && mayReach(open.top().bound)) {
    if (isStopped()) {
      result.isStopped = true;
      result.open = open.top().bound;
      return std::move(result);
    }
    block.clear();
    while (!open.empty() && block.size() < blockMost) {
      block.push_back(open.top());
      open.pop();
    }
    steps.assign(block.size(), {});
    parallelFor(block.size(), threads,
                [&](size_t i) { steps[i] = look(block[i]); });
    for (size_t i = 0; i < block.size(); ++i) {
      Step &step = steps[i];
      for (const Range &rest : step.rest)
        open.push(rest);
      if (step.wasSolved)
        result.ranges.push_back(block[i]);
      result.solvedTuples += step.wasSolved;
      if (step.solved)
        insert(std::move(*step.solved));
    }
  }
  for (; !open.empty(); open.pop())
    result.ranges.push_back(open.top());
  return std::move(result);
}

BatchResult searchBatches(const StrategySpace &space,
                          const Decomposition &decomposition, Goal goal,
                          size_t count, unsigned threads,
                          const std::function<bool()> &stopRequested,
                          const BatchIntervals &known) {
  return BatchSearch(space, decomposition, goal, count)
      .run(known, threads, stopRequested);
}

} // namespace shardopt::search
