//===- SolverTest.cpp - Schedules against enumeration and formulas --------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/Solver.h"
#include "RandomGraph.h"
#include "shardopt/Solvers/Schedule/Patterns.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace shardopt;
using namespace shardopt::schedule;

static SolverOptions withRounds(int64_t rounds) {
  SolverOptions options;
  options.timeLimit = 0;
  options.rounds = rounds;
  return options;
}

static Instance makePipeline(Placement placement, int32_t devices,
                             int32_t microbatches, int64_t memory,
                             TrainTimes times = {}) {
  Pipeline pipeline{placement, devices, memory};
  int32_t copies = microbatches / pipeline.directions();
  return *Instance::expand(makeTrainGraph(pipeline, times, copies), copies);
}

/// The bubble that is found and proved to be the least.
static void expectBubble(const Instance &instance, int64_t bubble) {
  SolverResult result = schedule::solve(instance, withRounds(20000));
  EXPECT_FALSE(result.mistake) << result.mistake->message;
  EXPECT_EQ(result.verdict.bubble(), bubble);
  EXPECT_TRUE(result.proved);
}

TEST(Solver, BidirectionalPipelinesReachTheBound) {
  for (auto [devices, microbatches, bubble] :
       {std::tuple(4, 8, 1), std::tuple(4, 12, 1), std::tuple(8, 16, 3),
        std::tuple(8, 20, 3), std::tuple(8, 40, 3), std::tuple(16, 40, 7)})
    expectBubble(makePipeline(Placement::Bidirectional, devices, microbatches,
                              devices + 1),
                 bubble);
}

TEST(Solver, LessMemoryCostsTime) {
  expectBubble(makePipeline(Placement::Bidirectional, 8, 20, 8), 3);
  expectBubble(makePipeline(Placement::Bidirectional, 8, 20, 6), 5);
}

TEST(Solver, FoldedPipelinesReachTheBound) {
  expectBubble(makePipeline(Placement::V, 4, 10, 9), 3);
  expectBubble(makePipeline(Placement::V, 8, 20, 16), 7);
}

/// No deadlock where all stages of a device share little memory: one
/// micro-batch after the other takes 12 * 4 * 8.
TEST(Solver, WavesOverlapInLittleMemory) {
  for (auto [memory, most] :
       {std::tuple(4, 264), std::tuple(6, 170), std::tuple(8, 125)}) {
    SolverOptions options = withRounds(100);
    options.backend = "rules";
    SolverResult result =
        schedule::solve(makePipeline(Placement::Wave, 4, 8, memory), options);
    EXPECT_FALSE(result.mistake);
    EXPECT_LE(result.verdict.makespan, most) << memory;
  }
}

TEST(Solver, OneDeviceNeverIdles) {
  expectBubble(makePipeline(Placement::Linear, 1, 4, 1), 0);
}

TEST(Solver, OperatorsOfNoLength) {
  expectBubble(makePipeline(Placement::Linear, 2, 3, 2, {0, 0, 0}), 0);
  expectBubble(makePipeline(Placement::Linear, 2, 3, 2, {1, 1, 0}), 2);
}

/// Never better than the best, never below the bound, and what is proved is it.
TEST(Solver, AgreesWithEnumeration) {
  int found = 0, optimal = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomGraphOptions options;
    options.ops = seed % 2 ? 5 : 3;
    options.copies = seed % 2 ? 1 : 2;
    options.isPlaced = seed % 4 < 2;
    if (seed % 3)
      options.memory = 4;
    Instance instance = makeRandomInstance(seed, options);
    SolverResult result = schedule::solve(instance, withRounds(200));
    int64_t limit = result.schedule ? result.verdict.makespan + 1 : 8;
    std::optional<int64_t> best = findBestMakespan(instance, limit);
    EXPECT_FALSE(result.mistake) << result.mistake->message;
    found += best.has_value();
    if (!best || !result.schedule) {
      EXPECT_FALSE(result.schedule);
      continue;
    }
    EXPECT_GE(result.verdict.makespan, *best);
    EXPECT_LE(result.bound, *best);
    optimal += result.verdict.makespan == *best;
    if (result.proved)
      EXPECT_EQ(result.verdict.makespan, *best);
  }
  EXPECT_GE(optimal, found * 9 / 10) << found;
}

