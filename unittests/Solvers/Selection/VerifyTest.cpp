//===- VerifyTest.cpp - What solutions cost -------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomProblem.h"

#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::solve;

/// Three nodes in a row, in use one after the other and together at time 2.
static Problem makeChain() {
  Problem problem;
  problem.intervals = {{0, 3}, {2, 5}, {2, 2}};
  problem.costs.add({1, 2});
  problem.costs.add({10, 20});
  problem.costs.add({100, 200});
  problem.usages.add({4, 6});
  problem.usages.add({3, 9});
  problem.usages.add({50, 50});
  problem.edgeNodes.add({1, 0});
  problem.edgeCosts.add({1000, 2000, 3000, 4000});
  problem.usageLimit = 10;
  return problem;
}

TEST(Verify, SumsCostsAndUsages) {
  ErrorOr<Verdict> verdict = verify(makeChain(), {1, 0, 1});
  ASSERT_TRUE(verdict);
  EXPECT_EQ(toString(verdict->cost), "2212");
  EXPECT_EQ(toString(verdict->peak), "9");
  EXPECT_EQ(verdict->peakTime, 2);
  EXPECT_TRUE(verdict->feasible);
  EXPECT_FALSE(verify(makeChain(), {1, 1, 0})->feasible);
}

TEST(Verify, KnowsWhenMemoryIsTight) {
  Problem problem = makeChain();
  problem.usageLimit = 9;
  ErrorOr<Verdict> verdict = verify(problem, {1, 0, 0});
  ASSERT_EQ(verdict->tight.size(), 1u);
  EXPECT_EQ(verdict->tight[0].begin, 2);
  EXPECT_EQ(verdict->tight[0].end, 3);
}

TEST(Verify, RefusesSolutionsOfOtherProblems) {
  EXPECT_EQ(verify(makeChain(), {0, 0}).error().message,
            "expected 3 strategies, one for each node, found 2");
  EXPECT_EQ(verify(makeChain(), {0, 2, 0}).error().message,
            "node 1: no strategy 2 among its 2");
  EXPECT_FALSE(verify(makeChain(), {0, -1, 0}));
}

TEST(Verify, SumsBeyond64Bits) {
  Problem problem;
  int64_t most = std::numeric_limits<int64_t>::max();
  for (int i = 0; i < 3; ++i) {
    problem.intervals.push_back({0, most});
    problem.costs.add({most});
    problem.usages.add({most});
  }
  problem.usageLimit = most;
  ErrorOr<Verdict> verdict = verify(problem, {0, 0, 0});
  EXPECT_EQ(toString(verdict->cost), "27670116110564327421");
  EXPECT_EQ(toString(verdict->peak), "27670116110564327421");
  EXPECT_FALSE(verdict->feasible);
  EXPECT_EQ(toString(-verdict->cost), "-27670116110564327421");
}

TEST(Verify, FindsWhereEvenTheLeastIsTooMuch) {
  Problem problem = makeChain();
  EXPECT_FALSE(findShortage(problem).has_value());
  problem.usageLimit = 6;
  std::optional<Shortage> shortage = findShortage(problem);
  ASSERT_TRUE(shortage.has_value());
  EXPECT_EQ(shortage->time, 2);
  EXPECT_EQ(toString(shortage->smallest), "7");
}
