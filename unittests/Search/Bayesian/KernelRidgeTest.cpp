//===- KernelRidgeTest.cpp - Kernel ridge against a dense solve -----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Bayesian/KernelRidge.h"
#include "../ToySimulator.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

using namespace shardopt;
using namespace shardopt::search;

namespace {
struct Sample {
  Point point;
  Targets targets;
};
} // namespace

static StrategySpace smallSpace() {
  SpaceRequest request;
  request.lists[Degree::Tp] = {1, 2, 4, 8};
  request.lists[Degree::Pp] = {1, 2};
  request.lists[Degree::Batch] = {1, 4, 16, 64};
  return makeSpace(4, request);
}

/// Two targets that vary, one of them with products of variables, and one that
/// does not.
static std::vector<Sample> drawSamples(const StrategySpace &space, size_t n) {
  Rng rng(3);
  std::vector<Sample> samples;
  for (size_t i = 0; i < n; ++i) {
    Point point = space.sample(rng);
    double sum = std::accumulate(point.begin(), point.end(), 0.);
    samples.push_back({point, {sum, 1. + point[0] * point[5], 7}});
  }
  return samples;
}

static void add(KernelRidge &ridge, const std::vector<Sample> &samples) {
  for (const Sample &sample : samples)
    ridge.add(sample.point, sample.targets, 0);
}

/// The kernel as its definition reads.
static double kernel(const Point &a, const Point &b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    double distance = std::abs(double(a[i]) - double(b[i]));
    if (i < 4) // a degree
      sum += std::exp(-distance / 2);
    else
      sum += a[i] == b[i];
  }
  double similarity = sum / a.size();
  return .3 * similarity + .7 * similarity * similarity;
}

/// Solves a dense system by Gaussian elimination with pivoting.
static std::vector<double> solve(std::vector<std::vector<double>> matrix,
                                 std::vector<double> rhs) {
  size_t n = rhs.size();
  for (size_t k = 0; k < n; ++k) {
    size_t pivot = k;
    for (size_t i = k; i < n; ++i)
      if (std::abs(matrix[i][k]) > std::abs(matrix[pivot][k]))
        pivot = i;
    std::swap(matrix[k], matrix[pivot]);
    std::swap(rhs[k], rhs[pivot]);
    for (size_t i = k + 1; i < n; ++i) {
      double quotient = matrix[i][k] / matrix[k][k];
      for (size_t j = k; j < n; ++j)
        matrix[i][j] -= quotient * matrix[k][j];
      rhs[i] -= quotient * rhs[k];
    }
  }
  for (size_t k = n; k-- > 0;) {
    for (size_t j = k + 1; j < n; ++j)
      rhs[k] -= matrix[k][j] * rhs[j];
    rhs[k] /= matrix[k][k];
  }
  return rhs;
}

/// mean + deviation * k(x)^T (K + noise I)^-1 (y - mean) / deviation.
static double densePrediction(const std::vector<Sample> &samples, size_t target,
                              const Point &point) {
  size_t n = samples.size();
  double mean = 0;
  for (const Sample &sample : samples)
    mean += sample.targets[target] / n;
  std::vector<std::vector<double>> matrix(n, std::vector<double>(n));
  std::vector<double> centred;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j)
      matrix[i][j] = kernel(samples[i].point, samples[j].point);
    matrix[i][i] += 1e-3;
    centred.push_back(samples[i].targets[target] - mean);
  }
  std::vector<double> alpha = solve(matrix, centred);
  double prediction = mean;
  for (size_t i = 0; i < n; ++i)
    prediction += alpha[i] * kernel(samples[i].point, point);
  return prediction;
}

TEST(KernelRidge, EqualsADenseSolve) {
  StrategySpace space = smallSpace();
  std::vector<Sample> samples = drawSamples(space, 60);
  KernelRidge ridge(space, {});
  add(ridge, samples);
  ridge.fit();
  Rng rng(5);
  for (int i = 0; i < 20; ++i) {
    Point point = space.sample(rng);
    Targets predicted = ridge.predict(point);
    EXPECT_NEAR(predicted[0], densePrediction(samples, 0, point), 1e-9);
    EXPECT_NEAR(predicted[1], densePrediction(samples, 1, point), 1e-9);
  }
}

