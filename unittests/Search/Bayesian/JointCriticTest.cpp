//===- JointCriticTest.cpp - Degrees, dims and what is known of them ------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Bayesian/JointCritic.h"
#include "../ToySimulator.h"
#include "shardopt/Search/Bayesian/Niches.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace shardopt;
using namespace shardopt::search;

//===----------------------------------------------------------------------===//
// The factor
//===----------------------------------------------------------------------===//

/// exp(-|i - j| / 4), which is positive definite.
static double decay(size_t i, size_t j) {
  return std::exp(-std::abs(double(i) - double(j)) / 4);
}

/// The largest difference between (K + noise I) x and y.
static double residual(const std::vector<double> &x,
                       const std::vector<double> &y, double noise) {
  double most = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    double sum = noise * x[i];
    for (size_t j = 0; j < x.size(); ++j)
      sum += decay(i, j) * x[j];
    most = std::max(most, std::abs(sum - y[i]));
  }
  return most;
}

TEST(GrowingCholesky, SolvesWhateverTheOrderOfItsRows) {
  Rng rng(1);
  std::vector<double> y;
  for (int i = 0; i < 37; ++i)
    y.push_back(rng.normal());
  GrowingCholesky factor(1e-3);
  for (size_t size : {1, 9, 20, 37}) {
    factor.grow(size, decay);
    std::vector<double> start(y.begin(), y.begin() + size), x = start;
    factor.solve(x);
    EXPECT_LT(residual(x, start, 1e-3), 1e-9) << size;
  }
  factor.cut(5);
  EXPECT_EQ(factor.size(), 5u);
  factor.grow(37, decay);
  std::vector<double> x = y;
  factor.solve(x);
  EXPECT_LT(residual(x, y, 1e-3), 1e-9);
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

namespace {
class Tables : public testing::Test {
protected:
  /// Random entries.
  DimTables random(uint64_t seed) {
    Rng rng(seed);
    std::vector<Channels> entries(layout.numEntries());
    for (Channels &entry : entries)
      for (float &value : entry)
        value = float(rng.normal() / 4);
    return DimTables(layout, {}, entries, {0, 5, 1, true});
  }
  DimIndices draw(Rng &rng) {
    DimIndices dims;
    for (size_t op = 0; op < layout.numOps(); ++op)
      dims.push_back(uint8_t(rng.below(layout.numDims(op))));
    return dims;
  }

  StrategySpace space = makeSpace(9, {});
  DimPairs layout{space};
};
} // namespace

TEST_F(Tables, HaveAPlaceForEveryOpAndPairInReach) {
  EXPECT_EQ(layout.numOps(), 9u);
  EXPECT_EQ(layout.pairs().size(), size_t(8 + 7 + 6 + 5 + 4 + 3));
  double sum = 0;
  std::vector<bool> isUsed(layout.numEntries());
  for (size_t op = 0; op < 9; ++op)
    for (size_t dim = 0; dim < 3; ++dim)
      isUsed[layout.single(op, dim)] = true;
  for (const DimPairs::Pair &pair : layout.pairs()) {
    sum += pair.weight;
    for (size_t a = 0; a < 3; ++a)
      for (size_t b = 0; b < 3; ++b) {
        EXPECT_FALSE(isUsed[layout.entry(pair, a, b)]);
        isUsed[layout.entry(pair, a, b)] = true;
      }
  }
  EXPECT_NEAR(sum, 1, 1e-12);
  EXPECT_EQ(std::count(isUsed.begin(), isUsed.end(), false), 0);
}

TEST_F(Tables, ChangeIsTheDifferenceOfPredictions) {
  DimTables tables = random(3);
  Rng rng(4);
  for (int i = 0; i < 50; ++i) {
    DimIndices dims = draw(rng);
    DimIndices other = dims;
    size_t op = rng.below(9);
    other[op] = uint8_t(rng.below(3));
    Channels before = tables.predict(dims), after = tables.predict(other);
    Channels change = tables.change(dims, op, other[op]);
    for (size_t c = 0; c < numChannels; ++c)
      EXPECT_NEAR(change[c], after[c] - before[c], 1e-4);
  }
}

TEST_F(Tables, NoSingleChangeImprovesWhereADescentEnds) {
  Rng rng(5);
  for (uint64_t seed = 0; seed < 10; ++seed) {
    DimTables tables = random(seed);
    DimIndices dims = draw(rng);
    double start = tables.score(dims);
    double end = tables.descend(dims);
    EXPECT_GE(end, start);
    EXPECT_NEAR(tables.score(dims), end, 1e-3);
    for (size_t op = 0; op < 9; ++op)
      for (uint8_t dim = 0; dim < 3; ++dim) {
        DimIndices other = dims;
        other[op] = dim;
        EXPECT_LE(tables.score(other), end + 1e-3);
      }
    DimIndices far = dims;
    EXPECT_GE(tables.descendFar(far, 10, rng), end - 1e-3);
  }
}

TEST_F(Tables, ADescentLeavesPinnedOpsAlone) {
  Rng rng(6);
  std::vector<bool> pinned(9);
  pinned[2] = pinned[7] = true;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    DimIndices start = draw(rng);
    DimIndices dims = start;
    random(seed).descendFar(dims, 5, rng, pinned);
    EXPECT_EQ(dims[2], start[2]);
    EXPECT_EQ(dims[7], start[7]);
  }
}

