//===- ProgramGridTest.cpp - Tests of the grid of a program ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/ProgramGrid.h"

#include "gtest/gtest.h"

using namespace shardopt;

using Axes = std::vector<int16_t>;
using Shape = std::vector<int64_t>;

static ProgramGrid gridOf(int64_t tp, int64_t dp, int64_t ep, int64_t cp = 1) {
  Degrees degrees(tp, ep, 3, 1);
  degrees.dp = dp;
  degrees.cp = cp;
  return ProgramGrid(degrees);
}

TEST(ProgramGrid, KeepsAxesOfOneWhereExpertsAreCutAsAllElse) {
  EXPECT_EQ(gridOf(4, 2, 2).shape(), (Shape{3, 2, 4}));
  EXPECT_EQ(gridOf(1, 2, 2).shape(), (Shape{3, 2, 1}));
  EXPECT_EQ(gridOf(4, 1, 1).shape(), (Shape{3, 1, 4}));
  EXPECT_EQ(gridOf(4, 2, 2).axes(Axis::Tp), (Axes{2}));
  EXPECT_EQ(gridOf(4, 2, 2).axes(Axis::Ep), (Axes{1}));
}

TEST(ProgramGrid, ListsRunsOfElementaryAxes) {
  ProgramGrid grid = gridOf(8, 4, 16, 2);
  EXPECT_EQ(grid.shape(), (Shape{3, 4, 4, 2}));
  EXPECT_EQ(grid.axes(Axis::Dp), (Axes{1}));
  EXPECT_EQ(grid.axes(Axis::Tp), (Axes{2, 3}));
  EXPECT_EQ(grid.axes(Axis::Ep), (Axes{1, 2}));
  EXPECT_EQ(grid.axes(Axis::Etp), (Axes{3}));
  EXPECT_EQ(grid.axes(Axis::Cp), (Axes{3}));
  EXPECT_EQ(grid.axes(Axis::Pp), (Axes{0}));
}

TEST(ProgramGrid, TheSecondAxisOfTpCutsIt) {
  Degrees degrees(8, 2, 1, 1);
  degrees.tp2 = 2;
  ProgramGrid grid(degrees);
  EXPECT_EQ(grid.shape(), (Shape{1, 2, 4, 2}));
  EXPECT_EQ(grid.axes(Axis::Tp), (Axes{2, 3}));
  EXPECT_EQ(grid.axes(Axis::Tp1), (Axes{2}));
  EXPECT_EQ(grid.axes(Axis::Tp2), (Axes{3}));
  EXPECT_EQ(grid.axes(*grid.find({2})), (Axes{2}));
}

TEST(ProgramGrid, WideExpertsAddNoAxis) {
  ProgramGrid grid = gridOf(4, 2, 8);
  EXPECT_EQ(grid.shape(), (Shape{3, 2, 4}));
  EXPECT_EQ(grid.axes(Axis::Ep), (Axes{1, 2}));
  EXPECT_EQ(grid.axes(Axis::Etp), (Axes{}));
}

TEST(ProgramGrid, FindsWhatAxesGroup) {
  for (const ProgramGrid &grid :
       {gridOf(8, 4, 16, 2), gridOf(2, 8, 4), gridOf(4, 2, 2), gridOf(6, 2, 6)})
    for (Axis axis : {Axis::Tp, Axis::Dp, Axis::Ep, Axis::Etp, Axis::Stage}) {
      if (grid.groups().size(axis) == 1)
        continue;
      std::optional<Axis> found = grid.find(grid.axes(axis));
      ASSERT_TRUE(found);
      EXPECT_EQ(grid.axes(*found), grid.axes(axis));
    }
  EXPECT_FALSE(gridOf(4, 2, 2).find({0, 2}));
}

TEST(ProgramGrid, CoordinatesFollowTheAxes) {
  // Row-major over the elementary axes, as groups of a runtime are.
  ProgramGrid grid = gridOf(2, 8, 4, 2);
  for (int64_t rank = 0; rank < 48; ++rank)
    for (Axis axis : {Axis::Tp, Axis::Dp, Axis::Ep, Axis::Etp, Axis::Cp}) {
      int64_t coordinate = 0;
      for (int16_t elementary : grid.axes(axis)) {
        int64_t stride = 1;
        for (size_t i = elementary + 1; i < grid.shape().size(); ++i)
          stride *= grid.shape()[i];
        int64_t size = grid.shape()[elementary];
        coordinate = coordinate * size + rank / stride % size;
      }
      EXPECT_EQ(coordinateOf(rank, grid.groups(), axis), coordinate);
    }
}

TEST(ProgramGrid, NamesReadBack) {
  for (Axis axis : {Axis::Pp, Axis::Dp, Axis::Ep, Axis::Tp, Axis::Etp, Axis::Cp,
                    Axis::Tp1, Axis::Tp2})
    EXPECT_EQ(parseAxis(spell(axis)), axis);
  EXPECT_FALSE(parseAxis("q"));
  EXPECT_EQ(writtenAxis(Axis::Dp, gridOf(4, 2, 2).groups()), Axis::Ep);
  EXPECT_EQ(writtenAxis(Axis::Dp, gridOf(4, 2, 4).groups()), Axis::Dp);
}
