//===- SliceTest.cpp - Tests of what a device holds -----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Execution/Tensors/Slice.h"

#include "gtest/gtest.h"

#include <numeric>

using namespace shardopt;
using namespace shardopt::tensors;

static Place placeOf(int64_t pp, int64_t ep, int64_t tp) {
  Place place;
  place.grid = StageGrid(Degrees(tp, ep, pp, 1));
  return place;
}

TEST(Slice, PromptsAreCutByCeilings) {
  // 7 prompts over ep = 2: 4 and 3; micro-batches of 2: 2, 2 and 2, 1.
  Place place = placeOf(1, 2, 3);
  place.microBatches = 2;
  std::vector<std::pair<int64_t, int64_t>> found;
  for (int64_t ep = 0; ep < 2; ++ep)
    for (place.microBatch = 0; place.microBatch < 2; ++place.microBatch) {
      place.rank = 3 * ep;
      Range range = promptsOf(7, {Axis::Ep}, place);
      found.push_back({range.begin, range.end});
    }
  EXPECT_EQ(found, (std::vector<std::pair<int64_t, int64_t>>{
                       {0, 2}, {2, 4}, {4, 6}, {6, 7}}));
}

TEST(Slice, PartsMayBeCutByTheCeilingOfTheLargest) {
  // 5 prompts over dp = 2: 3 and 2; both in blocks of 2 over tp = 2.
  Place place = placeOf(1, 2, 2);
  std::vector<int64_t> own, alike;
  for (place.rank = 0; place.rank < 4; ++place.rank) {
    own.push_back(promptsOf(5, {Axis::Dp, Axis::Tp}, place).size());
    alike.push_back(promptsOf(5, {Axis::Dp, Axis::Tp}, place, true).size());
  }
  EXPECT_EQ(own, (std::vector<int64_t>{2, 1, 1, 1}));
  EXPECT_EQ(alike, (std::vector<int64_t>{2, 1, 2, 0}));

  // In micro-batches of 2 and 1, and of 1 and 1: those of the largest part in
  // the same micro-batch count, and each part has its own.
  place.microBatches = 2;
  std::vector<std::pair<int64_t, int64_t>> found;
  for (place.microBatch = 0; place.microBatch < 2; ++place.microBatch)
    for (place.rank = 0; place.rank < 4; ++place.rank) {
      Range range = promptsOf(5, {Axis::Dp, Axis::Tp}, place, true);
      found.push_back({range.begin, range.end});
    }
  EXPECT_EQ(
      found,
      (std::vector<std::pair<int64_t, int64_t>>{
          {0, 1}, {1, 2}, {3, 4}, {4, 4}, {2, 3}, {3, 3}, {4, 5}, {5, 5}}));

  // 10 over dp = 2: 5 in each, in micro-batches of 3 and 2. The second has
  // blocks of its own.
  std::vector<int64_t> sizes;
  for (place.rank = 0, place.microBatch = 1; place.rank < 4; ++place.rank)
    sizes.push_back(promptsOf(10, {Axis::Dp, Axis::Tp}, place, true).size());
  EXPECT_EQ(sizes, (std::vector<int64_t>{1, 1, 1, 1}));
}

TEST(Slice, TurnsEndInZeros) {
  Degrees degrees(4, 1, 1, 1);
  degrees.cp = 2;
  Slice slice;
  slice.shape = {-1};
  slice.dims.resize(1);
  slice.dims[0].stride = Axis::Cp;
  Place place;
  place.grid = StageGrid(degrees);
  place.rank = 2; // the first of the second pair
  EXPECT_EQ(entriesOf(slice, 0, 5, 1, place), (Entries{0, 2, 4}));
  place.rank = 3;
  EXPECT_EQ(entriesOf(slice, 0, 5, 1, place), (Entries{1, 3, -1}));
  EXPECT_EQ(localShape(slice, {5}, 1, place), (Shape{3}));
}

TEST(Slice, LaterDevicesMayHoldNoPrompt) {
  // The micro-batch [0, 2) over tp = 3: one each, and none.
  Place place = placeOf(1, 2, 3);
  place.microBatches = 2;
  place.rank = 2;
  Range range = promptsOf(7, {Axis::Ep, Axis::Tp}, place);
  EXPECT_EQ(range.size(), 0);
}

/// A 3 x 4 tensor, rows whole, columns cut over tp with a pad.
static Slice columnsOverTp() {
  Slice slice;
  slice.shape = {3, 4};
  slice.dims.resize(2);
  slice.dims[1].axis = Axis::Tp;
  slice.dims[1].entries = {{0, 2, 3}, {1, -1, -1}};
  return slice;
}

TEST(Slice, TakesEntriesAndZeros) {
  Tensor whole(Element::I32, {3, 4});
  std::iota(whole.ints().begin(), whole.ints().end(), 0);
  Place place = placeOf(1, 1, 2);
  place.rank = 1;
  Tensor part =
      take(whole, entriesOf(columnsOverTp(), whole.shape(), 1, place));
  ASSERT_EQ(part.shape(), (Shape{3, 3}));
  EXPECT_EQ(std::vector<int32_t>(part.ints().begin(), part.ints().end()),
            (std::vector<int32_t>{1, 0, 0, 5, 0, 0, 9, 0, 0}));
}

TEST(Slice, PartsMakeTheWhole) {
  Tensor whole(Element::I32, {3, 4}), again(Element::I32, {3, 4});
  std::iota(whole.ints().begin(), whole.ints().end(), 1);
  Place place = placeOf(1, 1, 2);
  for (int64_t tp = 0; tp < 2; ++tp) {
    place.rank = tp;
    auto entries = entriesOf(columnsOverTp(), whole.shape(), 1, place);
    put(take(whole, entries), entries, again);
  }
  EXPECT_TRUE(std::equal(whole.ints().begin(), whole.ints().end(),
                         again.ints().begin()));
}

TEST(Slice, RowsOfAPromptStayTogether) {
  Slice slice;
  slice.shape = {-1};
  slice.dims.resize(1);
  slice.dims[0].isRows = true;
  slice.dims[0].rowAxes = {Axis::Ep};
  Place place = placeOf(1, 2, 1);
  place.rank = 1;
  // 3 prompts of 2 rows; the second device holds the third prompt.
  EXPECT_EQ(entriesOf(slice, 0, 6, 3, place), (Entries{4, 5}));
}

TEST(Slice, OfOtherSizesIsNone) {
  Slice slice = columnsOverTp();
  EXPECT_TRUE(canCut(slice, {3, 4}, 1));
  EXPECT_FALSE(canCut(slice, {3, 5}, 1)); // entries are of four columns
  EXPECT_FALSE(canCut(slice, {4}, 1));
  slice.dims[0].isRows = true;
  EXPECT_TRUE(canCut(slice, {6, 4}, 3));
  EXPECT_FALSE(canCut(slice, {4, 4}, 3)); // no prompt has as many as another
  EXPECT_TRUE(canCut(Slice(), {5, 7}, 2));
}
