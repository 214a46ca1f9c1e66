//===- SliceTest.cpp - Tests of what a device holds -----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Tensors/Slice.h"

#include "gtest/gtest.h"

#include <numeric>

using namespace shardopt;
using namespace shardopt::tensors;

static Place placeOf(int64_t pp, int64_t ep, int64_t tp) {
  Place place;
  place.size = {pp, ep, tp};
  return place;
}

TEST(Slice, PromptsAreCutByCeilings) {
  // 7 prompts over ep = 2: 4 and 3; micro-batches of 2: 2, 2 and 2, 1.
  Place place = placeOf(1, 2, 3);
  place.microBatches = 2;
  std::vector<std::pair<int64_t, int64_t>> found;
  for (int64_t ep = 0; ep < 2; ++ep)
    for (place.microBatch = 0; place.microBatch < 2; ++place.microBatch) {
      place.coordinate = {0, ep, 0};
      Range range = promptsOf(7, {GridAxis::Ep}, place);
      found.push_back({range.begin, range.end});
    }
  EXPECT_EQ(found, (std::vector<std::pair<int64_t, int64_t>>{
                       {0, 2}, {2, 4}, {4, 6}, {6, 7}}));
}

TEST(Slice, LaterDevicesMayHoldNoPrompt) {
  // The micro-batch [0, 2) over tp = 3: one each, and none.
  Place place = placeOf(1, 2, 3);
  place.microBatches = 2;
  place.coordinate = {0, 0, 2};
  Range range = promptsOf(7, {GridAxis::Ep, GridAxis::Tp}, place);
  EXPECT_EQ(range.size(), 0);
}

/// A 3 x 4 tensor, rows whole, columns cut over tp with a pad.
static Slice columnsOverTp() {
  Slice slice;
  slice.shape = {3, 4};
  slice.dims.resize(2);
  slice.dims[1].axis = GridAxis::Tp;
  slice.dims[1].entries = {{0, 2, 3}, {1, -1, -1}};
  return slice;
}

TEST(Slice, TakesEntriesAndZeros) {
  Tensor whole(Element::I32, {3, 4});
  std::iota(whole.ints().begin(), whole.ints().end(), 0);
  Place place = placeOf(1, 1, 2);
  place.coordinate = {0, 0, 1};
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
    place.coordinate[GridAxis::Tp] = tp;
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
  slice.dims[0].rowAxes = {GridAxis::Ep};
  Place place = placeOf(1, 2, 1);
  place.coordinate = {0, 1, 0};
  // 3 prompts of 2 rows; the second device holds the third prompt.
  EXPECT_EQ(entriesOf(slice, 0, 6, 3, place), (Entries{4, 5}));
}
