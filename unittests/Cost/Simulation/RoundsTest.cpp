//===- RoundsTest.cpp - Micro-batches in a pipeline -----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rounds.h"

#include <gtest/gtest.h>

using namespace shardopt::simulation;

namespace {

TEST(Rounds, OneMicroBatchPassesAllStages) {
  EXPECT_DOUBLE_EQ(roundSeconds({1, {1, 2, 3}, 0.5, 0.25}, 1), 7.25);
}

TEST(Rounds, TheSlowestStageIsAlwaysBusy) {
  EXPECT_DOUBLE_EQ(roundSeconds({1, {1, 4, 1}, 0, 0}, 3), 12);
}

TEST(Rounds, MicroBatchesOfEqualClassesAreAlike) {
  std::vector<double> busy = {3, 1, 4, 1, 5};
  std::vector<double> twice;
  for (double seconds : busy)
    twice.insert(twice.end(), {seconds, seconds});
  for (int64_t microBatches : {1, 2, 3, 5})
    EXPECT_NEAR(roundSeconds({1, busy, 0.5, 0.25}, microBatches),
                roundSeconds({2, twice, 0.5, 0.25}, microBatches), 1e-9);
}

TEST(Rounds, AStageTakesMicroBatchesOfAllClasses) {
  // Two of class 0 and one of class 1.
  EXPECT_DOUBLE_EQ(roundSeconds({2, {1, 3}, 0, 0}, 3), 5);
}

} // namespace
