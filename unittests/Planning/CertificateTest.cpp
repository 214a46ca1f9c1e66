//===- CertificateTest.cpp - What a search found, recomputed --------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/Certificate.h"
#include "shardopt/Cost/Tables/Evaluate.h"

#include "TestModels.h"

#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::cost::test;

namespace {

class Certificate : public testing::Test {
protected:
  Certificate() {
    plan.strategy = strategy({8, 1, 2, 64}, "001000101");
    plan.evaluation = cost::evaluate(costs, plan.strategy);
  }

  /// The part of an error that differs.
  std::string claims() const {
    auto error = verifyPlan(costs, plan);
    return error ? error->message.substr(0, error->message.find(", but")) : "";
  }

  cost::CostModel costs =
      makeCosts(llama70B(), {cost::Phase::Decode, 8192}, h100());
  search::Plan plan;
};

TEST_F(Certificate, WhatTheTablesSayStands) {
  ASSERT_TRUE(plan.evaluation.hasMetrics());
  EXPECT_EQ(claims(), "");
}

TEST_F(Certificate, AStrategyThatIsImpossibleIsSoForBoth) {
  plan.strategy.degrees.pp = 81;
  plan.evaluation = cost::evaluate(costs, plan.strategy);
  EXPECT_EQ(claims(), "");
  plan.evaluation.reason = Reason::None;
  EXPECT_EQ(claims(), "the search says that the strategy found is possible");
}

TEST_F(Certificate, AWrongMetricIsFound) {
  plan.evaluation.latencyMs *= 1 + 1e-6;
  EXPECT_EQ(claims().find("the search says that the latency in ms is "), 0u);
  plan.evaluation.throughput *= 0.5;
  EXPECT_EQ(claims().find("the search says that the throughput is "), 0u);
}

TEST_F(Certificate, RoundingIsNoContradiction) {
  plan.evaluation.throughput *= 1 + 1e-13;
  plan.evaluation.memoryGb *= 1 - 1e-13;
  EXPECT_EQ(claims(), "");
}

TEST_F(Certificate, AWrongVerdictIsFound) {
  ASSERT_TRUE(plan.evaluation.valid);
  plan.evaluation.valid = false;
  EXPECT_EQ(claims(), "the search says that the strategy found is invalid");
}

TEST_F(Certificate, NothingIsBetterThanTheBound) {
  search::SearchResult result;
  result.best = plan;
  auto verdict = [&](double bound) {
    result.bound = bound;
    return verifyResult(costs, result, search::Goal::Throughput).has_value();
  };
  double value = plan.evaluation.throughput;
  EXPECT_FALSE(verdict(value));
  EXPECT_FALSE(verdict(value * 2));
  EXPECT_TRUE(verdict(value * 0.99));
  result.proved = true;
  EXPECT_FALSE(verdict(value));
  EXPECT_TRUE(verdict(value * 2)); // proved, but not the bound
}

} // namespace
