//===- StepModelTest.cpp - Exact back-ends against enumeration ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/StepModel.h"
#include "RandomGraph.h"
#include "shardopt/Solvers/Schedule/Patterns.h"
#include "shardopt/Solvers/Schedule/Solver.h"

#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::schedule;

static SolverOptions exact(const std::string &backend) {
  SolverOptions options;
  options.backend = backend;
  options.timeLimit = 0;
  options.rounds = 1'000'000;
  return options;
}

/// What is proved is the best of all, and where there is one it is proved.
static void expectExact(const std::string &backend) {
  if (!missingLibrary(backend).empty())
    GTEST_SKIP() << missingLibrary(backend);
  int found = 0;
  for (uint64_t seed = 100; seed < 130; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomGraphOptions options;
    options.ops = seed % 2 ? 5 : 2;
    options.copies = seed % 2 ? 1 : 2;
    if (seed % 3)
      options.memory = 3 + int64_t(seed % 3);
    Instance instance = makeRandomInstance(seed, options);
    SolverResult result = schedule::solve(instance, exact(backend));
    EXPECT_FALSE(result.mistake) << result.mistake->message;
    int64_t limit = result.schedule ? result.verdict.makespan + 1 : 7;
    std::optional<int64_t> best = findBestMakespan(instance, limit);
    EXPECT_EQ(result.schedule.has_value(), best.has_value());
    if (!best || !result.schedule)
      continue;
    ++found;
    EXPECT_TRUE(result.proved);
    EXPECT_EQ(result.verdict.makespan, *best);
  }
  EXPECT_GE(found, 15);
}

TEST(Sat, AgreesWithEnumeration) { expectExact("sat"); }

TEST(Mip, AgreesWithEnumeration) { expectExact("mip"); }

/// Placements too: what is proved is the best of all of them.
static void expectExactPlacement(const std::string &backend) {
  if (!missingLibrary(backend).empty())
    GTEST_SKIP() << missingLibrary(backend);
  for (uint64_t seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomGraphOptions options;
    options.ops = 5;
    options.birthPercent = 0;
    options.isPlaced = false;
    PlanGraph graph = makeRandomInstance(seed, options).graph();
    if (seed % 3 == 1) { // parameters that one device cannot hold
      for (PlanOp &op : graph.ops)
        op.parameterBytes = 2;
      graph.devices[0].memory = 4;
      graph.devices[1].memory = 6;
    }
    if (seed % 3 == 2) { // unlike devices
      graph.deviceKinds.push_back("slow");
      graph.devices[1].kind = 1;
      for (PlanOp &op : graph.ops)
        op.times.push_back(op.times[0] + 1);
      graph.ops[2].times[0] = -1;
    }
    Instance instance = *Instance::expand(std::move(graph), 1);
    SolverResult result = schedule::solve(instance, exact(backend));
    EXPECT_FALSE(result.mistake) << result.mistake->message;
    ASSERT_TRUE(result.schedule);
    std::optional<int64_t> best =
        findBestMakespan(instance, result.verdict.makespan + 1);
    EXPECT_TRUE(result.proved);
    EXPECT_EQ(result.verdict.makespan, *best);
  }
}

TEST(Sat, PlacementsAgreeWithEnumeration) { expectExactPlacement("sat"); }

TEST(Mip, PlacementsAgreeWithEnumeration) { expectExactPlacement("mip"); }

TEST(Sat, LinearPipelineReachesTheBound) {
  if (!missingLibrary("sat").empty())
    GTEST_SKIP() << missingLibrary("sat");
  Instance instance =
      *Instance::expand(makeTrainGraph({Placement::Linear, 4, 4}, {}, 8), 8);
  SolverResult result = schedule::solve(instance, exact("sat"));
  EXPECT_EQ(result.verdict.bubble(), 3);
  EXPECT_TRUE(result.proved);
}

/// One direction is the other seen from the end: they are solved as one.
TEST(Mip, DirectionsAreMirrorImages) {
  if (!missingLibrary("mip").empty())
    GTEST_SKIP() << missingLibrary("mip");
  Instance instance = *Instance::expand(
      makeTrainGraph({Placement::Bidirectional, 4, 5}, {}, 4), 4);
  SolverResult result = schedule::solve(instance, exact("mip"));
  EXPECT_FALSE(result.mistake) << result.mistake->message;
  EXPECT_EQ(result.verdict.bubble(), 1);
  EXPECT_TRUE(result.proved);
  const std::vector<int64_t> &starts = result.schedule->starts;
  int32_t half = instance.period() / 2;
  for (int32_t op = 0; op < instance.numOps(); ++op)
    if (op % instance.period() < half)
      EXPECT_EQ(starts[op], starts[op + half]);
}

