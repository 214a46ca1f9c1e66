//===- StageCutTest.cpp - Tests of the layers of stages -------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/StageCut.h"
#include "shardopt/Model/Degrees.h"

#include <gtest/gtest.h>

using namespace shardopt;

TEST(StageCut, EvenCutsGiveWhatIsLeftToTheStagesBeforeTheLast) {
  EXPECT_EQ(evenCut(11, 3).layers, (std::vector<int64_t>{4, 4, 3}));
  EXPECT_EQ(evenCut(10, 3).layers, (std::vector<int64_t>{3, 4, 3}));
  EXPECT_TRUE(evenCut(10, 3).isEven());
  EXPECT_FALSE((StageCut{{4, 3, 3}}).isEven());
  EXPECT_TRUE(StageCut().isEven());
}

TEST(StageCut, FirstLayersAddUp) {
  StageCut cut{{4, 1, 3}};
  for (auto [stage, first] : {std::pair{0, 0}, {1, 4}, {2, 5}, {3, 8}})
    EXPECT_EQ(cut.firstLayer(8, stage, 3), first);
  for (int64_t stage = 0; stage <= 3; ++stage)
    EXPECT_EQ(StageCut().firstLayer(8, stage, 3),
              evenCut(8, 3).firstLayer(8, stage, 3));
}

TEST(StageCut, Spelling) {
  EXPECT_EQ(spell(StageCut{{8, 8, 7}}), "8, 8, 7");
  EXPECT_EQ(abbreviate(StageCut{{8, 8, 7}}), "2 x 8, 7");
  EXPECT_EQ(parseStageCut("8,8,7")->layers, (std::vector<int64_t>{8, 8, 7}));
  EXPECT_TRUE(parseStageCut("")->isEmpty());
  for (const char *text : {"8,", ",8", "8,x", "0,8", "8;8", "-1"})
    EXPECT_EQ(parseStageCut(text).error().message,
              std::string("'stages' is '") + text +
                  "', expected the layers of each stage, positive integers "
                  "joined by commas");
}

TEST(StageCut, Errors) {
  EXPECT_EQ(stageCutError(StageCut{{3, 5}}, 2, 8), std::nullopt);
  EXPECT_EQ(stageCutError(StageCut(), 9, 8), std::nullopt);
  EXPECT_EQ(stageCutError(StageCut{{3, 4}}, 2, 8),
            "'stages' adds up to 7 layers, expected all 8, such as 2 x 4");
  EXPECT_EQ(stageCutError(StageCut{{8, 0}}, 2, 8),
            "'stages' has 0 layers in stage 1, expected 1 to 1048576");
  EXPECT_EQ(stageCutError(StageCut{{8}}, 2, 8),
            "'stages' has the layers of 1 stage, expected as many as pp, 2");
}

TEST(StageCut, IsPartOfDegrees) {
  Degrees even(1, 1, 2, 8), cut = even;
  cut.stages.layers = {1, 3};
  EXPECT_NE(even, cut);
  EXPECT_LT(even, cut);
  EXPECT_EQ(spell(cut), "tp 1, ep 1, pp 2, batch 8, stages 1, 3");
  EXPECT_EQ(PartialDegrees(cut).filled(), cut);
  EXPECT_FALSE(PartialDegrees(cut) == PartialDegrees(even));
}