TEST(KernelRidge, PredictsAConstantExactly) {
  StrategySpace space = smallSpace();
  KernelRidge ridge(space, {});
  add(ridge, drawSamples(space, 16));
  ridge.fit();
  EXPECT_EQ(ridge.predict(Point(space.numVariables(), 0))[2], 7);
}

TEST(KernelRidge, PredictsZerosBeforeItIsFitted) {
  StrategySpace space = smallSpace();
  KernelRidge ridge(space, {});
  EXPECT_EQ(ridge.predict(Point(space.numVariables(), 0)), Targets{});
  add(ridge, drawSamples(space, 16));
  EXPECT_EQ(ridge.predict(Point(space.numVariables(), 0)), Targets{});
}

TEST(KernelRidge, FitsNothingWithoutSamples) {
  StrategySpace space = smallSpace();
  KernelRidge ridge(space, {});
  ridge.fit();
  EXPECT_EQ(ridge.predict(Point(space.numVariables(), 0)), Targets{});
}

/// Row by row, or many rows at a time: the same factor.
TEST(KernelRidge, IsTheSameHoweverOftenItWasFitted) {
  StrategySpace space = smallSpace();
  KernelRidge often(space, {}), once(space, {});
  for (const Sample &sample : drawSamples(space, 50)) {
    often.add(sample.point, sample.targets, 0);
    often.fit();
    once.add(sample.point, sample.targets, 0);
  }
  once.fit();
  Rng rng(5);
  for (int i = 0; i < 20; ++i) {
    Point point = space.sample(rng);
    EXPECT_EQ(often.predict(point), once.predict(point));
  }
}

TEST(KernelRidge, KeepsTheLastAndTheLeastBad) {
  StrategySpace space = smallSpace();
  KernelRidge::Options options;
  options.maxSamples = 50;
  options.keptSamples = 30;
  options.keptRecent = 10;
  std::vector<Sample> samples = drawSamples(space, 60);
  KernelRidge dropping(space, options);
  // Of the first 40, those of odd index are the bad ones.
  for (size_t i = 0; i < samples.size(); ++i)
    dropping.add(samples[i].point, samples[i].targets, i % 2);
  dropping.fit();

  KernelRidge kept(space, {});
  for (size_t i = 0; i < samples.size(); ++i)
    if (i >= 40 || i % 2 == 0)
      kept.add(samples[i].point, samples[i].targets, 0);
  kept.fit();
  Rng rng(5);
  for (int i = 0; i < 20; ++i) {
    Point point = space.sample(rng);
    EXPECT_EQ(dropping.predict(point), kept.predict(point));
  }
}

/// A deviation that overflows is none.
TEST(KernelRidge, SurvivesTargetsOfAnySize) {
  StrategySpace space = smallSpace();
  KernelRidge ridge(space, {});
  std::vector<Sample> samples = drawSamples(space, 20);
  samples[7].targets[0] = 1e308;
  samples[9].targets[0] = -1e308;
  add(ridge, samples);
  ridge.fit();
  EXPECT_NEAR(ridge.predict(samples[3].point)[2], 7, 1e-9);
}

/// At its own prediction a point moves no other but for the scale.
TEST(KernelRidge, BelievesPendingPointsForOneFit) {
  StrategySpace space = smallSpace();
  KernelRidge ridge(space, {}), believing(space, {});
  std::vector<Sample> samples = drawSamples(space, 60);
  std::vector<Point> pending;
  for (size_t i = 40; i < 44; ++i)
    pending.push_back(samples[i].point);
  samples.resize(40);
  add(ridge, samples);
  add(believing, samples);
  ridge.fit();
  believing.fit(pending);
  Rng rng(8);
  for (int i = 0; i < 50; ++i) {
    Point point = space.sample(rng);
    for (size_t target = 0; target < numTargets; ++target)
      EXPECT_NEAR(believing.predict(point)[target],
                  ridge.predict(point)[target], .05);
  }
  EXPECT_NE(believing.predict(pending[0]), ridge.predict(pending[0]));
  believing.fit();
  EXPECT_EQ(believing.predict(pending[0]), ridge.predict(pending[0]));
}
