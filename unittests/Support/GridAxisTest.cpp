//===- GridAxisTest.cpp ---------------------------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Support/Degrees.h"

#include "gtest/gtest.h"

using namespace shardopt;

TEST(GridAxis, NamesReadBack) {
  for (GridAxis axis : allAxes)
    EXPECT_EQ(parseGridAxis(spell(axis)), axis);
  EXPECT_EQ(parseGridAxis("batch"), std::nullopt);
  EXPECT_EQ(parseGridAxis(""), std::nullopt);
}

TEST(GridAxis, AStrideIsTheProductOfTheAxesInside) {
  const Degrees degrees = {4, 3, 2, 64};
  EXPECT_EQ(gridShape(degrees), (AxisMap<int64_t>{{2, 3, 4}}));
  int64_t stride = degrees.devices();
  for (GridAxis axis : allAxes) {
    const AxisGroup group = groupOf(axis, degrees);
    EXPECT_EQ(group.size, gridShape(degrees)[axis]);
    EXPECT_EQ(group.stride * group.size, stride);
    stride = group.stride;
  }
  EXPECT_EQ(stride, 1);
}

TEST(GridAxis, CoordinatesAreThoseOfTheStrides) {
  const Degrees degrees = {4, 3, 2, 64};
  const AxisMap<int64_t> shape = gridShape(degrees);
  for (int64_t rank = 0; rank < degrees.devices(); ++rank) {
    int64_t sum = 0;
    for (GridAxis axis : allAxes)
      sum += coordinatesOf(rank, shape)[axis] * groupOf(axis, degrees).stride;
    EXPECT_EQ(sum, rank);
  }
}
