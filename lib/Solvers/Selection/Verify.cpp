//===- Verify.cpp - What a solution costs ---------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Selection/Verify.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::solve;

std::string solve::toString(Int128 number) {
  // The least number has no positive counterpart, but digits one by one do.
  bool negative = number < 0;
  std::string digits;
  do {
    int digit = int(number % 10);
    digits.push_back(char('0' + (digit < 0 ? -digit : digit)));
    number /= 10;
  } while (number != 0);
  if (negative)
    digits.push_back('-');
  std::reverse(digits.begin(), digits.end());
  return digits;
}

namespace {
/// Memory that is in use from a time on (or no longer, if negative).
struct Step {
  int64_t time;
  Int128 change;
};
/// What is in use from `time` until the time of the next one.
struct Level {
  int64_t time;
  Int128 usage;
};
} // namespace

/// The memory in use over time. The last level is 0.
static std::vector<Level> usageOverTime(const Problem &problem,
                                        const Solution &solution) {
  std::vector<Step> steps;
  for (size_t i = 0; i < problem.numNodes(); ++i) {
    const Interval &interval = problem.intervals[i];
    if (interval.begin == interval.end)
      continue;
    Int128 usage = problem.usages[i][solution[i]];
    steps.push_back({interval.begin, usage});
    steps.push_back({interval.end, -usage});
  }
  std::sort(steps.begin(), steps.end(),
            [](const Step &a, const Step &b) { return a.time < b.time; });
  std::vector<Level> levels;
  Int128 usage = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    usage += steps[i].change;
    if (i + 1 == steps.size() || steps[i + 1].time != steps[i].time)
      levels.push_back({steps[i].time, usage});
  }
  return levels;
}

static std::optional<Error> checkLengths(const Problem &problem,
                                         const Solution &solution) {
  if (solution.size() != problem.numNodes())
    return Error{"expected " + std::to_string(problem.numNodes()) +
                 " strategies, one for each node, found " +
                 std::to_string(solution.size())};
  for (size_t i = 0; i < solution.size(); ++i)
    if (solution[i] < 0 || size_t(solution[i]) >= problem.numStrategies(i))
      return Error{"node " + std::to_string(i) + ": no strategy " +
                   std::to_string(solution[i]) + " among its " +
                   std::to_string(problem.numStrategies(i))};
  return std::nullopt;
}

ErrorOr<Verdict> solve::verify(const Problem &problem,
                               const Solution &solution) {
  if (auto error = checkLengths(problem, solution))
    return *error;

  Verdict verdict;
  for (size_t i = 0; i < problem.numNodes(); ++i)
    verdict.cost += problem.costs[i][solution[i]];
  for (size_t edge = 0; edge < problem.numEdges(); ++edge) {
    uint64_t index = 0;
    for (int32_t node : problem.edgeNodes[edge])
      index = index * problem.numStrategies(node) + solution[node];
    verdict.cost += problem.edgeCosts[edge][index];
  }

  std::vector<Level> levels = usageOverTime(problem, solution);
  for (size_t i = 0; i + 1 < levels.size(); ++i) {
    const Level &level = levels[i];
    if (level.usage > verdict.peak) {
      verdict.peak = level.usage;
      verdict.peakTime = level.time;
    }
    if (!problem.usageLimit || *problem.usageLimit == 0 ||
        level.usage * 100 < Int128(*problem.usageLimit) * 99)
      continue;
    if (!verdict.tight.empty() && verdict.tight.back().end == level.time)
      verdict.tight.back().end = levels[i + 1].time;
    else
      verdict.tight.push_back({level.time, levels[i + 1].time});
  }
  verdict.feasible = !problem.usageLimit || verdict.peak <= *problem.usageLimit;
  return verdict;
}

Solution solve::smallestUsage(const Problem &problem) {
  Solution solution(problem.numNodes());
  for (size_t i = 0; i < problem.numNodes(); ++i) {
    auto isBetter = [&](size_t a, size_t b) {
      int64_t usageA = problem.usages[i][a], usageB = problem.usages[i][b];
      return usageA != usageB ? usageA < usageB
                              : problem.costs[i][a] < problem.costs[i][b];
    };
    for (size_t s = 1; s < problem.numStrategies(i); ++s)
      if (isBetter(s, solution[i]))
        solution[i] = int32_t(s);
  }
  return solution;
}

std::optional<Shortage> solve::findShortage(const Problem &problem) {
  if (!problem.usageLimit)
    return std::nullopt;
  std::optional<Shortage> worst;
  for (const Level &level : usageOverTime(problem, smallestUsage(problem)))
    if (level.usage > (worst ? worst->smallest : Int128(*problem.usageLimit)))
      worst = {level.time, level.usage};
  return worst;
}