//===----------------------------------------------------------------------===//
// The process and the critic
//===----------------------------------------------------------------------===//

namespace {
class Joint : public testing::Test {
protected:
  /// Tells a critic `n` uniform strategies.
  void tell(JointCritic &critic, size_t n) {
    for (size_t i = 0; i < n; ++i) {
      Point point = space.sample(rng);
      critic.tell(point, simulator.evaluate(space.strategyAt(point)));
      told.push_back(point);
    }
    critic.fit({});
  }
  double predicted(JointCritic &critic, const Point &point) {
    return critic.tablesAt(point).score(
        DimIndices(point.begin() + space.firstDim(), point.end()));
  }
  double actual(const JointCritic &critic, const Point &point) {
    return critic.scoreOf(point, simulator.evaluate(space.strategyAt(point)));
  }
  /// The root of the mean square error over uniform strategies.
  double error(JointCritic &critic) {
    Rng others(99);
    double sum = 0;
    for (int i = 0; i < 100; ++i) {
      Point point = space.sample(others);
      double difference = predicted(critic, point) - actual(critic, point);
      sum += difference * difference / 100;
    }
    return std::sqrt(sum);
  }

  ToySimulator simulator{6, 5};
  StrategySpace space = makeSpace(6, {});
  Objective objective = simulator.objective();
  Rng rng{7};
  std::vector<Point> told;
};
} // namespace

TEST_F(Joint, RemembersWhatItWasTold) {
  JointCritic critic(space, objective);
  tell(critic, 100);
  for (const Point &point : told)
    EXPECT_NEAR(predicted(critic, point), actual(critic, point), .1);
}

TEST_F(Joint, LearnsFromEveryTuple) {
  JointCritic critic(space, objective);
  tell(critic, 40);
  double early = error(critic);
  tell(critic, 400);
  EXPECT_LT(error(critic), .7 * early);
}

/// More than are kept: it forgets, and still knows the best.
TEST_F(Joint, KeepsTheBestOfManySamples) {
  JointCritic critic(space, objective);
  tell(critic, 1000);
  Point best = told.front();
  for (const Point &point : told)
    if (actual(critic, point) > actual(critic, best))
      best = point;
  EXPECT_NEAR(predicted(critic, best), actual(critic, best), .1);
}

/// What is believed counts in one fit and leaves no trace.
TEST_F(Joint, ForgetsWhatItBelieved) {
  JointCritic critic(space, objective);
  tell(critic, 60);
  Point point = space.sample(rng);
  double before = predicted(critic, point);
  critic.fit({space.sample(rng), point});
  EXPECT_NEAR(predicted(critic, point), before, .05);
  critic.fit({});
  EXPECT_EQ(predicted(critic, point), before);
}

TEST_F(Joint, AvoidsWhatHasNoMetrics) {
  JointCritic critic(space, objective);
  tell(critic, 60);
  Evaluation refused;
  Point point = space.sample(rng);
  double before = predicted(critic, point);
  critic.tell(point, refused);
  critic.fit({});
  EXPECT_LT(predicted(critic, point), before - 5);
}

