//===- CoarsenTest.cpp - Fewer operators, the same graph ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/Coarsen.h"
#include "RandomGraph.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace shardopt;
using namespace shardopt::schedule;

static int64_t workOf(const PlanGraph &graph) {
  int64_t work = 0;
  for (size_t i = 0; i < graph.ops.size(); ++i)
    work += graph.leastTime(int32_t(i));
  return work;
}

TEST(Coarsen, KeepsWorkPlacesAndOrder) {
  size_t fewer = 0;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomGraphOptions options;
    options.ops = 200;
    options.edgePercent = 1;
    options.isPlaced = seed % 2;
    Instance instance = makeRandomInstance(seed, options);
    CoarseGraph coarse = coarsen(instance.graph(), 100);
    std::optional<Error> error = coarse.graph.check();
    EXPECT_FALSE(error) << error->message;
    EXPECT_EQ(workOf(coarse.graph), workOf(instance.graph()));
    fewer += coarse.graph.ops.size() < 150;
    std::vector<int32_t> devices;
    for (const PlanGroup &group : coarse.graph.groups)
      devices.push_back(std::max(group.device, 0));
    std::vector<int32_t> original = coarse.undo(devices);
    ASSERT_EQ(original.size(), instance.graph().groups.size());
    for (size_t g = 0; g < original.size(); ++g)
      if (instance.graph().groups[g].device >= 0)
        EXPECT_EQ(original[g], instance.graph().groups[g].device);
  }
  EXPECT_GE(fewer, 15u);
}

TEST(Coarsen, ChainsBecomeAFewPieces) {
  PlanGraph graph;
  graph.deviceKinds = {"device"};
  graph.devices.resize(2);
  for (int32_t i = 0; i < 100; ++i) {
    PlanOp op;
    op.id = std::to_string(i);
    op.times = {1};
    op.group = i;
    graph.groups.push_back({op.id, -1});
    graph.ops.push_back(op);
    if (i)
      graph.edges.push_back({i - 1, i, 7});
  }
  CoarseGraph coarse = coarsen(graph, 1);
  // None is more than a quarter of the share of a device, 12.
  EXPECT_LE(coarse.graph.ops.size(), 20u);
  for (const PlanOp &op : coarse.graph.ops)
    EXPECT_LE(op.times[0], 12);
}
