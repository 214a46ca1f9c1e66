//===- SolverTest.cpp - The solver against enumeration --------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Selection/Solver.h"
#include "RandomProblem.h"
#include "shardopt/Support/ResearchFile.h"

#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::solve;

static SolverOptions withRounds(int64_t rounds) {
  SolverOptions options;
  options.timeLimit = 0;
  options.rounds = rounds;
  return options;
}

/// Solutions fit and cost what is said; bounds hold.
static void expectHonest(const Problem &problem, const SolverResult &result,
                         Int128 optimum) {
  ASSERT_TRUE(result.solution.has_value());
  ErrorOr<Verdict> verdict = verify(problem, *result.solution);
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(verdict->feasible);
  EXPECT_EQ(toString(verdict->cost), toString(result.cost));
  ASSERT_TRUE(result.bound.has_value());
  EXPECT_TRUE(*result.bound <= optimum)
      << toString(*result.bound) << " > " << toString(optimum);
  EXPECT_TRUE(result.cost >= optimum);
}

TEST(Solver, FindsWhatEnumerationFinds) {
  RandomProblemOptions random;
  random.mostStrategies = 3;
  random.forbiddenPercent = 5;
  random.equalityPercent = 5;
  size_t optimal = 0, count = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    Problem problem = makeRandomProblem(seed, random);
    std::optional<Int128> optimum = findOptimum(problem);
    ASSERT_TRUE(optimum.has_value());
    SolverResult result = solve::solve(problem, withRounds(2));
    SCOPED_TRACE("seed " + std::to_string(seed));
    expectHonest(problem, result, *optimum);
    if (*optimum >= infiniteCost)
      continue;
    ++count;
    optimal += result.cost == *optimum;
    if (result.proved) {
      EXPECT_EQ(toString(result.cost), toString(*optimum));
    }
  }
  EXPECT_GE(optimal, count * 9 / 10);
}

TEST(Solver, SolvesEdgesOfManyNodes) {
  RandomProblemOptions random;
  random.nodes = 6;
  random.mostStrategies = 3;
  random.edges = 6;
  random.widestEdge = 4;
  random.forbiddenPercent = 2;
  random.equalityPercent = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Problem problem = makeRandomProblem(seed, random);
    SolverResult result = solve::solve(problem, withRounds(4));
    Int128 optimum = *findOptimum(problem);
    expectHonest(problem, result, optimum);
    if (optimum < infiniteCost) {
      EXPECT_TRUE(result.proved);
    }
  }
}

TEST(Solver, IsHonestWithPenalties) {
  RandomProblemOptions random;
  random.forbiddenPercent = 1;
  random.equalityPercent = 0;
  auto research = openResearch<ResearchMethods>("the test");
  ASSERT_TRUE(research) << research.error().message;
  size_t optimal = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Problem problem = makeRandomProblem(seed, random);
    SolverOptions options = withRounds(1);
    options.otherMethod = {
        "penalties", [&](const Network &network, uint64_t number) {
          return (*research)->penalties(network, number, seed % 4 != 0);
        }};
    SolverResult result = solve::solve(problem, options);
    Int128 optimum = *findOptimum(problem);
    expectHonest(problem, result, optimum);
    optimal += result.cost == optimum;
  }
  EXPECT_GE(optimal, 10u);
}

TEST(Solver, IsHonestWithoutItsParts) {
  RandomProblemOptions random;
  random.mostStrategies = 3;
  random.forbiddenPercent = 5;
  random.equalityPercent = 5;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Problem problem = makeRandomProblem(seed, random);
    for (int part = 0; part < 6; ++part) {
      SolverOptions options = withRounds(1);
      options.withoutReductions = part == 0;
      options.withoutMessages = part == 1;
      options.withoutNeighbourhoods = part == 2;
      options.withoutFixing = part == 3;
      options.withoutTree = part == 4;
      options.withoutRestarts = part == 5;
      expectHonest(problem, solve::solve(problem, options),
                   *findOptimum(problem));
    }
  }
}

