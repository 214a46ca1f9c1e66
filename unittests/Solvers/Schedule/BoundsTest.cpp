//===- BoundsTest.cpp - Bounds hold, and meet the formulas ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/Bounds.h"
#include "RandomGraph.h"
#include "shardopt/Solvers/Schedule/Patterns.h"

#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::schedule;

/// The bubble that no schedule of a pipeline can undercut.
static int64_t leastBubble(Placement placement, int32_t devices,
                           int32_t microbatches, int64_t memory,
                           TrainTimes times = {}) {
  Pipeline pipeline{placement, devices, memory};
  int32_t copies = microbatches / pipeline.directions();
  Instance instance =
      *Instance::expand(makeTrainGraph(pipeline, times, copies), copies);
  int64_t work = (times.forward + times.inputGradient + times.weightGradient) *
                 microbatches * (pipeline.chunks() / devices);
  return computeBounds(instance, instance.placement()).makespan() - work;
}

TEST(Bounds, PipelinesFillAndDrain) {
  EXPECT_EQ(leastBubble(Placement::Linear, 8, 20, 100), 7);
  EXPECT_EQ(leastBubble(Placement::Bidirectional, 8, 20, 100), 3);
  EXPECT_EQ(leastBubble(Placement::Bidirectional, 8, 20, 9, {297, 294, 199}),
            891);
  EXPECT_EQ(leastBubble(Placement::V, 4, 10, 9), 3);
}

/// With memory for 4 the steady state's schedule reaches it; for 6 and more the
/// ramp is as long.
TEST(Bounds, MemoryRampAndTurn) {
  int64_t expected[] = {11, 8, 5, 4, 3, 3};
  for (int64_t memory = 4; memory <= 9; ++memory)
    EXPECT_EQ(leastBubble(Placement::Bidirectional, 8, 20, memory),
              expected[memory - 4])
        << memory;
}

/// The last of 20 chunks begins once 11 have given their activations back; what
/// is between its experts and the end then is 118 long.
TEST(Bounds, MemoryTurnOfSingleOperators) {
  Pipeline pipeline{Placement::Bidirectional, 8, 9};
  ExpertTimes times{3, 2, 2, 3};
  Instance instance =
      *Instance::expand(makeExpertTrainGraph(pipeline, times, 10), 10);
  Bounds bounds = computeBounds(instance, instance.placement());
  EXPECT_EQ(bounds.memoryRamp, 300 + 68);
  EXPECT_EQ(bounds.memoryTurn, 300 + 94);
}

TEST(Bounds, MemoryTurnsHoldForSmallGraphs) {
  int tight = 0;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    RandomGraphOptions options;
    options.ops = 3;
    options.copies = 2;
    options.devices = 1 + int32_t(seed % 2);
    options.commPercent = 20;
    options.birthPercent = 60;
    options.memory = 2;
    Instance instance = makeRandomInstance(seed, options);
    if (checkCapacity(instance, instance.placement()))
      continue;
    int64_t turn = computeBounds(instance, instance.placement()).memoryTurn;
    std::optional<int64_t> best = findBestMakespan(instance, 11);
    if (!turn || !best)
      continue;
    EXPECT_LE(turn, *best) << "seed " << seed;
    tight += turn == *best;
  }
  EXPECT_GE(tight, 10);
}

TEST(Bounds, HoldForSmallGraphs) {
  int tight = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomGraphOptions options;
    options.ops = 5;
    options.isPlaced = seed % 3 != 0;
    if (seed % 2)
      options.memory = 4;
    Instance instance = makeRandomInstance(seed, options);
    Bounds bounds = computeBounds(instance, instance.placement());
    if (std::optional<Error> shortage =
            checkCapacity(instance, instance.placement())) {
      EXPECT_FALSE(findBestMakespan(instance, 12)) << shortage->message;
      continue;
    }
    std::optional<int64_t> best = findBestMakespan(instance, 12);
    if (!best)
      continue;
    EXPECT_LE(bounds.makespan(), *best);
    tight += bounds.makespan() == *best;
  }
  EXPECT_GE(tight, 20);
}

TEST(Capacity, SaysWhatWouldFit) {
  Pipeline pipeline{Placement::Linear, 2, 4};
  PlanGraph graph = makeTrainGraph(pipeline, {}, 1);
  graph.ops[1].birthBytes = 3;
  graph.ops[1].parameterBytes = 2;
  Instance instance = *Instance::expand(graph, 1);
  std::optional<Error> shortage = checkCapacity(instance, instance.placement());
  ASSERT_TRUE(shortage.has_value());
  EXPECT_EQ(shortage->message,
            "device 1 cannot hold even one micro-batch: 3 of activations and 2 "
            "of parameters are 1 more than its memory of 4; a memory of 5 "
            "would fit");
  Instance larger = instance.withMemory(5);
  EXPECT_FALSE(checkCapacity(larger, larger.placement()));
}
