//===- ExactSearchTest.cpp - Exact search against enumeration -------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/ExactSearch.h"
#include "ToySimulator.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace shardopt;
using namespace shardopt::search;

static SpaceRequest smallRequest() {
  SpaceRequest request;
  request.lists[Degree::Tp] = {1, 2, 4};
  request.lists[Degree::Ep] = {1, 2};
  request.lists[Degree::Pp] = {1, 2, 4};
  request.lists[Degree::Batch] = {1, 4, 16, 64};
  return request;
}

class ExactSearch : public testing::TestWithParam<Goal> {};

INSTANTIATE_TEST_SUITE_P(Goals, ExactSearch,
                         testing::Values(Goal::Throughput, Goal::Latency),
                         [](const auto &info) {
                           return info.param == Goal::Latency ? "Latency"
                                                              : "Throughput";
                         });

TEST_P(ExactSearch, EqualsEnumeration) {
  StrategySpace space = makeSpace(4, smallRequest());
  for (uint64_t seed = 0; seed < 20; ++seed) {
    ToySimulator simulator(4, seed);
    simulator.looseness = 1 + seed % 4;
    auto expected =
        bruteForce(space, simulator, simulator.objective(GetParam()));
    ExactResult found = findOptimum(space, simulator, GetParam());
    ASSERT_EQ(found.best.has_value(), expected.has_value()) << "seed " << seed;
    EXPECT_TRUE(found.proved);
    if (!expected)
      continue;
    // The same strategy too: ties go to the smallest degrees, then dims.
    EXPECT_EQ(found.best->strategy, expected->strategy) << "seed " << seed;
    EXPECT_EQ(found.best->evaluation.throughput,
              expected->evaluation.throughput);
    EXPECT_EQ(*found.bound,
              simulator.objective(GetParam()).value(expected->evaluation));
  }
}

TEST_P(ExactSearch, EqualsEnumerationWhereLimitsBind) {
  StrategySpace space = makeSpace(3, smallRequest());
  for (uint64_t seed = 0; seed < 20; ++seed) {
    ToySimulator simulator(3, seed);
    simulator.capacityGb = 10 + seed;
    simulator.sloMs = 100 + 40 * seed;
    auto expected =
        bruteForce(space, simulator, simulator.objective(GetParam()));
    ExactResult found = findOptimum(space, simulator, GetParam());
    ASSERT_EQ(found.best.has_value(), expected.has_value()) << "seed " << seed;
    if (expected) {
      EXPECT_EQ(found.best->strategy, expected->strategy) << "seed " << seed;
    }
  }
}

TEST_P(ExactSearch, IsTheSameOnAnyNumberOfThreads) {
  StrategySpace space = makeSpace(6, smallRequest());
  for (uint64_t seed = 0; seed < 5; ++seed) {
    ToySimulator simulator(6, seed);
    ExactResult one = findOptimum(space, simulator, GetParam(), 1);
    ExactResult four = findOptimum(space, simulator, GetParam(), 4);
    ASSERT_TRUE(one.best && four.best);
    EXPECT_EQ(one.best->strategy, four.best->strategy);
  }
}

/// The optima of all degree tuples by enumeration, as `findBestPlans` orders
/// them.
static std::vector<Plan> optimaOfTuples(const StrategySpace &space,
                                        const Simulator &simulator,
                                        const Objective &objective) {
  std::vector<Plan> optima; // of tuples in ascending order
  forEachStrategy(space, [&](const Strategy &strategy) {
    Evaluation evaluation = simulator.evaluate(strategy);
    if (!evaluation.valid)
      return;
    if (optima.empty() || !(optima.back().strategy.degrees == strategy.degrees))
      optima.push_back({strategy, evaluation});
    else if (objective.better(evaluation, optima.back().evaluation))
      optima.back() = {strategy, evaluation};
  });
  std::stable_sort(optima.begin(), optima.end(),
                   [&](const Plan &a, const Plan &b) {
                     return objective.better(a.evaluation, b.evaluation);
                   });
  return optima;
}

