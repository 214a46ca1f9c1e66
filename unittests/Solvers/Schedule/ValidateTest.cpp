//===- ValidateTest.cpp - What is no schedule -----------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/Validate.h"
#include "shardopt/Solvers/Schedule/ListScheduler.h"
#include "shardopt/Solvers/Schedule/Patterns.h"

#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::schedule;

static Instance makePipeline() {
  Pipeline pipeline{Placement::Linear, 2, 2};
  return *Instance::expand(makeTrainGraph(pipeline, {}, 3), 3);
}

/// Forward passes first, as memory allows.
static Schedule scheduleOf(const Instance &instance) {
  DispatchRule rule;
  rule.keys.assign(instance.numOps(), 0);
  return *dispatch(instance, instance.placement(), rule);
}

static std::string errorOf(const Instance &instance, const Schedule &schedule) {
  ErrorOr<Verdict> verdict = validate(instance, schedule);
  return verdict ? "" : verdict.error().message;
}

/// Ops of the graph: F.0 F.1 Bi.1 W.1 Bi.0 W.0.
class Mutated : public ::testing::Test {
protected:
  Mutated() : instance(makePipeline()), schedule(scheduleOf(instance)) {
    EXPECT_EQ(errorOf(instance, schedule), "");
  }
  void expectError(const std::string &part) {
    std::string error = errorOf(instance, schedule);
    EXPECT_NE(error.find(part), std::string::npos) << error;
  }

  Instance instance;
  Schedule schedule;
};

TEST_F(Mutated, BeforeItsPredecessor) {
  schedule.starts[1] = 0;
  expectError("op 'F.1' of micro-batch 0, at 0 on device 1, needs what op "
              "'F.0' of micro-batch 0, at 0 on device 0, gives at 1");
}

TEST_F(Mutated, TwoAtOnceOnAMachine) {
  schedule.starts[instance.period()] = schedule.starts[0];
  expectError("overlaps op 'F.0' of micro-batch");
}

TEST_F(Mutated, OnAnotherDeviceThanItsGroup) {
  schedule.devices[0] = 1;
  expectError("group 'stage 0' is placed on device 0, found it on device 1");
  schedule.devices[0] = 2;
  expectError("group 'stage 0': expected a device in [0, 1], found 2");
}

TEST_F(Mutated, BeyondMemory) {
  EXPECT_EQ(errorOf(instance.withMemory(std::nullopt), schedule), "");
  ErrorOr<Verdict> verdict = validate(instance, schedule);
  EXPECT_EQ(verdict->devices[0].peakMemory, 2);
  // A weight gradient that is put off keeps its activation.
  schedule.starts[5] += 100;
  schedule.starts[instance.period() + 5] += 100;
  expectError("makes 3 bytes, 1 more than the memory of 2");
}

TEST_F(Mutated, BeforeTheBeginning) {
  schedule.starts[0] = -1;
  expectError("op 'F.0' of micro-batch 0, at -1 on device 0, starts before 0");
}

TEST_F(Mutated, NotAllOfIt) {
  schedule.starts.pop_back();
  expectError("expected starts of 18 ops, found 17");
  schedule.devices.pop_back();
  expectError("expected devices of 2 groups, found 1");
}

TEST(Validate, ChargesTransfersBetweenDevices) {
  PlanGraph graph = makeTrainGraph({Placement::Linear, 2, std::nullopt}, {}, 1);
  graph.link = {3, 2};
  for (PlanEdge &edge : graph.edges)
    edge.bytes = 5;
  Instance instance = *Instance::expand(graph, 1);
  Schedule schedule = scheduleOf(instance);
  EXPECT_EQ(errorOf(instance, schedule), "");
  EXPECT_EQ(schedule.starts[1], 1 + 3 + 3);
  --schedule.starts[1];
  EXPECT_NE(errorOf(instance, schedule).find("gives at 7"), std::string::npos);
}

TEST(Validate, RefusesDevicesThatCannotRunAnOperator) {
  PlanGraph graph = makeTrainGraph({Placement::Free, 2, std::nullopt}, {}, 1);
  graph.deviceKinds.push_back("other");
  graph.devices[1].kind = 1;
  for (PlanOp &op : graph.ops)
    op.times.push_back(-1);
  Instance instance = *Instance::expand(graph, 1);
  Schedule schedule = {{0, 1}, std::vector<int64_t>(6, 0)};
  EXPECT_NE(errorOf(instance, schedule).find("cannot run on a 'other'"),
            std::string::npos);
}

TEST(Validate, MeasuresBubblesAndSpans) {
  Instance instance =
      *Instance::expand(makeTrainGraph({Placement::Linear, 2, 9}, {}, 1), 1);
  ErrorOr<Verdict> verdict = validate(instance, scheduleOf(instance));
  // F.0 | F.1 | Bi.1 | Bi.0, W.1 | W.0
  EXPECT_EQ(verdict->makespan, 5);
  EXPECT_EQ(verdict->bubble(), 2);
  EXPECT_EQ(verdict->totalBubble(), 4);
  EXPECT_EQ(verdict->devices[0].ownSpanIdle(), 2);
  EXPECT_EQ(verdict->devices[1].ownSpanIdle(), 0);
  EXPECT_EQ(verdict->ownSpan(), 5);
}

TEST(Validate, OperatorsOfNoLengthOccupyNothing) {
  PlanGraph graph;
  graph.deviceKinds = {"device"};
  graph.devices = {{}};
  graph.groups = {{"all", 0}};
  for (int64_t time : {4, 0}) {
    PlanOp op;
    op.id = "op" + std::to_string(time);
    op.times = {time};
    op.group = 0;
    graph.ops.push_back(op);
  }
  Instance instance = *Instance::expand(graph, 1);
  EXPECT_EQ(errorOf(instance, {{0}, {0, 2}}), "");
}
