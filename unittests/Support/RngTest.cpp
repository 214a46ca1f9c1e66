//===- RngTest.cpp - Random numbers are fixed by their seed ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Support/Rng.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace shardopt;

// The C++ standard gives the 10000th output of the default seed.
TEST(Rng, EngineIsTheStandardOne) {
  std::mt19937_64 engine;
  engine.discard(9999);
  EXPECT_EQ(engine(), 9981545732273789042u);
}

TEST(Rng, BelowIsUniform) {
  Rng rng(7);
  std::vector<int> counts(6);
  for (int i = 0; i < 60000; ++i)
    ++counts[rng.below(6)];
  for (int count : counts)
    EXPECT_NEAR(count, 10000, 500); // five standard deviations
}

TEST(Rng, RealIsInTheHalfOpenUnitInterval) {
  Rng rng(7);
  double sum = 0;
  for (int i = 0; i < 10000; ++i) {
    double value = rng.real();
    ASSERT_GE(value, 0);
    ASSERT_LT(value, 1);
    sum += value;
  }
  EXPECT_NEAR(sum / 10000, 0.5, 0.02);
}

TEST(Rng, WeightedSkipsZeros) {
  Rng rng(7);
  std::vector<int> counts(4);
  for (int i = 0; i < 10000; ++i)
    ++counts[rng.weighted({0, 1, 3, 0})];
  EXPECT_EQ(counts[0], 0);
  EXPECT_EQ(counts[3], 0);
  EXPECT_NEAR(counts[2], 7500, 250);
}

TEST(Rng, ShuffleIsAPermutationFixedByTheSeed) {
  std::vector<int> first = {1, 2, 3, 4, 5, 6, 7, 8};
  std::vector<int> second = first;
  Rng(3).shuffle(first);
  Rng(3).shuffle(second);
  EXPECT_EQ(first, second);
  std::sort(first.begin(), first.end());
  EXPECT_EQ(first, (std::vector<int>{1, 2, 3, 4, 5, 6, 7, 8}));
}
