//===- SuggestTest.cpp - Tests of lists of known names --------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Support/Suggest.h"

#include <gtest/gtest.h>

using namespace shardopt;

TEST(ListKnown, byEditDistanceThenByOrder) {
  EXPECT_EQ(listKnown("h10_sxm", {"gb200", "a100_sxm", "h200_sxm", "h100_sxm"}),
            "known: h100_sxm, a100_sxm, h200_sxm, gb200; did you mean "
            "'h100_sxm'?");
  EXPECT_EQ(listKnown("", {"pp", "ep", "tp"}), "known: pp, ep, tp");
}

TEST(ListKnown, caseDoesNotCount) {
  EXPECT_EQ(listKnown("TPOT", {"ttft", "tpot"}),
            "known: tpot, ttft; did you mean 'tpot'?");
}

TEST(ListKnown, whatTheNameBeginsIsMeant) {
  EXPECT_EQ(listKnown("H100", {"h20", "h100_pcie", "h100_nvl"}),
            "known: h100_nvl, h100_pcie, h20; did you mean 'h100_nvl' or "
            "'h100_pcie'?");
  // Too short, too many, and too far to guess.
  for (const char *name : {"h1", "h10", "tpu"})
    EXPECT_EQ(listKnown(name, {"h100_a", "h100_b", "h100_c", "h100_d"}),
              "known: h100_a, h100_b, h100_c, h100_d");
}

TEST(ListKnown, longListsAreCut) {
  std::vector<std::string> names(100);
  for (size_t i = 0; i < names.size(); ++i)
    names[i] = "op" + std::to_string(i);
  EXPECT_EQ(listKnown("9", names, 2), "known: op9, op0 and 98 more");
}

TEST(Abbreviate, neverCutsWithinACharacter) {
  EXPECT_EQ(abbreviate("kurz", 4), "kurz");
  EXPECT_EQ(abbreviate("abcdefgh", 7), "abcd…");
  EXPECT_EQ(abbreviate("abcäöüxyz", 8), "abcä…");
  EXPECT_EQ(abbreviate("abcäöüxyz", 7), "abc…");
}
