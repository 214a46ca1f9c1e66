//===- PpoTest.cpp - Rewards, advantages and schedules --------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Research/Ppo.h"
#include "shardopt/Search/RawPerformance.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace shardopt;
using namespace shardopt::agent;

static Evaluation valid(double throughput, double latencyMs) {
  return {true, Reason::None, throughput, latencyMs, 1};
}

TEST(PaperReward, IsEquationOne) {
  search::Objective objective;
  PaperReward reward{2, 3, -50};
  EXPECT_EQ(reward(objective, valid(10, 1), 4), 2 * 10 + 3 * (10 - 4));
  EXPECT_EQ(reward(objective, valid(1, 1), 4), 2 * 1 + 3 * (1 - 4));
}

TEST(PaperReward, IsAConstantForInvalidStrategies) {
  Evaluation invalid = valid(1e6, 1);
  invalid.valid = false;
  EXPECT_EQ(PaperReward()(search::Objective(), invalid, 0), -1000);
}

TEST(PaperReward, RisesWhenLatencyFalls) {
  search::Objective objective;
  objective.goal = search::Goal::Latency;
  EXPECT_EQ(rawPerformance(objective, valid(7, 20)), 50);
}

TEST(Advantages, AreRewardLessValue) {
  EXPECT_EQ(
      oneStepAdvantages(std::vector<double>{3, 1}, std::vector<double>{1, 2}),
      (std::vector<double>{2, -1}));
}

TEST(Advantages, OfARolloutOfTwoAreOneBit) {
  std::vector<double> advantages = {300, 17};
  normalise(advantages);
  EXPECT_NEAR(advantages[0], std::sqrt(0.5), 1e-9);
  EXPECT_NEAR(advantages[1], -std::sqrt(0.5), 1e-9);
}

TEST(Advantages, AloneStayAsTheyAre) {
  std::vector<double> advantages = {300};
  normalise(advantages);
  EXPECT_EQ(advantages[0], 300);
}

TEST(CosineSchedule, FallsFromItsInitialValueToZero) {
  EXPECT_DOUBLE_EQ(cosineAnnealed(1e-3, 0), 1e-3);
  EXPECT_NEAR(cosineAnnealed(1e-3, 0.25), 1e-3 * (0.5 + std::sqrt(0.125)),
              1e-12);
  EXPECT_NEAR(cosineAnnealed(1e-3, 0.5), 0.5e-3, 1e-12);
  EXPECT_NEAR(cosineAnnealed(1e-3, 1), 0, 1e-12);
}

class TwoVariables : public testing::Test {
protected:
  std::vector<uint32_t> choices = {2, 3};
  /// Probabilities 1/4, 3/4 and 1/6, 2/6, 3/6.
  std::vector<double> logits = {0, std::log(3.0), 900, 900 + std::log(2.0),
                                900 + std::log(3.0)};
  FactoredPolicy policy{choices, logits};
};

TEST_F(TwoVariables, AreIndependent) {
  EXPECT_NEAR(policy.logProb(std::vector<uint32_t>{1, 0}), std::log(0.75 / 6),
              1e-12);
}

TEST_F(TwoVariables, AreAsConfidentAsTheLessConfident) {
  EXPECT_NEAR(policy.confidence(), 0.5, 1e-12);
}

TEST_F(TwoVariables, AreDrawnWithTheirProbabilities) {
  Rng rng(1);
  double first = 0, last = 0;
  for (int i = 0; i < 20000; ++i) {
    std::vector<uint32_t> drawn = policy.draw(rng);
    first += drawn[0] == 1;
    last += drawn[1] == 2;
  }
  EXPECT_NEAR(first / 20000, 0.75, 0.02);
  EXPECT_NEAR(last / 20000, 0.5, 0.02);
}
