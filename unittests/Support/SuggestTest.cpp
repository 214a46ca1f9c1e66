//===- SuggestTest.cpp - Tests of lists of known names --------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Support/Suggest.h"

#include <gtest/gtest.h>

using namespace shardopt;

TEST(ClosestFirst, byEditDistanceThenByOrder) {
  EXPECT_EQ(
      closestFirst("h10_sxm", {"gb200", "a100_sxm", "h200_sxm", "h100_sxm"}),
      (std::vector<std::string>{"h100_sxm", "a100_sxm", "h200_sxm", "gb200"}));
}

TEST(ClosestFirst, caseDoesNotCount) {
  EXPECT_EQ(closestFirst("H100", {"gb200", "a100_sxm", "h100_sxm"}).front(),
            "h100_sxm");
}

TEST(ClosestFirst, emptyNameKeepsNamesOfOneLengthInOrder) {
  EXPECT_EQ(closestFirst("", {"pp", "ep", "tp"}),
            (std::vector<std::string>{"pp", "ep", "tp"}));
}

TEST(ListKnown, longListsAreCut) {
  std::vector<std::string> names(100);
  for (size_t i = 0; i < names.size(); ++i)
    names[i] = "op" + std::to_string(i);
  std::string list = listKnown("op7", names);
  EXPECT_EQ(list.substr(0, 12), "known: op7, ");
  EXPECT_EQ(list.substr(list.size() - 12), " and 68 more");
}

TEST(Abbreviate, neverCutsWithinACharacter) {
  EXPECT_EQ(abbreviate("kurz", 4), "kurz");
  EXPECT_EQ(abbreviate("abcdefgh", 7), "abcd…");
  EXPECT_EQ(abbreviate("abcäöüxyz", 8), "abcä…");
  EXPECT_EQ(abbreviate("abcäöüxyz", 7), "abc…");
}
