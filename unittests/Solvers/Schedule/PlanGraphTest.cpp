//===- PlanGraphTest.cpp - What a graph may be ----------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/Instance.h"
#include "shardopt/Solvers/Schedule/Patterns.h"

#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::schedule;

static PlanGraph makeChain() {
  PlanGraph graph;
  graph.deviceKinds = {"gpu", "cpu"};
  graph.devices = {{0, std::nullopt}, {1, std::nullopt}};
  for (const char *name : {"a", "b", "c"}) {
    PlanOp op;
    op.id = name;
    op.times = {1, 2};
    op.group = int32_t(graph.groups.size());
    graph.groups.push_back({name, -1});
    graph.ops.push_back(op);
  }
  graph.edges = {{0, 1, 4}, {1, 2, 4}};
  return graph;
}

static std::string errorOf(const PlanGraph &graph) {
  std::optional<Error> error = graph.check();
  return error ? error->message : "";
}

TEST(PlanGraph, AcceptsAChain) { EXPECT_EQ(errorOf(makeChain()), ""); }

TEST(PlanGraph, RefusesCycles) {
  PlanGraph graph = makeChain();
  graph.edges.push_back({2, 0});
  EXPECT_EQ(errorOf(graph), "the graph has a cycle: 'a' -> 'b' -> 'c' -> 'a'");
  graph.edges.back() = {1, 1};
  EXPECT_EQ(errorOf(graph), "the graph has a cycle: 'b' -> 'b'");
}

TEST(PlanGraph, RefusesNoDevicesAndNoOps) {
  PlanGraph graph = makeChain();
  graph.devices.clear();
  EXPECT_EQ(errorOf(graph), "expected at least one device");
  graph = makeChain();
  graph.ops.clear();
  EXPECT_EQ(errorOf(graph), "expected at least one op");
}

TEST(PlanGraph, RefusesOpsWithoutADevice) {
  PlanGraph graph = makeChain();
  graph.ops[1].times = {-1, -1};
  EXPECT_EQ(errorOf(graph),
            "op 'b' has no eligible device: it has times for no kind");
  // Each has a device, together they have none.
  graph.ops[1].times = {1, -1};
  graph.ops[2].times = {-1, 1};
  EXPECT_EQ(errorOf(graph), "");
  graph.ops[2].group = graph.ops[1].group;
  EXPECT_EQ(errorOf(graph), "op 'c' has no eligible device together with the "
                            "rest of its group 'b': it has times for cpu");
  graph.ops[2].group = 2;
  graph.groups[1].device = 1;
  EXPECT_EQ(errorOf(graph), "op 'b' cannot run on device 1, a 'cpu', where it "
                            "is placed: it has times for gpu");
}

TEST(PlanGraph, RefusesUnknownDevices) {
  PlanGraph graph = makeChain();
  graph.groups[0].device = 2;
  EXPECT_EQ(errorOf(graph), "group 'a': expected a device in [0, 1], found 2");
}

TEST(PlanGraph, RefusesSizesBeyondTheLimits) {
  PlanGraph graph = makeChain();
  graph.ops[0].birthBytes = maxBytes + 1;
  EXPECT_NE(errorOf(graph).find("op 'a': expected bytes in [0, "),
            std::string::npos);
  graph = makeChain();
  graph.ops[2].times[0] = maxTime + 1;
  EXPECT_NE(errorOf(graph).find("op 'c': expected a time in [0, "),
            std::string::npos);
}

TEST(Instance, RefusesTooManyRepetitions) {
  EXPECT_EQ(Instance::expand(makeChain(), 0).error().message,
            "expected at least 1 micro-batch, found 0");
  EXPECT_NE(Instance::expand(makeChain(), 1 << 20)
                .error()
                .message.find("found 3 in each of 1048576 micro-batches"),
            std::string::npos);
}

TEST(Pipeline, PlacesChunks) {
  Pipeline pipeline{Placement::V, 4, std::nullopt};
  EXPECT_EQ(pipeline.chunks(), 8);
  EXPECT_EQ(pipeline.deviceOf(0, 3), 3);
  EXPECT_EQ(pipeline.deviceOf(0, 4), 3);
  EXPECT_EQ(pipeline.deviceOf(0, 7), 0);
  pipeline.placement = Placement::Wave;
  EXPECT_EQ(pipeline.chunks(), 16);
  EXPECT_EQ(pipeline.deviceOf(0, 8), 0);
  EXPECT_EQ(pipeline.deviceOf(0, 12), 3);
  pipeline.placement = Placement::Bidirectional;
  EXPECT_EQ(pipeline.deviceOf(0, 1), 1);
  EXPECT_EQ(pipeline.deviceOf(1, 1), 2);
}

TEST(Pipeline, GraphsOfPatternsAreGood) {
  for (Placement placement : {Placement::Linear, Placement::Bidirectional,
                              Placement::V, Placement::Wave, Placement::Free}) {
    Pipeline pipeline{placement, 4, 5};
    EXPECT_EQ(errorOf(makeTrainGraph(pipeline, {}, 3)), "");
    EXPECT_EQ(errorOf(makeExpertTrainGraph(pipeline, {}, 3)), "");
  }
  EXPECT_EQ(errorOf(makeOverlapGraph(3, {})), "");
  EXPECT_EQ(errorOf(makePrefillGraph(3, {4, 3, 2})), "");
}
