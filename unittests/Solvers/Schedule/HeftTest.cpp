//===- HeftTest.cpp - Tests of the earliest finish of each operator -------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/Heft.h"

#include "RandomGraph.h"
#include "shardopt/Solvers/Schedule/Coarsen.h"
#include "shardopt/Solvers/Schedule/Solver.h"

#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::schedule;

/// Independent operators of these times and parameters, on devices alike.
static PlanGraph makeBag(const std::vector<int64_t> &times, int32_t devices,
                         int64_t parameters) {
  PlanGraph graph;
  graph.deviceKinds = {"device"};
  graph.devices.resize(devices);
  for (size_t i = 0; i < times.size(); ++i) {
    PlanOp op;
    op.id = std::to_string(i);
    op.times = {times[i]};
    op.group = int32_t(i);
    op.parameterBytes = parameters;
    graph.groups.push_back({op.id, -1});
    graph.ops.push_back(op);
  }
  return graph;
}

TEST(Heft, LongestFirstWhereItEndsFirst) {
  Instance instance = *Instance::expand(makeBag({3, 5, 4}, 2, 0), 1);
  std::optional<Schedule> schedule = scheduleByEarliestFinish(instance);
  ASSERT_TRUE(schedule);
  EXPECT_EQ(schedule->devices, (std::vector<int32_t>{1, 0, 1}));
  EXPECT_EQ(schedule->starts, (std::vector<int64_t>{4, 0, 0}));
}

/// 1 waits for the bytes of 0, and 2 runs meanwhile, though its rank is less.
TEST(Heft, FillsGaps) {
  PlanGraph graph = makeBag({1, 4, 2}, 1, 0);
  graph.devices.resize(2);
  graph.groups[0].device = 0;
  graph.groups[1].device = graph.groups[2].device = 1;
  graph.edges = {{0, 1, 3}};
  Instance instance = *Instance::expand(std::move(graph), 1);
  std::optional<Schedule> schedule = scheduleByEarliestFinish(instance);
  ASSERT_TRUE(schedule);
  EXPECT_EQ(schedule->starts, (std::vector<int64_t>{0, 4, 0}));
}

TEST(Heft, ParametersGoWhereTheyFit) {
  PlanGraph graph = makeBag({1, 9, 1, 1}, 2, 10);
  for (PlanDevice &device : graph.devices)
    device.memory = 20;
  Instance instance = *Instance::expand(graph, 1);
  std::optional<Schedule> schedule = scheduleByEarliestFinish(instance);
  ASSERT_TRUE(schedule);
  EXPECT_TRUE(bool(validate(instance, *schedule)));
  graph.devices[1].memory = 10;
  EXPECT_FALSE(scheduleByEarliestFinish(*Instance::expand(graph, 1)));
}

/// What begins with it is never worse, and all of it is valid.
TEST(Heft, TheSearchIsNeverWorse) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomGraphOptions options;
    options.ops = 28;
    options.devices = 4;
    options.edgePercent = 10;
    options.isPlaced = false;
    options.copies = 1 + int32_t(seed % 2);
    Instance instance = makeRandomInstance(seed, options);
    std::optional<Schedule> heft = scheduleByEarliestFinish(instance);
    ASSERT_TRUE(heft);
    ErrorOr<Verdict> verdict = validate(instance, *heft);
    ASSERT_TRUE(bool(verdict)) << verdict.error().message;
    SolverOptions solver;
    solver.timeLimit = 0;
    solver.rounds = 50;
    solver.known = {{"heft", *heft}};
    SolverResult result = schedule::solve(instance, solver);
    EXPECT_LE(result.verdict.makespan, verdict->makespan);
    EXPECT_GE(result.verdict.makespan, result.bound);
  }
}

/// What takes long asks whether it may go on.
TEST(Heft, ABudgetEndsLongSteps) {
  StopToken stop;
  stop.request(2);
  Budget over(0, 0, &stop);
  PlanGraph graph = makeBag(std::vector<int64_t>(3000, 1), 1, 0);
  for (int32_t i = 1; i < 3000; ++i)
    graph.edges.push_back({i - 1, i, 1});
  EXPECT_EQ(coarsen(graph, 10, &over).graph.ops.size(), 3000u);
  Instance instance = *Instance::expand(std::move(graph), 1);
  std::vector<int32_t> devices(3000, 0);
  DispatchRule rule = rankRule(instance, upwardRanks(instance));
  EXPECT_FALSE(dispatch(instance, devices, rule, 0, &over));
  EXPECT_TRUE(dispatch(instance, devices, rule));
}