TEST(Solver, SaysWhyNothingFits) {
  SolverResult result =
      schedule::solve(makePipeline(Placement::Linear, 2, 2, 0), withRounds(10));
  EXPECT_FALSE(result.schedule);
  ASSERT_TRUE(result.shortage.has_value());
  EXPECT_NE(result.shortage->message.find("a memory of 1 would fit"),
            std::string::npos);
}

TEST(Solver, SameAtAnyNumberOfThreads) {
  Instance instance =
      makePipeline(Placement::Bidirectional, 4, 8, 4, {10, 10, 8});
  SolverOptions options = withRounds(200);
  SolverResult one = schedule::solve(instance, options);
  options.threads = 3;
  SolverResult three = schedule::solve(instance, options);
  ASSERT_TRUE(one.schedule && three.schedule);
  EXPECT_EQ(one.schedule->starts, three.schedule->starts);
  EXPECT_EQ(one.finder, three.finder);
}

/// A limit that is over at once still ends with a schedule and a bound.
TEST(Solver, ATimeLimitEndsWithTheBestSoFar) {
  for (const std::string &backend : schedule::backendNames())
    for (bool isPlaced : {true, false}) {
      SCOPED_TRACE(backend);
      RandomGraphOptions graph;
      graph.ops = 100;
      graph.edgePercent = 2;
      graph.copies = 4;
      graph.isPlaced = isPlaced;
      SolverOptions options;
      options.backend = backend;
      options.timeLimit = 1e-9;
      SolverResult result =
          schedule::solve(makeRandomInstance(1, graph), options);
      ASSERT_TRUE(result.schedule);
      EXPECT_GE(result.verdict.makespan, result.bound);
      EXPECT_GT(result.bound, 0);
      EXPECT_TRUE(result.proved || result.stopped == "time");
    }
}

/// Whatever a solver does with its own clock.
TEST(Solver, SolversEndInTheMiddle) {
  Instance instance = makePipeline(Placement::Linear, 8, 20, 8);
  for (const std::string &backend : schedule::backendNames()) {
    SCOPED_TRACE(backend);
    SolverOptions options;
    options.backend = backend;
    options.timeLimit = 0.05;
    SolverResult result = schedule::solve(instance, options);
    ASSERT_TRUE(result.schedule);
    EXPECT_GE(result.verdict.makespan, result.bound);
  }
}

/// A back-end is there, or there is a library to install.
TEST(Solver, WhatABuildLacksHasAName) {
  std::vector<std::string> built = backendNames();
  for (const char *name :
       {"portfolio", "rules", "local", "sat", "modulo", "mip"}) {
    bool isBuilt = std::count(built.begin(), built.end(), name);
    EXPECT_EQ(missingLibrary(name).empty(), isBuilt) << name;
  }
}

TEST(Solver, TheSpanOfADeviceIsAnObjective) {
  Instance instance = makePipeline(Placement::V, 4, 10, 9);
  SolverOptions options = withRounds(20000);
  options.objective = Criterion::OwnSpan;
  SolverResult result = schedule::solve(instance, options);
  ASSERT_TRUE(result.schedule);
  // F, Bi and W of two chunks, ten times, without a pause.
  EXPECT_EQ(result.value, 60);
  EXPECT_EQ(result.bound, 60);
  EXPECT_TRUE(result.proved);
  EXPECT_EQ(result.value, result.verdict.ownSpan());
  for (const DeviceUse &device : result.verdict.devices)
    EXPECT_EQ(device.ownSpanIdle(), 0);
}

/// A chain leaves its operators no choice, but has as many times as a long one:
/// models of those are not built.
TEST(Solver, TimesOfManyUnitsAreNotCounted) {
  SolverResult result =
      schedule::solve(makePipeline(Placement::Linear, 4, 4, 4,
                                   {1'000'003, 2'000'003, 1'500'007}),
                      withRounds(64));
  ASSERT_TRUE(result.schedule);
  EXPECT_LE(result.bound, result.value);
}

/// Where any schedule fits, one is found, and where none does, that is said.
static void expectFitting(const RandomGraphOptions &options, int numSeeds) {
  // All operators one after the other, and one more.
  int64_t limit = options.ops * options.copies * options.mostTime + 1;
  int found = 0, refuted = 0;
  for (int seed = 0; seed < numSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Instance instance = makeRandomInstance(uint64_t(seed), options);
    SolverResult result = schedule::solve(instance, withRounds(20));
    bool exists = findBestMakespan(instance, limit).has_value();
    EXPECT_EQ(result.schedule.has_value(), exists);
    EXPECT_EQ(result.shortage.has_value(), !exists);
    EXPECT_FALSE(result.mistake);
    ++(exists ? found : refuted);
  }
  EXPECT_GE(found, numSeeds / 10);
  EXPECT_GE(refuted, numSeeds / 10);
}

