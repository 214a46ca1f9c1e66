//===- StagePartitionTest.cpp - Tests of stages and of chunks -------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/StagePartition.h"

#include "RandomGraph.h"
#include "shardopt/Solvers/Schedule/ChainPartition.h"
#include "shardopt/Solvers/Schedule/Patterns.h"
#include "shardopt/Solvers/Schedule/PromptChunks.h"
#include "shardopt/Solvers/Schedule/Solver.h"
#include "shardopt/Support/Rng.h"

#include <gtest/gtest.h>

#include <functional>
#include <numeric>

using namespace shardopt;
using namespace shardopt::schedule;

static const Budget endless(0, 0, nullptr);

/// A random graph for two kinds of devices, the second `slower` times slower.
static Instance makeMixed(uint64_t seed, int32_t ops, int64_t slower,
                          bool isChain) {
  RandomGraphOptions options;
  options.ops = ops;
  options.devices = 3;
  options.edgePercent = isChain ? 0 : 25;
  options.commPercent = 0;
  options.birthPercent = 0;
  options.mostTime = 9;
  options.isPlaced = false;
  PlanGraph graph = makeRandomInstance(seed, options).graph();
  graph.deviceKinds = {"fast", "slow"};
  graph.devices[1].kind = 1;
  for (PlanOp &op : graph.ops)
    op.times.push_back(op.times[0] * slower);
  if (isChain)
    for (int32_t i = 1; i < ops; ++i)
      graph.edges.push_back({i - 1, i, int64_t(seed % 3)});
  return *Instance::expand(std::move(graph), 1);
}

/// The least bottleneck, by trying every monotone placement.
static int64_t enumerateStages(const Instance &instance) {
  const PlanGraph &graph = instance.graph();
  std::vector<int32_t> devices(graph.groups.size(), 0);
  int64_t best = INT64_MAX;
  std::function<void(size_t)> choose = [&](size_t group) {
    if (group == devices.size()) {
      for (const PlanEdge &edge : graph.edges)
        if (devices[graph.ops[edge.from].group] >
            devices[graph.ops[edge.to].group])
          return;
      best = std::min(best, measureStages(instance, devices).bottleneck);
      return;
    }
    for (int32_t d = 0; d < instance.numDevices(); ++d) {
      devices[group] = d;
      choose(group + 1);
    }
  };
  choose(0);
  return best;
}

TEST(StagePartition, ChainsAreCutExactly) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Instance instance = makeMixed(seed, 8, 2, /*isChain=*/true);
    std::optional<StagePartition> found =
        partitionStages(instance, 1, 1000, endless);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->bottleneck, enumerateStages(instance));
    EXPECT_EQ(found->bound, found->bottleneck);
  }
}

/// Never better than the best, the bound never more, and mostly the best.
TEST(StagePartition, GraphsHaveABound) {
  int optimal = 0;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Instance instance =
        makeMixed(seed, 8, 1 + int64_t(seed % 3), /*isChain=*/false);
    std::optional<StagePartition> found =
        partitionStages(instance, 1, 2000, endless);
    ASSERT_TRUE(found);
    int64_t best = enumerateStages(instance);
    EXPECT_GE(found->bottleneck, best);
    EXPECT_LE(found->bound, best);
    EXPECT_GT(found->bound, 0);
    optimal += found->bottleneck == best;
    for (const PlanEdge &edge : instance.graph().edges)
      EXPECT_LE(found->devices[instance.graph().ops[edge.from].group],
                found->devices[instance.graph().ops[edge.to].group]);
  }
  EXPECT_GE(optimal, 12);
}

/// Unlike devices: all on the fast one is 12, and the slow one, three times
/// slower, takes as much as evens that out.
TEST(StagePartition, SlowDevicesGetLess) {
  PlanGraph graph;
  graph.deviceKinds = {"fast", "slow"};
  graph.devices = {{0, std::nullopt}, {1, std::nullopt}};
  for (int32_t i = 0; i < 4; ++i) {
    PlanOp op;
    op.id = std::to_string(i);
    op.times = {3, 9};
    op.group = i;
    graph.groups.push_back({op.id, -1});
    graph.ops.push_back(op);
    if (i)
      graph.edges.push_back({i - 1, i, 0});
  }
  Instance instance = *Instance::expand(graph, 1);
  std::optional<StagePartition> found =
      partitionStages(instance, 1, 100, endless);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->loads, (std::vector<int64_t>{9, 9}));
  // And memory moves the cut.
  for (PlanOp &op : graph.ops)
    op.parameterBytes = 1;
  graph.devices[0].memory = 1;
  found = partitionStages(*Instance::expand(graph, 1), 1, 100, endless);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->loads, (std::vector<int64_t>{3, 27}));
  graph.devices[1].memory = 2;
  EXPECT_FALSE(partitionStages(*Instance::expand(graph, 1), 1, 100, endless));
}

/// The least longest chunk, by trying all cuts.
static int64_t enumerateChunks(int64_t tokens, int64_t count, int64_t prefix,
                               const PromptCost &cost) {
  if (count == 1)
    return cost.time(tokens, prefix);
  int64_t best = INT64_MAX;
  for (int64_t first = 1; first <= tokens - count + 1; ++first)
    best = std::min(best, std::max(cost.time(first, prefix),
                                   enumerateChunks(tokens - first, count - 1,
                                                   prefix + first, cost)));
  return best;
}

TEST(PromptChunks, AreAsShortAsEnumerationSays) {
  for (int64_t tokens : {5, 12, 19})
    for (int64_t count = 1; count <= 4; ++count)
      for (PromptCost cost : {PromptCost{1, 0}, {1, 300}, {0, 1024}, {2, 50}}) {
        PromptChunks chunks = cutByTime(tokens, count, cost);
        EXPECT_EQ(std::accumulate(chunks.begin(), chunks.end(), int64_t(0)),
                  tokens);
        EXPECT_EQ(int64_t(chunks.size()), count);
        std::vector<int64_t> times = timesOf(chunks, cost);
        EXPECT_EQ(*std::max_element(times.begin(), times.end()),
                  enumerateChunks(tokens, count, 0, cost));
      }
}

/// The formula of chunks on stages alike is what the graph of them takes.
TEST(PromptChunks, FewerTokensWhereMoreComesBefore) {
  PromptCost cost{10, 20};
  PromptChunks chunks = cutByTime(8192, 8, cost), even = cutEvenly(8192, 8);
  EXPECT_TRUE(std::is_sorted(chunks.rbegin(), chunks.rend()));
  int64_t own = prefillMakespan(timesOf(chunks, cost), 4);
  EXPECT_LT(own, prefillMakespan(timesOf(even, cost), 4));
  Instance instance =
      *Instance::expand(makePrefillGraph(4, timesOf(chunks, cost)), 1);
  SolverOptions options;
  options.timeLimit = 0;
  options.rounds = 10;
  SolverResult result = schedule::solve(instance, options);
  EXPECT_EQ(result.verdict.makespan, own);
  EXPECT_TRUE(result.proved);
}
