//===- SequenceLengthsTest.cpp - Ragged contexts --------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Simulation/SequenceLengths.h"

#include <gtest/gtest.h>

using namespace shardopt::simulation;

namespace {

constexpr uint64_t seed = 7;
constexpr int64_t period = SequenceLengths::period;

TEST(SequenceLengths, AlikeWithoutASpread) {
  SequenceLengths lengths(1000, 0, 0, seed);
  EXPECT_EQ(lengths.longest(8, 16, 0, 16, 4), 1000);
  EXPECT_EQ(SequenceLengths(1000, 128, 0, seed).longest(8, 16, 0, 16, 4), 128);
}

TEST(SequenceLengths, TheirMeanIsTheContext) {
  SequenceLengths lengths(1000, 0, 0.6, seed);
  EXPECT_EQ(lengths.longest(1, period, 0, period, 1), 1000);
  EXPECT_EQ(lengths.longest(1, 3 * period, 5, 2 * period, 1), 1000);
}

TEST(SequenceLengths, TheLongestOfMoreAndSmallerPartsIsLonger) {
  SequenceLengths lengths(1000, 0, 0.6, seed);
  int64_t before = 1000;
  for (int64_t parts : {4, 16, 64}) {
    int64_t longest = lengths.longest(1, 256, 0, 256, parts);
    EXPECT_GT(longest, before);
    before = longest;
  }
}

TEST(SequenceLengths, APartThatIsNotFullCountsAsOne) {
  SequenceLengths lengths(1000, 0, 0.6, seed);
  // Parts of 2, 2 and 1; the last one is divided by 2 as well.
  EXPECT_EQ(lengths.longest(1, 5, 0, 5, 3),
            std::max(lengths.longest(1, 4, 0, 4, 2),
                     (lengths.longest(1, 1, 4, 1, 1) + 1) / 2));
}

TEST(SequenceLengths, AWindowCutsEachOfThem) {
  SequenceLengths lengths(1000, 500, 0.6, seed);
  int64_t longest = lengths.longest(1, period, 0, period, 1);
  EXPECT_LT(longest, 500);
  EXPECT_GT(longest, 400);
}

} // namespace
