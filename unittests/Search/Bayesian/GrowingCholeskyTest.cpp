//===- GrowingCholeskyTest.cpp - A factor that grows by rows --------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Bayesian/GrowingCholesky.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace shardopt::search;

static constexpr double noise = 1e-3;
static constexpr size_t size = 45;

static double kernel(size_t i, size_t j) {
  double distance = double(i) - double(j);
  return std::exp(-distance * distance / 50) + double(i * j) / 1000;
}

static std::vector<double> ramp() {
  std::vector<double> values;
  for (size_t i = 0; i < size; ++i)
    values.push_back(std::sin(double(i)));
  return values;
}

TEST(GrowingCholesky, SolvesWithTheKernelAndItsNoise) {
  GrowingCholesky factor(noise);
  factor.grow(size, kernel);
  std::vector<double> solution = ramp();
  factor.solve(solution);
  std::vector<double> wanted = ramp();
  for (size_t i = 0; i < size; ++i) {
    double product = noise * solution[i];
    for (size_t j = 0; j < size; ++j)
      product += kernel(std::max(i, j), std::min(i, j)) * solution[j];
    EXPECT_NEAR(product, wanted[i], 1e-9) << "row " << i;
  }
}

/// Rows that come together are computed several at a time, which must not show.
TEST(GrowingCholesky, HasTheSameBitsInStepsOfAnySize) {
  std::vector<double> atOnce = ramp();
  GrowingCholesky whole(noise);
  whole.grow(size, kernel);
  whole.solve(atOnce);
  for (size_t step : {1, 3, 4, 6, 13}) {
    std::vector<double> inSteps = ramp();
    GrowingCholesky factor(noise);
    for (size_t rows = 0; rows < size;)
      factor.grow(rows = std::min(rows + step, size), kernel);
    factor.solve(inSteps);
    EXPECT_EQ(inSteps, atOnce) << "steps of " << step;
  }
}