TEST_P(ExactSearch, FindsTheBestPlansOfEnumeration) {
  StrategySpace space = makeSpace(4, smallRequest());
  for (uint64_t seed = 0; seed < 10; ++seed) {
    ToySimulator simulator(4, seed);
    simulator.looseness = 1 + seed % 4;
    std::vector<Plan> expected =
        optimaOfTuples(space, simulator, simulator.objective(GetParam()));
    for (size_t count : {size_t(1), size_t(7), expected.size() + 5}) {
      std::vector<Plan> found =
          findBestPlans(space, simulator, GetParam(), count);
      ASSERT_EQ(found.size(), std::min(count, expected.size()));
      for (size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].strategy, expected[i].strategy) << i;
        EXPECT_EQ(found[i].evaluation.throughput,
                  expected[i].evaluation.throughput);
      }
    }
  }
}

TEST(FindBestPlans, AreNoneWhereNothingIsFeasibleOrAskedFor) {
  StrategySpace space = makeSpace(4, smallRequest());
  ToySimulator simulator(4, 0);
  EXPECT_TRUE(findBestPlans(space, simulator, Goal::Throughput, 0).empty());
  simulator.sloMs = 1;
  EXPECT_TRUE(findBestPlans(space, simulator, Goal::Throughput, 5).empty());
}

TEST(FindOptimum, SkipsTuplesThatTheirBoundExcludes) {
  StrategySpace space = makeSpace(6, smallRequest());
  ToySimulator simulator(6, 1);
  ExactResult found = findOptimum(space, simulator, Goal::Throughput);
  EXPECT_EQ(found.degreeTuples, 72u);
  EXPECT_GE(found.solvedTuples, 1u);
  EXPECT_LT(found.solvedTuples, 36u);
}

TEST(FindOptimum, HonoursPinnedDims) {
  SpaceRequest request = smallRequest();
  request.pinnedDims = {std::nullopt, Dim::One, std::nullopt, Dim::None};
  StrategySpace space = makeSpace(4, request);
  ToySimulator simulator(4, 3);
  ExactResult found = findOptimum(space, simulator, Goal::Throughput);
  ASSERT_TRUE(found.best);
  EXPECT_TRUE(space.contains(found.best->strategy));
  EXPECT_EQ(found.best->strategy,
            bruteForce(space, simulator, simulator.objective())->strategy);
}

TEST(FindOptimum, ProvesThatNothingIsFeasible) {
  ToySimulator simulator(4, 0);
  simulator.sloMs = 1;
  ExactResult found =
      findOptimum(makeSpace(4, smallRequest()), simulator, Goal::Throughput);
  EXPECT_FALSE(found.best);
  EXPECT_FALSE(found.bound);
  EXPECT_TRUE(found.proved);
}

TEST(FindOptimum, KeepsABoundWhenStopped) {
  StrategySpace space = makeSpace(6, smallRequest());
  ToySimulator simulator(6, 1);
  simulator.looseness = 4;
  double optimum = findOptimum(space, simulator, Goal::Throughput)
                       .best->evaluation.throughput;
  // 72 tuples are bounded in one block: the poll before it, then one a solve.
  for (int polls = 0; polls < 4; ++polls) {
    int left = polls;
    ExactResult found = findOptimum(space, simulator, Goal::Throughput, 1,
                                    [&] { return left-- == 0; });
    EXPECT_FALSE(found.proved);
    EXPECT_EQ(found.bound.has_value(), polls > 0);
    EXPECT_EQ(found.best.has_value(), polls > 1);
    if (found.bound) {
      EXPECT_GE(*found.bound, optimum);
    }
    if (found.best) {
      EXPECT_LE(found.best->evaluation.throughput, optimum);
    }
  }
}