TEST(Solver, FindsPlacementsWithLittleMemory) {
  RandomGraphOptions options;
  options.ops = 4;
  options.devices = 2;
  options.leastTime = 1;
  options.mostTime = 2;
  options.edgePercent = 20;
  options.birthPercent = 80;
  options.mostBytes = 0;
  options.isPlaced = false;
  options.memory = 2;
  expectFitting(options, 100);
}

TEST(Solver, FindsOrdersWithLittleMemory) {
  RandomGraphOptions options;
  options.ops = 3;
  options.copies = 2;
  options.devices = 1;
  options.leastTime = options.mostTime = 1;
  options.edgePercent = 20;
  options.birthPercent = 80;
  options.mostBytes = 0;
  options.memory = 4;
  expectFitting(options, 100);
}

/// The work of all micro-batches first, then what stays of each.
TEST(Solver, BytesThatStayNeedNotComeBetween) {
  PlanGraph graph;
  graph.deviceKinds = {"device"};
  graph.devices = {{0, 20}};
  graph.groups = {{"all", 0}};
  graph.ops.resize(3);
  for (PlanOp &op : graph.ops) {
    op.group = 0;
    op.times = {1};
  }
  graph.ops[0].birthBytes = 20;
  graph.ops[1].frees = {0};
  graph.ops[2].birthBytes = 10;
  graph.edges = {{0, 1}, {1, 2}};
  SolverResult result =
      schedule::solve(*Instance::expand(graph, 2), withRounds(10));
  ASSERT_TRUE(result.schedule);
  EXPECT_EQ(result.verdict.peakMemory(), 20);
}

/// No placement of a pipeline holds more than the least that it can.
TEST(Solver, MemoryOfAllPlacementsIsTheLeast) {
  for (Placement placement : {Placement::Linear, Placement::Bidirectional,
                              Placement::V, Placement::Wave}) {
    Instance instance = makePipeline(placement, 4, 8, 32);
    SolverOptions options = withRounds(50);
    options.objective = Criterion::Memory;
    SolverResult result = schedule::solve(instance, options);
    ASSERT_TRUE(result.schedule);
    EXPECT_TRUE(result.proved);
    EXPECT_EQ(result.verdict.peakMemory(), result.value);
    Instance smaller = instance.withMemory(result.value - 1);
    EXPECT_TRUE(checkCapacity(smaller, smaller.placement()));
  }
}

/// The least memory of small graphs is that below which nothing fits.
TEST(Solver, LeastMemoryIsWhereSchedulesBegin) {
  RandomGraphOptions options;
  options.ops = 4;
  options.leastTime = 1;
  options.mostTime = 2;
  options.edgePercent = 20;
  options.birthPercent = 80;
  options.mostBytes = 0;
  options.isPlaced = false;
  int64_t limit = 9; // all operators one after the other, and one more
  SolverOptions memory = withRounds(20);
  memory.objective = Criterion::Memory;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Instance instance = makeRandomInstance(seed, options);
    SolverResult result = schedule::solve(instance, memory);
    ASSERT_TRUE(result.schedule);
    EXPECT_TRUE(result.proved);
    EXPECT_TRUE(findBestMakespan(instance.withMemory(result.value), limit));
    if (result.value > 0) {
      EXPECT_FALSE(
          findBestMakespan(instance.withMemory(result.value - 1), limit));
    }
  }
}

/// One micro-batch after the other takes the least memory there is; of those
/// schedules, the shortest.
TEST(Solver, MemoryIsAnObjective) {
  Instance instance = makePipeline(Placement::Linear, 3, 6, 6);
  SolverOptions options = withRounds(2000);
  options.objective = Criterion::Memory;
  SolverResult result = schedule::solve(instance, options);
  ASSERT_TRUE(result.schedule);
  EXPECT_EQ(result.value, 1);
  EXPECT_EQ(result.verdict.peakMemory(), 1);
  EXPECT_TRUE(result.proved);
  options.objective = Criterion::Makespan;
  EXPECT_EQ(result.verdict.makespan,
            schedule::solve(instance.withMemory(1), options).verdict.makespan);
  SolverResult fast = schedule::solve(instance, options);
  EXPECT_LT(fast.verdict.makespan, result.verdict.makespan);
  EXPECT_GT(fast.verdict.peakMemory(), 1);
}
