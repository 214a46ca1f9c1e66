//===- ObjectiveTest.cpp - Order of evaluations ---------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Objective.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace shardopt;
using namespace shardopt::search;

static Evaluation valid(double throughput, double latencyMs) {
  return {true, Reason::None, throughput, latencyMs, 1};
}

static Evaluation invalid(Reason reason, double latencyMs, double memoryGb) {
  return {false, reason, 1e9, latencyMs, memoryGb};
}

TEST(Objective, ThroughputIgnoresLatency) {
  Objective objective;
  EXPECT_TRUE(objective.better(valid(2, 9), valid(1, 1)));
  EXPECT_FALSE(objective.better(valid(1, 1), valid(2, 9)));
  EXPECT_FALSE(objective.better(valid(1, 1), valid(1, 9)));
}

TEST(Objective, LatencyBreaksTiesByThroughput) {
  Objective objective{Goal::Latency, 0, 0};
  EXPECT_TRUE(objective.better(valid(1, 1), valid(2, 9)));
  EXPECT_TRUE(objective.better(valid(2, 1), valid(1, 1)));
  EXPECT_FALSE(objective.better(valid(1, 1), valid(1, 1)));
}

TEST(Objective, ValidBeforeInvalid) {
  Objective objective;
  EXPECT_TRUE(objective.better(valid(1, 1), invalid(Reason::Slo, 99, 1)));
  EXPECT_FALSE(objective.better(invalid(Reason::Slo, 99, 1), valid(1, 1)));
}

TEST(Objective, InvalidByViolation) {
  Objective objective{Goal::Throughput, 50, 72};
  Evaluation slow = invalid(Reason::Slo, 100, 10);
  Evaluation large = invalid(Reason::Memory, 10, 144);
  Evaluation both = invalid(Reason::Memory, 100, 144);
  EXPECT_DOUBLE_EQ(objective.violation(slow), std::log(2));
  EXPECT_DOUBLE_EQ(objective.violation(large), std::log(2));
  EXPECT_DOUBLE_EQ(objective.violation(both), 2 * std::log(2));
  EXPECT_TRUE(objective.better(slow, both));
  EXPECT_TRUE(objective.better(both, invalid(Reason::Structural, 0, 0)));
  EXPECT_TRUE(objective.better(both, invalid(Reason::Failed, 0, 0)));
}

TEST(Objective, UnknownLimitsLeaveAConstant) {
  Objective objective;
  EXPECT_EQ(objective.violation(invalid(Reason::Memory, 10, 144)), 1);
  EXPECT_EQ(objective.violation(valid(1, 1)), 0);
}

TEST(Objective, ScoresGrowWithWhatIsBetter) {
  Objective latency{Goal::Latency, 0, 0};
  EXPECT_GT(latency.score(valid(1, 1)), latency.score(valid(1, 2)));
  EXPECT_GT(Objective().score(valid(2, 1)), Objective().score(valid(1, 1)));
}