/// Two ways to the same sums, at degrees with and without samples; in float.
TEST_F(Joint, PredictsDimsAtAllDegreesAsTablesDo) {
  JointCritic critic(space, objective);
  tell(critic, 60);
  critic.tell(space.sample(rng), Evaluation());
  critic.fit({});
  std::vector<DimIndices> dims;
  for (int i = 0; i < 5; ++i) {
    Point point = space.sample(rng);
    dims.emplace_back(point.begin() + space.firstDim(), point.end());
  }
  JointCritic::Predictor predictor(critic, dims);
  for (const Degrees &degrees : space.degreeTuples()) {
    Point point = *space.pointOf({degrees, std::vector<Dim>(6, Dim::Zero)});
    DimTables tables = critic.tablesAt(point);
    auto forecasts = predictor.at(point);
    ASSERT_EQ(forecasts.size(), dims.size());
    for (size_t i = 0; i < dims.size(); ++i)
      for (size_t c = 0; c < numChannels; ++c)
        EXPECT_NEAR(forecasts[i].expected[c], tables.predict(dims[i])[c], 1e-4);
  }
}

/// Until it is told of them. At tp 1 all dims are one strategy.
TEST_F(Joint, DoubtsDimsUnlikeItsSamples) {
  JointCritic critic(space, objective);
  tell(critic, 20);
  auto doubt = [&](const Point &point) {
    DimIndices dims(point.begin() + space.firstDim(), point.end());
    return JointCritic::Predictor(critic, {dims}).at(point)[0].doubt;
  };
  size_t numUncut = 0;
  for (int i = 0; i < 50; ++i) {
    Point point = space.sample(rng);
    if (space.degreesAt(point).tp == 1) {
      ++numUncut;
      EXPECT_EQ(doubt(point), 0);
      continue;
    }
    EXPECT_GT(doubt(point), .01);
    critic.tell(point, simulator.evaluate(space.strategyAt(point)));
    critic.fit({});
    EXPECT_NEAR(doubt(point), 0, 1e-3);
  }
  EXPECT_GT(numUncut, 0u);
}

/// What it keeps of places that it was asked about grows with what it is told.
TEST_F(Joint, PredictsTheSameWhetherAskedBefore) {
  JointCritic asked(space, objective), silent(space, objective);
  for (size_t i = 0; i < 200; ++i) {
    Point point = space.sample(rng);
    Evaluation evaluation = simulator.evaluate(space.strategyAt(point));
    asked.tell(point, evaluation);
    silent.tell(point, evaluation);
    if (i % 40 == 0) {
      asked.fit({});
      silent.fit({});
      error(asked);
    }
  }
  asked.fit({});
  silent.fit({});
  for (int i = 0; i < 100; ++i) {
    Point point = space.sample(rng);
    EXPECT_EQ(predicted(asked, point), predicted(silent, point));
  }
}

//===----------------------------------------------------------------------===//
// Niches
//===----------------------------------------------------------------------===//

TEST_F(Joint, NichesKeepValidAndInvalidElitesApart) {
  Niches niches(space, rng);
  EXPECT_EQ(niches.size(), space.degreeTuples().size());
  Point point = space.sample(rng);
  Evaluation valid{true, Reason::None, 1, 1, 1}, over = valid;
  over.valid = false;
  over.reason = Reason::Memory;
  niches.tell(point, over, /*score=*/2);
  Niche &niche = niches[niches.find(point)];
  EXPECT_EQ(niche.best(), &*niche.invalid);
  niches.tell(point, valid, /*score=*/1);
  EXPECT_EQ(niche.best(), &*niche.valid) << "though its score is less";
  EXPECT_TRUE(niche.invalid);
  EXPECT_EQ(niches.ranked(), std::vector<size_t>{niches.find(point)});
}

TEST_F(Joint, NichesLoseTheirPromiseWithoutGains) {
  Niches niches(space, rng);
  Point point = space.sample(rng);
  Evaluation valid{true, Reason::None, 1, 1, 1};
  niches.tell(point, valid, 1);
  const Niche &niche = niches[niches.find(point)];
  EXPECT_EQ(niche.promise(), 1);
  niches.tell(point, valid, .5);
  double stale = niche.promise();
  EXPECT_LT(stale, 1);
  niches.tell(point, valid, 1.1);
  EXPECT_EQ(niche.promise(), 1.1);
  EXPECT_EQ(niche.calls, 3u);
}

TEST_F(Joint, NichesDrawEveryValueOfADegree) {
  Niches niches(space, rng);
  Evaluation valid{true, Reason::None, 1, 1, 1};
  for (size_t i = 0; i < niches.size(); ++i)
    niches.tell(niches[i].degrees, valid, -double(i));
  std::vector<size_t> ranked = niches.ranked();
  std::vector<size_t> drawn(space.domainSize(0));
  for (int i = 0; i < 1000; ++i)
    ++drawn[niches[niches.drawParent(ranked, rng)].degrees[0]];
  EXPECT_EQ(std::count(drawn.begin(), drawn.end(), 0), 0);
}
