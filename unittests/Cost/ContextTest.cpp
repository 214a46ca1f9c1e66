//===- ContextTest.cpp - Sizes derived from degrees -----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/Context.h"
#include "shardopt/Model/Heads.h"
#include "shardopt/Model/LayerIndex.h"

#include "TestModels.h"

#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::test;

namespace {

TEST(Context, DividesTheBatchOverGroupsAndMicroBatches) {
  Context context = makeContext({Phase::Decode, 4096}, {8, 3, 4, 100});
  EXPECT_EQ(context.groupBatch, 34);
  EXPECT_EQ(context.microBatches, 4);
  EXPECT_EQ(context.microBatch, 9);
  EXPECT_EQ(context.rows, 9);

  // No more micro-batches than sequences.
  context = makeContext({Phase::Prefill, 4096}, {8, 3, 4, 4});
  EXPECT_EQ(context.microBatches, 2);
  EXPECT_EQ(context.microBatch, 1);
  EXPECT_EQ(context.rows, 4096);
}

TEST(Context, RowsOfATokenShardedTensorRoundUp) {
  Context context = makeContext({Phase::Decode, 1}, {8, 1, 1, 1});
  EXPECT_EQ(context.localRows(Layout::T, 16), 2);
  EXPECT_EQ(context.localRows(Layout::T, 16.5), 3);
  EXPECT_EQ(context.localRows(Layout::T, 16 * (1 + 1e-15)), 2);
  EXPECT_EQ(context.localRows(Layout::H, 16.5), 16.5);
}

TEST(Routing, OneGroupHasNoImbalance) {
  Routing routing = makeRouting(16, 2, 64, Degrees(1, 1, 1, 1), 0.1);
  EXPECT_EQ(routing.imbalance, 1);
  EXPECT_EQ(routing.copies, 128);
  EXPECT_EQ(routing.localExperts, 16);
}

TEST(Routing, AGroupGetsNoMoreThanEveryRowForEachOfItsExperts) {
  Routing routing = makeRouting(16, 2, 1, Degrees(1, 16, 1, 16), 0.1);
  EXPECT_EQ(routing.localExperts, 1);
  EXPECT_EQ(routing.copies, 2 * (1.1 + std::sqrt(std::log(16.0))));
  EXPECT_EQ(makeRouting(16, 8, 1, Degrees(1, 16, 1, 16), 100.0).copies, 16);
  EXPECT_EQ(makeRouting(16, 8, 1, Degrees(1, 16, 1, 16), 100.0).imbalance, 2);
}

TEST(Routing, WithoutImbalanceLoadsAreEven) {
  Routing routing = makeRouting(16, 2, 8, Degrees(1, 16, 1, 16), std::nullopt);
  EXPECT_EQ(routing.imbalance, 1);
  EXPECT_EQ(routing.copies, 16);
}

TEST(Routing, LocalExpertsRoundUp) {
  EXPECT_EQ(makeRouting(60, 4, 8, Degrees(1, 16, 1, 16), 0.1).localExperts, 4);
}

TEST(Heads, KvHeadsThatTheQueryHeadsOfARankTouch) {
  EXPECT_EQ(localKvHeads(96, 8, 1), 8);
  EXPECT_EQ(localKvHeads(96, 8, 8), 1);
  EXPECT_EQ(localKvHeads(96, 8, 64), 1);
  EXPECT_EQ(localKvHeads(40, 8, 16), 2); // heads 3 to 5 touch two
  EXPECT_EQ(localKvHeads(6, 2, 4), 2);
  EXPECT_EQ(localHeads(40, 16), 3);
}

Model layersOf(int64_t layers) {
  ModelConfig config = llama70B();
  config.layers = layers;
  return makeModel(config, {Phase::Decode, 1});
}

TEST(LayerIndex, StagesBeforeTheLastGetTheLayersLeftOver) {
  LayerIndex index(layersOf(10));
  std::vector<int64_t> first;
  for (int64_t stage = 0; stage <= 4; ++stage)
    first.push_back(index.firstLayer(stage, Degrees(1, 1, 4, 1)));
  EXPECT_EQ(first, (std::vector<int64_t>{0, 2, 5, 8, 10}));
  // Two left over: all but the last get one.
  EXPECT_EQ(LayerIndex(layersOf(11)).firstLayer(1, Degrees(1, 1, 3, 1)), 4);
  EXPECT_EQ(LayerIndex(layersOf(11)).firstLayer(2, Degrees(1, 1, 3, 1)), 8);
}

TEST(LayerIndex, EqualStagesAreListedOnce) {
  std::vector<Stage> stages =
      LayerIndex(layersOf(80)).stages(Degrees(1, 1, 24, 1));
  // 3 layers in the first 15 stages and the last, 4 in the 8 before it.
  ASSERT_EQ(stages.size(), 4u);
  EXPECT_EQ(stages[0].repeats, 1);
  EXPECT_EQ(stages[1].repeats, 14);
  EXPECT_EQ(stages[2].repeats, 8);
  EXPECT_EQ(stages[2].kinds, std::vector<int64_t>{4});
  EXPECT_EQ(stages[3].kinds, std::vector<int64_t>{3});
  EXPECT_EQ(stages[3].transitions, std::vector<int64_t>{2});
}

TEST(LayerIndex, CountsLayersByBodyAndWindow) {
  LayerIndex gptOss(makeModel(gptOss120B(), {Phase::Decode, 1}));
  ASSERT_EQ(gptOss.kinds().size(), 2u);
  EXPECT_EQ(gptOss.kinds()[0].window, 128);
  EXPECT_EQ(gptOss.stages(Degrees(1, 1, 1, 1))[0].kinds,
            (std::vector<int64_t>{18, 18}));

  LayerIndex deepSeek(makeModel(deepSeekV3(), {Phase::Decode, 1}));
  std::vector<Stage> stages = deepSeek.stages(Degrees(1, 1, 3, 1));
  ASSERT_EQ(stages.size(), 3u);
  EXPECT_EQ(stages[0].kinds, (std::vector<int64_t>{3, 17}));
  // Two dense layers before a dense one, one before a routed one.
  EXPECT_EQ(stages[0].transitions, (std::vector<int64_t>{2, 1, 17}));
  EXPECT_EQ(stages[1].kinds, (std::vector<int64_t>{0, 21}));
}

} // namespace
