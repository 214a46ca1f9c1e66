//===- TrainingStepTest.cpp - A model that is trained, in chunks ----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/Ordering/TrainingStep.h"
#include "shardopt/Cost/Roofline.h"
#include "shardopt/Planning/Ordering/StepGraph.h"

#include "TestModels.h"

#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::test;
using namespace shardopt::ordering;
using schedule::TrainChunks;

namespace {

const Workload prompt{Phase::Prefill, 2048};

/// All devices of a stage have all of it.
Strategy replicated(const CostModel &costs, int64_t stages) {
  Strategy strategy;
  strategy.degrees = {1, 1, stages, stages};
  strategy.dims.assign(costs.model().numVariables(), Dim::None);
  return strategy;
}

TrainChunks::Chunk sum(const TrainChunks &train) {
  TrainChunks::Chunk all{{0, 0, 0}, 0, 0};
  for (const TrainChunks::Chunk &chunk : train.chunks) {
    all.times.forward += chunk.times.forward;
    all.times.inputGradient += chunk.times.inputGradient;
    all.times.weightGradient += chunk.times.weightGradient;
    all.activation += chunk.activation;
    all.parameters += chunk.parameters;
  }
  return all;
}

TEST(TrainingStep, ChunksAddUpToTheModel) {
  for (const ModelConfig &config : {llama70B(), gptOss120B()}) {
    CostModel costs = makeCosts(config, prompt, h100());
    auto step = TrainingStep::create(costs, replicated(costs, 4));
    ASSERT_TRUE(step) << step.error().message;
    std::optional<TrainChunks::Chunk> first;
    for (schedule::Placement placement :
         {schedule::Placement::Linear, schedule::Placement::V,
          schedule::Placement::Wave}) {
      schedule::Pipeline pipeline{placement, 4, std::nullopt};
      std::optional<TrainChunks> train = step->divide(pipeline, 8);
      ASSERT_TRUE(train);
      EXPECT_EQ(train->chunks.size(), size_t(pipeline.chunks()));
      TrainChunks::Chunk all = sum(*train);
      if (!first)
        first = all;
      EXPECT_EQ(all.times.forward, first->times.forward);
      EXPECT_EQ(all.times.inputGradient, first->times.inputGradient);
      EXPECT_EQ(all.times.weightGradient, first->times.weightGradient);
      EXPECT_EQ(all.activation, first->activation);
      EXPECT_EQ(all.parameters, first->parameters);
    }
  }
}

/// All of a dense model's products have weights: their gradients take as long
/// as the products, and the rest of the forward pass has none.
TEST(TrainingStep, GradientsOfWeightsAreThoseOfProducts) {
  CostModel costs = makeCosts(llama70B(), prompt, h100());
  Strategy strategy = replicated(costs, 1);
  auto training = TrainingStep::create(costs, strategy);
  ASSERT_TRUE(training) << training.error().message;
  TrainChunks::Chunk all =
      sum(*training->divide({schedule::Placement::Linear, 1, std::nullopt}, 1));
  EXPECT_LT(all.times.weightGradient, all.times.forward);
  EXPECT_GT(all.times.weightGradient, all.times.forward / 2);
  // Attention alone takes longer backward than forward.
  EXPECT_GT(all.times.inputGradient, all.times.forward);
  EXPECT_LT(all.times.inputGradient, 2 * all.times.forward);
  // 70.6e9 parameters.
  EXPECT_NEAR(double(all.parameters) / bytesOfTrainedParameter, 70.6e9, 0.1e9);

  // The head sees all rows and not the last one alone.
  ErrorOr<StepGraph> inference = makeStepGraph(costs, strategy, {});
  ASSERT_TRUE(inference);
  int64_t forward = 0;
  for (const schedule::PlanOp &op : inference->graph.ops)
    forward += op.times[0];
  EXPECT_GT(all.times.forward, forward);
}

/// No device works more than two layers above the mean.
TEST(TrainingStep, DevicesWorkAboutAsMuch) {
  CostModel costs = makeCosts(llama70B(), prompt, h100());
  auto step = TrainingStep::create(costs, replicated(costs, 8));
  ASSERT_TRUE(step);
  for (schedule::Placement placement :
       {schedule::Placement::Linear, schedule::Placement::V}) {
    schedule::Pipeline pipeline{placement, 8, std::nullopt};
    std::optional<TrainChunks> train = step->divide(pipeline, 20);
    ASSERT_TRUE(train);
    std::vector<int64_t> load(8, 0);
    int64_t whole = 0;
    for (size_t c = 0; c < train->chunks.size(); ++c) {
      const schedule::TrainTimes &times = train->chunks[c].times;
      int64_t work = times.forward + times.inputGradient + times.weightGradient;
      load[size_t(pipeline.deviceOf(0, int32_t(c)))] += work;
      whole += work;
    }
    EXPECT_LT(*std::max_element(load.begin(), load.end()),
              whole / 8 + 2 * whole / 80);
  }
}

TEST(TrainingStep, IsOfPromptsAndHasALayerAChunk) {
  CostModel decode = makeCosts(llama70B(), {Phase::Decode, 2048}, h100());
  auto refused = TrainingStep::create(decode, replicated(decode, 1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "training is of whole sequences, expected phase 'prefill', found "
            "'decode'");
  CostModel costs = makeCosts(llama70B(), prompt, h100());
  auto step = TrainingStep::create(costs, replicated(costs, 1));
  ASSERT_TRUE(step);
  EXPECT_FALSE(step->divide({schedule::Placement::Wave, 21, std::nullopt}, 2));
  EXPECT_TRUE(step->divide({schedule::Placement::Wave, 20, std::nullopt}, 2));
}

} // namespace
