//===- EliteHistoryTest.cpp - Who enters, who leaves ----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Research/EliteHistory.h"
#include "ToySimulator.h"

#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::agent;

static std::vector<double> raws(const EliteHistory &history) {
  std::vector<double> values;
  for (const EliteHistory::Record &record : history.records())
    values.push_back(record.raw);
  return values;
}

TEST(EliteHistory, FillsUpSorted) {
  EliteHistory history(3);
  EXPECT_TRUE(history.tell({0}, 2));
  EXPECT_TRUE(history.tell({1}, 3));
  EXPECT_TRUE(history.tell({2}, 1));
  EXPECT_EQ(raws(history), (std::vector<double>{3, 2, 1}));
}

/// "if the new strategy improves upon the worst elite", not upon the best.
TEST(EliteHistory, ReplacesTheWorstByWhatIsBetterThanTheWorst) {
  EliteHistory history(2);
  history.tell({0}, 5);
  history.tell({1}, 1);
  EXPECT_TRUE(history.tell({2}, 3));
  EXPECT_EQ(raws(history), (std::vector<double>{5, 3}));
  EXPECT_FALSE(history.tell({3}, 3));
  EXPECT_FALSE(history.tell({4}, 2));
  EXPECT_EQ(history.records()[1].point, search::Point{2});
}

TEST(EliteHistory, HoldsAStrategyOnce) {
  EliteHistory history(3);
  EXPECT_TRUE(history.tell({0}, 5));
  EXPECT_FALSE(history.tell({0}, 5));
  EXPECT_EQ(history.records().size(), 1u);
}

TEST(EliteHistory, IsSeenAsIndicesBetweenZeroAndOne) {
  search::SpaceRequest request;
  request.lists[Degree::Tp] = {1, 2, 4};
  request.lists[Degree::Ep] = {1};
  request.lists[Degree::Pp] = {1, 2};
  request.lists[Degree::Batch] = {1, 8};
  search::StrategySpace space = search::makeSpace(1, request);
  EliteHistory history(2);
  history.tell({1, 0, 1, 0, 2}, 7);
  EXPECT_EQ(history.observe(space),
            (std::vector<double>{0.5, 0, 1, 0, 1, -1, -1, -1, -1, -1}));
}
