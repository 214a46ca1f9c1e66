//===- DegreesTest.cpp - The table of degrees -----------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/Degrees.h"

#include "gtest/gtest.h"

#include <set>

using namespace shardopt;

TEST(Degrees, NamesAreDifferentAndReadBack) {
  std::set<std::string> names;
  for (Degree degree : allDegrees) {
    EXPECT_EQ(parseDegree(spell(degree)), degree);
    EXPECT_TRUE(names.insert(spell(degree)).second);
  }
  EXPECT_EQ(parseDegree("dims"), std::nullopt);
}

TEST(Degrees, ValuesAreNumbersOrNames) {
  EXPECT_EQ(spell(Degree::Tp, 8), "8");
  EXPECT_EQ(parseDegreeValue(Degree::Tp, "8"), 8);
  for (const char *text : {"", "0", "8x", "-1", "1048577", "gather"})
    EXPECT_EQ(parseDegreeValue(Degree::Tp, text), std::nullopt) << text;
  EXPECT_EQ(spell(Degree::Exchange, exchangeGather), "gather");
  EXPECT_EQ(parseDegreeValue(Degree::Exchange, "gather"), exchangeGather);
  EXPECT_EQ(parseDegreeValue(Degree::Exchange, "2"), std::nullopt);
  EXPECT_EQ(wantedOf(Degree::Tp), "an integer from 1 to 1048576");
  EXPECT_EQ(wantedOf(Degree::Exchange), "all_to_all or gather");
}

TEST(Degrees, DefaultsAreThoseOfAUniformGrid) {
  Degrees degrees = {8, 4, 2, 64};
  EXPECT_EQ(degrees.dp, 4);
  EXPECT_EQ(degrees.cp, 1);
  EXPECT_EQ(degrees.exchange, exchangeAllToAll);
  EXPECT_TRUE(degrees.isUniform());
  degrees.dp = 2;
  degrees.exchange = exchangeGather;
  EXPECT_FALSE(degrees.isUniform());
  EXPECT_EQ(degrees.devices(), 8 * 2 * 2);
  EXPECT_EQ(spell(degrees),
            "tp 8, dp 2, ep 4, pp 2, exchange gather, batch 64");
}

TEST(Degrees, EveryAxisIsTheSizeOfOneDegree) {
  std::set<GridAxis> axes;
  for (const DegreeInfo &info : degreeTable)
    if (info.axis)
      EXPECT_TRUE(axes.insert(*info.axis).second) << info.name;
  EXPECT_EQ(axes.size(), numGridAxes);
}

TEST(Degrees, AreFoundByName) {
  Degrees degrees = {8, 4, 2, 64};
  EXPECT_EQ(degrees[Degree::Tp], 8);
  EXPECT_EQ(degrees[Degree::Batch], 64);
  degrees[Degree::Ep] = degrees[Degree::Dp] = 16;
  EXPECT_EQ(degrees.ep, 16);
  EXPECT_EQ(degrees.devices(), 8 * 16 * 2);
  EXPECT_EQ(spell(degrees), "tp 8, ep 16, pp 2, batch 64");
  EXPECT_STREQ(devicesFormula(/*isDpWritten=*/false), "tp * ep * pp");
  EXPECT_STREQ(devicesFormula(/*isDpWritten=*/true), "tp * dp * pp");
}

TEST(Degrees, CompareInTheOrderOfTheTable) {
  EXPECT_EQ(Degrees(8, 4, 2, 64), Degrees(8, 4, 2, 64));
  EXPECT_LT(Degrees(4, 8, 8, 64), Degrees(8, 1, 1, 1));
  EXPECT_LT(Degrees(8, 4, 2, 32), Degrees(8, 4, 2, 64));
}

TEST(Degrees, PartOfThemSayWhatIsMissing) {
  PartialDegrees given;
  EXPECT_TRUE(given.isEmpty());
  EXPECT_EQ(given.firstMissing(), Degree::Tp);
  given[Degree::Tp] = 8;
  EXPECT_FALSE(given.isEmpty());
  EXPECT_EQ(given.firstMissing(), Degree::Ep);
  EXPECT_EQ(given.filled(), Degrees(8, 1, 1, 1));
  EXPECT_EQ(PartialDegrees(Degrees(8, 4, 2, 64)).firstMissing(), std::nullopt);
}
