//===- DegreeListTest.cpp - Lists of values as users spell them -----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/DegreeList.h"

#include "gtest/gtest.h"

using namespace shardopt;

static std::vector<int64_t> list(Degree degree, const std::string &text) {
  auto values = parseDegreeList(degree, text);
  EXPECT_TRUE(values) << values.error().message;
  return values && *values ? **values : std::vector<int64_t>();
}

static std::string listError(Degree degree, const std::string &text) {
  auto values = parseDegreeList(degree, text);
  EXPECT_FALSE(values) << text;
  return values ? "" : values.error().message;
}

TEST(DegreeList, HoldsValuesAndRanges) {
  using Values = std::vector<int64_t>;
  EXPECT_EQ(*parseDegreeList(Degree::Tp, ""), std::nullopt);
  EXPECT_EQ(list(Degree::Tp, "4, 8"), (Values{4, 8}));
  EXPECT_EQ(list(Degree::Batch, "1:9:+4,64"), (Values{1, 5, 9, 64}));
  // By at least one more each time, and never beyond the end.
  EXPECT_EQ(list(Degree::Batch, "1:5:*1.05"), (Values{1, 2, 3, 4, 5}));
  EXPECT_EQ(list(Degree::Batch, "100:115:*1.05"), (Values{100, 105, 110, 115}));
  EXPECT_EQ(list(Degree::Batch, "3:7:*2"), (Values{3, 6}));
  EXPECT_EQ(list(Degree::Exchange, "gather,all_to_all"), (Values{2, 1}));
}

TEST(DegreeList, SaysWhatItWanted) {
  for (const char *text :
       {"x", "1,", ",", "0", "8:4:+1", "1:8", "1:8:", "1:8:*1", "1:8:+0.5",
        "1:8:-1", "1:8:*nan", "1:8:*inf", "1:8:+2x"})
    EXPECT_EQ(
        listError(Degree::Batch, text)
            .find("'batch' is '" + std::string(text) +
                  "', expected positive integers joined by commas, or ranges"),
        0u)
        << listError(Degree::Batch, text);
  EXPECT_EQ(listError(Degree::Exchange, "all"),
            "'exchange' is 'all', expected all_to_all or gather, or both "
            "joined by a comma");
}
