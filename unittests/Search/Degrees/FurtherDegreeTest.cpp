//===- FurtherDegreeTest.cpp - A further degree is one entry --------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything here is built over the table in Table/, which has one entry more
// than shardopt's: `copies`, as many as ep where nothing is said.
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/StrategyJson.h"
#include "shardopt/Search/StrategySpace.h"

#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::search;

static const std::vector<std::string> ops = {"embed", "lm_head"};

static Strategy strategy(int64_t copies) {
  Strategy strategy{{8, 4, 2, 64}, {Dim::Zero, Dim::None}};
  strategy.degrees.copies = copies;
  return strategy;
}

static std::string text(int64_t copies) {
  return strategyToJson(strategy(copies), ops);
}

static StrategySpace space(const SpaceRequest &request) {
  ErrorOr<StrategySpace> space =
      StrategySpace::create({60, 16, ops, {}}, request);
  EXPECT_TRUE(space) << space.error().message;
  return *space;
}

TEST(FurtherDegree, HasItsFallbackWhereNothingIsSaid) {
  EXPECT_EQ(Degrees(8, 4, 2, 64).copies, 4);
  PartialDegrees given;
  given[Degree::Ep] = 16;
  EXPECT_EQ(given.filled().copies, 16);
  given[Degree::Copies] = 2;
  EXPECT_EQ(given.filled().copies, 2);
  EXPECT_NE(strategy(2).degrees, strategy(4).degrees);
  EXPECT_LT(strategy(2).degrees, strategy(4).degrees);
}

TEST(FurtherDegree, IsWrittenWhereItDiffersFromIt) {
  EXPECT_EQ(text(4), R"({"tp": 8, "ep": 4, "pp": 2, "batch": 64, )"
                     R"("dims": {"embed": 0, "lm_head": 2}})");
  EXPECT_EQ(text(1), R"({"copies": 1, "tp": 8, "ep": 4, "pp": 2, )"
                     R"("batch": 64, "dims": {"embed": 0, "lm_head": 2}})");
  EXPECT_EQ(spell(strategy(4).degrees), "tp 8, ep 4, pp 2, batch 64");
  EXPECT_EQ(spell(strategy(1).degrees), "copies 1, tp 8, ep 4, pp 2, batch 64");
}

TEST(FurtherDegree, IsReadBack) {
  for (int64_t copies : {1, 2, 4}) {
    ErrorOr<Strategy> read = parseStrategyLine(text(copies), ops);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, strategy(copies));
  }
}

TEST(FurtherDegree, IsCheckedAndListedLikeTheOthers) {
  auto error = [](const std::string &line) {
    return parseStrategyLine(line, ops).error().message;
  };
  EXPECT_EQ(error(R"({"copies": 0})"),
            "/copies: expected an integer from 1 to 1048576, found 0");
  EXPECT_EQ(error(R"({"copie": 1})"),
            "/copie: unknown key; known: copies, cp, tp, dp, "
            "ep, pp, tp2, eplb, batch, stages, dims, exchange; did you mean "
            "'copies'?");
}

TEST(FurtherDegree, IsNoVariableUnlessItIsAskedFor) {
  StrategySpace closed = space({});
  EXPECT_EQ(closed.firstDim(), 4u);
  EXPECT_TRUE(closed.contains(strategy(4)));
  EXPECT_FALSE(closed.contains(strategy(2)));

  SpaceRequest request;
  request.lists[Degree::Copies] = {1, 2};
  StrategySpace listed = space(request);
  EXPECT_EQ(listed.firstDim(), 5u);
  EXPECT_EQ(listed.variableName(0), "copies");
  EXPECT_FALSE(listed.contains(strategy(4)));
  EXPECT_TRUE(listed.contains(strategy(2)));
  EXPECT_EQ(listed.strategyAt(*listed.pointOf(strategy(2))), strategy(2));
  EXPECT_EQ(listed.degreeTuples().size(), 2 * closed.degreeTuples().size());

  request = {};
  request.pinned[Degree::Copies] = 2;
  EXPECT_TRUE(space(request).contains(strategy(2)));
}

TEST(FurtherDegree, IsDrawnAndRepairedWithTheOthers) {
  SpaceRequest request;
  request.lists[Degree::Copies] = {1, 2, 4};
  request.devices = 64;
  StrategySpace open = space(request);
  Rng rng(1);
  for (int i = 0; i < 200; ++i) {
    Point point = open.sample(rng);
    EXPECT_TRUE(open.contains(open.strategyAt(point)));
    for (size_t variable = 0; variable < open.batch(); ++variable)
      point[variable] = rng.below(open.domainSize(variable));
    uint32_t kept = point[1];
    open.repair(point, 1, rng);
    EXPECT_TRUE(open.fits(point));
    EXPECT_EQ(point[1], kept);
  }
}
