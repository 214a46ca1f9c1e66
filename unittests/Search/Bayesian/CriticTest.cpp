//===- CriticTest.cpp - What critics learn --------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Bayesian/Critic.h"
#include "../ToySimulator.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace shardopt;
using namespace shardopt::search;

namespace {
class LearnedCriticTest : public testing::Test {
protected:
  LearnedCritic makeCritic(const Simulator *freeModel = nullptr,
                           size_t refitInterval = 1) {
    return {space, simulator.objective(), freeModel, refitInterval};
  }

  Evaluation evaluate(const Point &point) const {
    return simulator.evaluate(space.strategyAt(point));
  }

  /// Tells `n` strategies, of those that `filter` admits.
  template <typename Filter>
  void tell(LearnedCritic &critic, size_t n, Filter filter) {
    while (n > 0) {
      Point point = space.sample(rng);
      if (!filter(point))
        continue;
      critic.tell(point, evaluate(point));
      --n;
    }
    critic.prepare();
  }

  /// The mean score of strategies that are structural, or are not.
  double meanScore(LearnedCritic &critic, bool structural) {
    double sum = 0;
    int count = 0;
    for (int i = 0; i < 500; ++i) {
      Point point = space.sample(rng);
      if (isStructural(point) != structural)
        continue;
      sum += critic.opinion(point).score;
      ++count;
    }
    return sum / count;
  }

  bool isStructural(const Point &point) const {
    return space.degreesAt(point).pp > simulator.layers;
  }

  StrategySpace space = makeSpace(6, {});
  ToySimulator simulator{6, 5};
  Rng rng{3};
};
} // namespace

static bool all(const Point &) { return true; }

TEST_F(LearnedCriticTest, IsExactWhereTheFreeModelIs) {
  LearnedCritic critic = makeCritic(&simulator);
  tell(critic, 32, all);
  int checked = 0;
  while (checked < 50) {
    Point point = space.sample(rng);
    Evaluation evaluation = evaluate(point);
    if (!evaluation.valid)
      continue;
    EXPECT_NEAR(critic.opinion(point).score,
                simulator.objective().score(evaluation) +
                    std::log(simulator.sloMs),
                1e-9);
    ++checked;
  }
}

TEST_F(LearnedCriticTest, OrdersWhatItHasNotSeen) {
  LearnedCritic critic = makeCritic();
  tell(critic, 400, all);
  int agreed = 0, pairs = 0;
  while (pairs < 200) {
    Point a = space.sample(rng), b = space.sample(rng);
    if (!evaluate(a).valid || !evaluate(b).valid)
      continue;
    bool isBetter = simulator.objective().better(evaluate(a), evaluate(b));
    agreed += isBetter == (critic.opinion(a).score > critic.opinion(b).score);
    ++pairs;
  }
  EXPECT_GT(agreed, 170);
}

TEST_F(LearnedCriticTest, FindsRefusals) {
  simulator.layers = 2;
  LearnedCritic critic = makeCritic();
  tell(critic, 200, all);
  EXPECT_LT(meanScore(critic, true), meanScore(critic, false) - 10);
}

TEST_F(LearnedCriticTest, FindsRefusalsThatComeLate) {
  simulator.layers = 2;
  LearnedCritic critic = makeCritic();
  tell(critic, 100, [&](const Point &point) { return !isStructural(point); });
  tell(critic, 40, [&](const Point &point) { return isStructural(point); });
  EXPECT_LT(meanScore(critic, true), meanScore(critic, false) - 10);
}

/// More samples than the regressor keeps, the refusals first.
TEST_F(LearnedCriticTest, RemembersRefusals) {
  simulator.layers = 2;
  LearnedCritic critic = makeCritic();
  tell(critic, 100, [&](const Point &point) { return isStructural(point); });
  tell(critic, 1100, [&](const Point &point) { return !isStructural(point); });
  EXPECT_LT(meanScore(critic, true), meanScore(critic, false) - 10);
}

TEST_F(LearnedCriticTest, FitsAtIntervals) {
  LearnedCritic critic = makeCritic(nullptr, 4);
  tell(critic, 16, all);
  Point point = space.sample(rng);
  double before = critic.opinion(point).score;
  tell(critic, 3, all);
  EXPECT_EQ(critic.opinion(point).score, before);
  tell(critic, 1, all);
  EXPECT_NE(critic.opinion(point).score, before);
}

TEST(RandomCritic, FollowsItsSeed) {
  RandomCritic a(1), b(1), c(2);
  double score = a.opinion({}).score;
  EXPECT_EQ(score, b.opinion({}).score);
  EXPECT_NE(score, c.opinion({}).score);
  EXPECT_NE(score, a.opinion({}).score);
}