/// Two that are alike but on one device cannot start at once.
TEST(Mip, NotAllAreTheirMirrorImage) {
  for (const char *backend : {"mip", "sat"})
    if (!missingLibrary(backend).empty())
      GTEST_SKIP() << missingLibrary(backend);
  PlanGraph graph = makeOverlapGraph(1, {3, 2, 2, 3});
  auto count = int32_t(graph.ops.size());
  for (int32_t i = 0; i < count; ++i)
    graph.ops.push_back(graph.ops[i]);
  for (size_t i = graph.edges.size(); i-- > 0;)
    graph.edges.push_back(
        {graph.edges[i].from + count, graph.edges[i].to + count, 0});
  Instance instance = *Instance::expand(graph, 1);
  SolverResult result = schedule::solve(instance, exact("mip"));
  SolverResult other = schedule::solve(instance, exact("sat"));
  EXPECT_TRUE(result.proved);
  EXPECT_EQ(result.value, other.value);
}

/// 91 is more than the bound of the machines, 83: 90 has to be refuted.
TEST(Sat, TwoBatchesOverlap) {
  if (!missingLibrary("sat").empty())
    GTEST_SKIP() << missingLibrary("sat");
  Instance instance = *Instance::expand(makeOverlapGraph(8, {3, 2, 2, 3}), 2);
  SolverResult result = schedule::solve(instance, exact("sat"));
  EXPECT_EQ(result.verdict.makespan, 91);
  EXPECT_TRUE(result.proved);
  EXPECT_EQ(result.bounds.refuted, 91);
}

/// Nanoseconds are rounded for the solver. What it refutes then is refuted for
/// the times themselves, and little is lost.
TEST(Sat, RoundsLongTimesDown) {
  if (!missingLibrary("sat").empty())
    GTEST_SKIP() << missingLibrary("sat");
  constexpr int64_t scale = 50'000, most = 8;
  int found = 0;
  for (uint64_t seed = 200; seed < 210; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomGraphOptions options;
    options.ops = seed % 2 ? 5 : 2;
    options.copies = seed % 2 ? 1 : 2;
    if (seed % 3)
      options.memory = 3 + int64_t(seed % 3);
    Instance small = makeRandomInstance(seed, options);
    PlanGraph graph = small.graph();
    for (PlanEdge &edge : graph.edges)
      edge.bytes = 0;
    small = *Instance::expand(graph, options.copies);
    std::optional<int64_t> best = findBestMakespan(small, 40);
    for (PlanOp &op : graph.ops)
      op.times[0] =
          op.times[0] * scale + int64_t(&op - graph.ops.data()) % most;
    Instance instance = *Instance::expand(graph, options.copies);
    SolverResult result = schedule::solve(instance, exact("sat"));
    EXPECT_FALSE(result.mistake) << result.mistake->message;
    EXPECT_EQ(result.schedule.has_value(), best.has_value());
    if (!best || !result.schedule)
      continue;
    ++found;
    EXPECT_GE(result.value, scale * *best);
    EXPECT_LE(result.bound, scale * *best + most * instance.numOps());
    EXPECT_GE(double(result.bound), 0.98 * double(scale * *best));
  }
  EXPECT_GE(found, 5);
}

/// The bound of the machines is 33 times as much.
TEST(Sat, RefutesRoundedTimes) {
  if (!missingLibrary("sat").empty())
    GTEST_SKIP() << missingLibrary("sat");
  constexpr int64_t scale = 50'000;
  Instance small = *Instance::expand(makeOverlapGraph(3, {3, 2, 2, 3}), 2);
  SolverResult best = schedule::solve(small, exact("sat"));
  ASSERT_TRUE(best.proved);
  PlanGraph graph = small.graph();
  for (PlanOp &op : graph.ops)
    op.times[0] = op.times[0] * scale + 1;
  Instance instance = *Instance::expand(graph, 2);
  SolverResult result = schedule::solve(instance, exact("sat"));
  EXPECT_FALSE(result.mistake) << result.mistake->message;
  EXPECT_GT(result.bounds.refuted, 0);
  EXPECT_LE(result.bound, scale * best.value + instance.numOps());
  EXPECT_GE(result.value, scale * best.value);
}

TEST(StepModel, IsEmptyWhereWindowsAre) {
  Instance instance =
      *Instance::expand(makeTrainGraph({Placement::Linear, 4, 4}, {}, 2), 2);
  std::vector<int32_t> devices = instance.placement();
  int64_t bound = computeBounds(instance, devices).criticalPath;
  EXPECT_TRUE(StepModel(instance, devices, bound - 1).isRefuted());
  EXPECT_FALSE(StepModel(instance, devices, bound).isRefuted());
}