TEST(Solver, PaysWhatIsInfiniteOnlyIfItMust) {
  Problem problem;
  problem.intervals = {{0, 1}, {0, 1}};
  problem.costs.add({1, 5});
  problem.costs.add({1, 5});
  problem.usages.add({0, 0});
  problem.usages.add({0, 0});
  problem.edgeNodes.add({0, 1});
  problem.edgeCosts.add({infiniteCost, infiniteCost, infiniteCost, 3});
  EXPECT_EQ(toString(solve::solve(problem, withRounds(1)).cost), "13");
  problem.edgeCosts.values[3] = infiniteCost;
  SolverResult result = solve::solve(problem, withRounds(1));
  EXPECT_EQ(toString(result.cost), "1000000000000000002");
  EXPECT_TRUE(*result.bound >= infiniteCost);
}

TEST(Solver, IsTheSameAtAnyNumberOfThreads) {
  RandomProblemOptions random;
  random.nodes = 60;
  random.edges = 150;
  random.forbiddenPercent = 2;
  random.equalityPercent = 0;
  random.tightness = 0.2;
  Problem problem = makeRandomProblem(1, random);
  SolverOptions options = withRounds(2);
  options.workers = 3;
  options.threads = 1;
  SolverResult one = solve::solve(problem, options);
  options.threads = 3;
  SolverResult three = solve::solve(problem, options);
  EXPECT_EQ(*one.solution, *three.solution);
  EXPECT_EQ(toString(*one.bound), toString(*three.bound));
}

TEST(Solver, SolvesAnEmptyProblem) {
  SolverResult result = solve::solve(Problem(), withRounds(1));
  ASSERT_TRUE(result.solution.has_value());
  EXPECT_TRUE(result.solution->empty());
  EXPECT_TRUE(result.proved);
}

TEST(Solver, SaysWhereNothingFits) {
  Problem problem;
  problem.intervals = {{3, 9}};
  problem.costs.add({1});
  problem.usages.add({8});
  problem.usageLimit = 7;
  SolverResult result = solve::solve(problem, withRounds(1));
  EXPECT_FALSE(result.solution.has_value());
  EXPECT_TRUE(result.proved);
  ASSERT_TRUE(result.shortage.has_value());
  EXPECT_EQ(result.shortage->time, 3);
}

TEST(Solver, SolvesWithoutALimit) {
  RandomProblemOptions random;
  random.forbiddenPercent = 0;
  random.equalityPercent = 0;
  Problem problem = makeRandomProblem(4, random);
  problem.usageLimit.reset();
  SolverResult result = solve::solve(problem, withRounds(2));
  EXPECT_EQ(toString(result.cost), toString(*findOptimum(problem)));
}

TEST(Solver, SumsBeyond64Bits) {
  Problem problem;
  int64_t most = std::numeric_limits<int64_t>::max();
  for (int i = 0; i < 5; ++i) {
    problem.intervals.push_back({0, 1});
    problem.costs.add({most, most - 1000000});
    problem.usages.add({1, 2});
  }
  problem.usageLimit = 10;
  SolverResult result = solve::solve(problem, withRounds(1));
  expectHonest(problem, result, Int128(5) * (most - 1000000));
  EXPECT_EQ(toString(result.cost), toString(Int128(5) * (most - 1000000)));
}

TEST(Solver, StopsWhenAsked) {
  StopToken stop;
  stop.request(15);
  SolverOptions options;
  options.stop = &stop;
  SolverResult result = solve::solve(makeRandomProblem(1), options);
  EXPECT_TRUE(result.solution.has_value());
  EXPECT_STREQ(result.stopped, "signal");
  for (const auto &[name, count] : result.reductions)
    EXPECT_EQ(count, 0u) << name;
}
