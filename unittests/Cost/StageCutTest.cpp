//===- StageCutTest.cpp - Costs of stages of unlike layers ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Breakdown.h"
#include "shardopt/Cost/Tables/Evaluate.h"
#include "shardopt/Support/Rng.h"

#include "TestModels.h"

#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::test;

namespace {

/// `numLayers` layers divided at random over `pp` stages.
StageCut randomCut(Rng &rng, int64_t numLayers, int64_t pp) {
  StageCut cut;
  cut.layers.assign(pp, 1);
  for (int64_t i = pp; i < numLayers; ++i)
    ++cut.layers[rng.below(pp)];
  return cut;
}

Strategy strategyOf(const CostModel &costs, const Degrees &degrees) {
  Strategy s{degrees, {}};
  s.dims.assign(costs.model().numVariables(), Dim::Zero);
  return s;
}

/// Tables count layers by kind, the breakdown goes layer by layer.
TEST(StageCut, TablesAgreeWithTheBreakdown) {
  Rng rng(3);
  for (const ModelConfig &config :
       {llama70B(), deepSeekV3(), gptOss120B(), mixtral8x22B()})
    for (Phase phase : {Phase::Decode, Phase::Prefill}) {
      CostModel costs = makeCosts(config, {phase, 8192}, h200());
      for (int i = 0; i < 50; ++i) {
        Degrees degrees(8, 1, 2 + int64_t(rng.below(6)), 64);
        degrees.stages = randomCut(rng, costs.model().numLayers(), degrees.pp);
        Strategy s = strategyOf(costs, degrees);
        for (Dim &dim : s.dims)
          dim = static_cast<Dim>(rng.below(3));
        Evaluation fast = evaluate(costs, s);
        Breakdown slow = breakdown(costs, s);
        ASSERT_EQ(fast.reason, slow.evaluation.reason) << spell(degrees);
        EXPECT_NEAR(fast.throughput, slow.evaluation.throughput,
                    1e-9 * fast.throughput);
        EXPECT_NEAR(fast.memoryGb, slow.evaluation.memoryGb,
                    1e-9 * fast.memoryGb);
        if (fast.hasMetrics())
          EXPECT_EQ(int64_t(slow.stageMs.size()), degrees.pp);
      }
    }
}

TEST(StageCut, AnEvenCutIsWhatSaysNothing) {
  CostModel costs = makeCosts(llama70B(), {Phase::Decode, 8192}, h200());
  Degrees degrees(4, 1, 3, 64);
  Evaluation even = evaluate(costs, strategyOf(costs, degrees));
  degrees.stages = evenCut(80, 3);
  Evaluation cut = evaluate(costs, strategyOf(costs, degrees));
  EXPECT_EQ(cut.throughput, even.throughput);
  EXPECT_EQ(cut.memoryGb, even.memoryGb);
}

/// The slowest stage is that of most layers, and the fullest one too.
TEST(StageCut, EachStageHasTheTimeAndBytesOfItsLayers) {
  CostModel costs = makeCosts(llama70B(), {Phase::Decode, 8192}, h200());
  Degrees degrees(4, 1, 4, 64);
  degrees.stages.layers = {10, 40, 20, 10};
  Breakdown found = breakdown(costs, strategyOf(costs, degrees));
  ASSERT_EQ(found.stageMs.size(), 4u);
  EXPECT_EQ(found.fullestStage, 1);
  EXPECT_NEAR(found.stageMs[1], 2 * found.stageMs[2], 0.02 * found.stageMs[1]);
}

TEST(StageCut, OtherLayersAreStructural) {
  CostModel costs = makeCosts(llama70B(), {Phase::Decode, 8192}, h200());
  Degrees degrees(4, 1, 2, 64);
  for (std::vector<int64_t> layers :
       {std::vector<int64_t>{40, 39}, {80}, {80, 0}, {30, 30, 20}}) {
    degrees.stages.layers = layers;
    Strategy s = strategyOf(costs, degrees);
    EXPECT_EQ(evaluate(costs, s).reason, Reason::Structural);
    EXPECT_EQ(breakdown(costs, s).evaluation.reason, Reason::Structural);
    EXPECT_TRUE(costs.structuralError(degrees));
  }
  degrees.stages.layers = {40, 39};
  EXPECT_EQ(*costs.structuralError(degrees),
            "'stages' adds up to 79 layers, expected all 80, such as 2 x 40");
}

} // namespace
