//===- StageGridTest.cpp - Groups of devices of a stage -------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/StageGrid.h"

#include "gtest/gtest.h"

using namespace shardopt;

static Degrees degreesOf(int64_t tp, int64_t dp, int64_t ep, int64_t cp = 1) {
  Degrees degrees(tp, ep, 1, 1);
  degrees.dp = dp;
  degrees.cp = cp;
  return degrees;
}

static void expectGroup(const StageGrid &grid, Axis axis, int64_t size,
                        int64_t stride) {
  EXPECT_EQ(grid.group(axis).size, size);
  EXPECT_EQ(grid.group(axis).stride, stride);
}

TEST(StageGrid, IsThatOfTpAndEpWhereTheyCutAll) {
  StageGrid grid(degreesOf(4, 8, 8));
  EXPECT_EQ(grid.etp(), 4);
  EXPECT_EQ(grid.q(), 1);
  EXPECT_EQ(grid.c(), 4);
  expectGroup(grid, Axis::Tp, 4, 1);
  expectGroup(grid, Axis::Ep, 8, 4);
  expectGroup(grid, Axis::Dp, 8, 4);
}

TEST(StageGrid, WideExpertsTakeThePartOfTpThatIsLeft) {
  StageGrid grid(degreesOf(8, 4, 16));
  EXPECT_TRUE(grid.isQOutside());
  expectGroup(grid, Axis::Etp, 2, 1);
  expectGroup(grid, Axis::Ep, 16, 2);
  expectGroup(grid, Axis::Q, 4, 2);
  expectGroup(grid, Axis::C, 2, 1);
  expectGroup(grid, Axis::Outer, 16, 2);
  expectGroup(grid, Axis::Stage, 32, 1);
}

TEST(StageGrid, ExpertsCutOverReplicasTakeThePartOfDp) {
  StageGrid grid(degreesOf(2, 16, 4));
  EXPECT_FALSE(grid.isQOutside());
  expectGroup(grid, Axis::Etp, 8, 1);
  expectGroup(grid, Axis::Ep, 4, 8);
  expectGroup(grid, Axis::Q, 4, 2);
  expectGroup(grid, Axis::C, 2, 1);
}

static Degrees onTwoAxes(Degrees degrees, int64_t tp2) {
  degrees.tp2 = tp2;
  return degrees;
}

TEST(StageGrid, TheAxesOfTpAreNeighboursAndTheOthers) {
  StageGrid grid(onTwoAxes(degreesOf(8, 2, 2), 4));
  expectGroup(grid, Axis::Tp2, 4, 1);
  expectGroup(grid, Axis::Tp1, 2, 4);
}

TEST(StageGrid, SaysWhatDoesNotDivide) {
  auto error = [](const Degrees &degrees, bool hasExperts = true) {
    return gridError(degrees, hasExperts).value_or("");
  };
  EXPECT_EQ(error(degreesOf(8, 4, 16, 2)), "");
  EXPECT_EQ(error(degreesOf(6, 2, 8)),
            "ep 8 does not divide tp * dp 12, the nearest that does is 6");
  EXPECT_EQ(error(degreesOf(4, 3, 2)),
            "ep 2 leaves etp = tp * dp / ep 6, and of tp 4 and it neither "
            "divides the other, the nearest that does is 1");
  EXPECT_EQ(error(degreesOf(8, 1, 1, 3)),
            "cp 3 does not divide tp 8, the nearest that does is 2");
  EXPECT_EQ(error(degreesOf(12, 1, 4, 2)),
            "of cp 2 and etp = tp * dp / ep 3 neither divides the other, the "
            "nearest that does is 1");
  EXPECT_EQ(error(degreesOf(4, 2, 4), /*hasExperts=*/false),
            "ep 4 is not dp 2: without experts both are the number of "
            "replicas");
  EXPECT_EQ(error(onTwoAxes(degreesOf(8, 1, 1), 8)),
            "tp2 8 does not properly divide tp 8, the nearest that does is 4");
  EXPECT_EQ(error(onTwoAxes(degreesOf(12, 1, 1, 3), 4)),
            "of tp2 4 and cp 3 neither divides the other, the nearest that "
            "does is 3");
  EXPECT_EQ(error(onTwoAxes(degreesOf(12, 1, 4), 2)),
            "of tp2 2 and etp = tp * dp / ep 3 neither divides the other, the "
            "nearest that does is 1");
  Degrees gathers = degreesOf(4, 2, 2);
  gathers.exchange = exchangeGather;
  EXPECT_EQ(error(gathers), "");
  EXPECT_EQ(error(gathers, /*hasExperts=*/false),
            "exchange gather needs experts, and the model has none");
}
