//===- MlpEnsembleTest.cpp - What the ensemble learns ---------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/MlpEnsemble.h"
#include "ToySimulator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

using namespace shardopt;
using namespace shardopt::search;

/// A sum over variables, and its double.
static Targets additive(const Point &point) {
  double sum = 0;
  for (size_t i = 0; i < point.size(); ++i)
    sum += std::sin(double(1 + i + 2 * point[i]));
  return {sum, 2 * sum, 3};
}

static void addSamples(MlpEnsemble &ensemble, const StrategySpace &space,
                       Rng &rng, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    Point point = space.sample(rng);
    ensemble.add(point, additive(point), 0);
  }
}

TEST(MlpEnsemble, LearnsASumOverVariables) {
  StrategySpace space = makeSpace(4, {});
  MlpEnsemble ensemble(space, {}, 1);
  Rng rng(2);
  for (int round = 0; round < 30; ++round) {
    addSamples(ensemble, space, rng, 16);
    ensemble.fit();
  }
  double squares = 0, errors = 0;
  for (int i = 0; i < 100; ++i) {
    Point point = space.sample(rng);
    Targets wanted = additive(point), predicted = ensemble.predict(point);
    squares += wanted[1] * wanted[1];
    errors += std::pow(predicted[1] - wanted[1], 2);
    EXPECT_NEAR(predicted[2], 3, 1e-9);
  }
  EXPECT_LT(errors, .05 * squares);
}

TEST(MlpEnsemble, FollowsItsSeed) {
  StrategySpace space = makeSpace(4, {});
  auto prediction = [&](uint64_t seed) {
    MlpEnsemble ensemble(space, {}, seed);
    Rng rng(2);
    addSamples(ensemble, space, rng, 64);
    ensemble.fit();
    return ensemble.predict(space.sample(rng));
  };
  EXPECT_EQ(prediction(1), prediction(1));
  EXPECT_NE(prediction(1), prediction(2));
}

TEST(MlpEnsemble, LetsItsMembersTakeTurns) {
  StrategySpace space = makeSpace(4, {});
  MlpEnsemble ensemble(space, {}, 1);
  Rng rng(2);
  addSamples(ensemble, space, rng, 64);
  std::set<double> predictions;
  Point point = space.sample(rng);
  for (int i = 0; i < 100; ++i) {
    ensemble.fit();
    predictions.insert(ensemble.predict(point)[0]);
  }
  EXPECT_EQ(predictions.size(), MlpEnsemble::Options().members);
}

TEST(MlpEnsemble, PredictsZerosBeforeItIsFitted) {
  StrategySpace space = makeSpace(2, {});
  MlpEnsemble ensemble(space, {}, 1);
  ensemble.fit();
  EXPECT_EQ(ensemble.predict(Point(space.numVariables(), 0)), Targets{});
  Rng rng(2);
  addSamples(ensemble, space, rng, 8);
  EXPECT_EQ(ensemble.predict(Point(space.numVariables(), 0)), Targets{});
  ensemble.fit();
  EXPECT_NE(ensemble.predict(Point(space.numVariables(), 0)), Targets{});
}

TEST(MlpEnsemble, LearnsATargetThatVariesLate) {
  StrategySpace space = makeSpace(2, {});
  MlpEnsemble ensemble(space, {}, 1);
  Rng rng(2);
  for (int i = 0; i < 64; ++i)
    ensemble.add(space.sample(rng), {0}, 0);
  ensemble.fit();
  for (int round = 0; round < 30; ++round) {
    for (int i = 0; i < 16; ++i) {
      Point point = space.sample(rng);
      ensemble.add(point, {double(point[4] == 1)}, 0);
    }
    ensemble.fit();
  }
  EXPECT_GT(ensemble.predict({0, 0, 0, 0, 1, 0})[0],
            ensemble.predict({0, 0, 0, 0, 0, 0})[0] + .3);
}
