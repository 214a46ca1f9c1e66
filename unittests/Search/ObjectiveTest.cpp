//===- ObjectiveTest.cpp - Order of evaluations ---------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Objective.h"

#include <gtest/gtest.h>

#include <cfloat>
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

TEST(Objective, ExcessOfActivationsCountsLikeThatOfMemory) {
  Objective objective{Goal::Throughput, 50, 72, 0.5};
  Evaluation full = invalid(Reason::Activations, 10, 36);
  full.activationsGb = 1;
  EXPECT_DOUBLE_EQ(objective.violation(full), std::log(2));
  Evaluation fuller = full;
  fuller.activationsGb = 2;
  EXPECT_TRUE(objective.better(full, fuller));
}

TEST(Objective, UnknownLimitsLeaveAConstant) {
  Objective objective;
  EXPECT_EQ(objective.violation(invalid(Reason::Memory, 10, 144)), 1);
  EXPECT_EQ(objective.violation(valid(1, 1)), 0);
}

/// What a black box answers may be any double.
TEST(Objective, IsFiniteOfAnyMetric) {
  constexpr double extremes[] = {0, 5e-324, 2.3e-308, 1, 1e308, DBL_MAX};
  for (double limit : {0., 5e-324, 50., DBL_MAX})
    for (double metric : extremes)
      for (Goal goal : {Goal::Throughput, Goal::Latency}) {
        Objective objective{goal, limit, limit};
        EXPECT_TRUE(std::isfinite(objective.score(valid(metric, metric))));
        double violation =
            objective.violation(invalid(Reason::Slo, metric, metric));
        EXPECT_TRUE(std::isfinite(violation));
        EXPECT_LT(violation, objective.violation(Evaluation()));
      }
}

TEST(Objective, ScoresGrowWithWhatIsBetter) {
  Objective latency{Goal::Latency, 0, 0};
  EXPECT_GT(latency.score(valid(1, 1)), latency.score(valid(1, 2)));
  EXPECT_GT(Objective().score(valid(2, 1)), Objective().score(valid(1, 1)));
}
