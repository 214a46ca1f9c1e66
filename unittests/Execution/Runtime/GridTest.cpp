//===- GridTest.cpp - Ranks on a grid, and their groups -------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Execution/Runtime/Grid.h"

#include "gtest/gtest.h"

using namespace shardopt::runtime;

namespace {

using Ranks = std::vector<int64_t>;

TEST(Grid, RanksAreInRowMajorOrder) {
  Grid grid({2, 3, 4});
  EXPECT_EQ(grid.size(), 24);
  EXPECT_EQ(grid.coordinate(17, 0), 1);
  EXPECT_EQ(grid.coordinate(17, 1), 1);
  EXPECT_EQ(grid.coordinate(17, 2), 1);
}

TEST(Grid, GroupsDifferAlongTheirAxesOnly) {
  Grid grid({2, 2, 2});
  Group tp = grid.group(5, packAxes({2}));
  EXPECT_EQ(tp.members, (Ranks{4, 5}));
  EXPECT_EQ(tp.own, 1u);
  EXPECT_EQ(grid.group(5, packAxes({0})).members, (Ranks{1, 5}));
  EXPECT_EQ(grid.group(5, packAxes({0, 2})).members, (Ranks{0, 1, 4, 5}));
}

TEST(Grid, TheFirstAxisOfAGroupIsTheSlowest) {
  Grid grid({2, 3});
  EXPECT_EQ(grid.group(4, packAxes({1, 0})).members, (Ranks{0, 3, 1, 4, 2, 5}));
}

TEST(Grid, WithoutAxesARankIsAlone) {
  EXPECT_EQ(Grid({2, 2}).group(3, 0).members, (Ranks{3}));
  EXPECT_EQ(Grid({}).size(), 1);
}

TEST(Grid, AxesArePackedFirstLowest) {
  EXPECT_EQ(packAxes({2, 0}), 0x13);
  EXPECT_EQ(unpackAxes(0x13), (Ranks{2, 0}));
  EXPECT_EQ(describeAxes(0x13), "[2, 0]");
  EXPECT_TRUE(Grid({2, 2, 2}).hasAxes(0x13));
  EXPECT_FALSE(Grid({2, 2}).hasAxes(0x13));
  EXPECT_FALSE(Grid({2, 2}).hasAxes(0x11));
}

} // namespace
