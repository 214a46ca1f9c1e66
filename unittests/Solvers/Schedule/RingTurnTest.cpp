//===- RingTurnTest.cpp - Groups that go round and round ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/RingTurn.h"
#include "shardopt/Solvers/Schedule/Patterns.h"
#include "shardopt/Solvers/Schedule/Solver.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using namespace shardopt;
using namespace shardopt::schedule;

namespace {

/// Stages that a token goes through, each a kernel and, if it takes any time,
/// what is sent behind it.
PlanGraph makeStages(const std::vector<std::pair<int64_t, int64_t>> &times) {
  PlanGraph graph;
  graph.deviceKinds = {"stage"};
  for (size_t s = 0; s < times.size(); ++s) {
    graph.devices.push_back({0, std::nullopt});
    graph.groups.push_back({"stage " + std::to_string(s), int32_t(s)});
    for (int32_t part : {0, 1}) {
      PlanOp op;
      op.id = std::to_string(s) + (part ? ".send" : "");
      op.machine = part ? MachineKind::Comm : MachineKind::Compute;
      op.stage = op.group = int32_t(s);
      op.times = {part ? times[s].second : times[s].first};
      if (!graph.ops.empty())
        graph.edges.push_back(
            {int32_t(graph.ops.size()) - 1, int32_t(graph.ops.size()), 0});
      graph.ops.push_back(std::move(op));
    }
  }
  return graph;
}

MachineOrders asWritten(const Instance &instance) {
  MachineOrders orders(size_t(instance.numMachines()));
  for (int32_t op = 0; op < instance.numOps(); ++op)
    orders[instance.at(op).group * numMachineKinds +
           int32_t(instance.at(op).machine)]
        .push_back(op);
  return orders;
}

/// Orders that no edge contradicts: those of some schedule.
MachineOrders anyOrders(const RingFrame &frame, std::mt19937 &random) {
  const Instance &instance = frame.instance;
  std::vector<int32_t> waitsFor, ready;
  MachineOrders orders(size_t(instance.numMachines()));
  for (int32_t op = 0; op < instance.numOps(); ++op) {
    waitsFor.push_back(int32_t(instance.predecessors(op).size()));
    if (!waitsFor.back())
      ready.push_back(op);
  }
  while (!ready.empty()) {
    std::swap(ready[random() % ready.size()], ready.back());
    int32_t op = ready.back();
    ready.pop_back();
    orders[instance.at(op).group * numMachineKinds +
           int32_t(instance.at(op).machine)]
        .push_back(op);
    for (const Arc &arc : instance.successors(op))
      if (!--waitsFor[arc.op])
        ready.push_back(arc.op);
  }
  return orders;
}

/// What many turns take, each operator as early as it can: the naive twin.
/// Between two times that are a multiple of any cycle's turns apart, so that
/// the mean is exact.
int64_t simulateTurns(const RingFrame &frame, const MachineOrders &orders) {
  const Instance &instance = frame.instance;
  constexpr size_t apart = 5040, turns = 2 * apart;
  std::vector<std::vector<int64_t>> ends;
  for (size_t n = 0; n <= turns; ++n) {
    ends.emplace_back(size_t(instance.numOps()), -1);
    std::vector<size_t> next(orders.size(), 0);
    for (int32_t left = instance.numOps(); left > 0;)
      for (size_t m = 0; m < orders.size(); ++m) {
        if (next[m] == orders[m].size())
          continue;
        int32_t op = orders[m][next[m]];
        int64_t start = 0;
        bool isReady = true;
        if (next[m])
          start = ends[n][orders[m][next[m] - 1]];
        else if (n)
          start = ends[n - 1][orders[m].back()];
        for (const Arc &arc : instance.predecessors(op)) {
          isReady &= ends[n][arc.op] >= 0;
          start = std::max(start, ends[n][arc.op]);
        }
        for (const ReturnEdge &edge : frame.returns)
          if (edge.to == op && size_t(edge.turns) <= n)
            start = std::max(start, ends[n - edge.turns][edge.from]);
        if (!isReady)
          continue;
        ends[n][op] = start + instance.graph().time(op, instance.at(op).group);
        ++next[m];
        --left;
      }
  }
  int64_t most = 0;
  for (int32_t op = 0; op < instance.numOps(); ++op)
    most = std::max(most, ends[turns][op] - ends[turns - apart][op]);
  return (most + int64_t(apart) - 1) / int64_t(apart);
}

TEST(RingTurn, IsWhatTurnsTakeOneAfterTheOther) {
  std::mt19937 random(1);
  for (int i = 0; i < 12; ++i) {
    SCOPED_TRACE("case " + std::to_string(i));
    std::vector<std::pair<int64_t, int64_t>> times;
    for (size_t s = 0; s < 1 + size_t(i) % 3; ++s)
      times.push_back({1 + random() % 9, random() % 6});
    PlanGraph graph = makeStages(times);
    int32_t groups = 1 + i % 4;
    ErrorOr<RingFrame> frame = makeRingFrame(graph, groups, i % 2);
    ASSERT_TRUE(frame) << frame.error().message;
    MachineOrders orders = anyOrders(*frame, random);
    std::optional<RingTurn> turn = planTurn(*frame, orders);
    ASSERT_TRUE(turn);
    EXPECT_EQ(turn->period, simulateTurns(*frame, orders));
    EXPECT_GE(turn->period, leastTurn(graph, groups));
  }
}

/// As many groups as equal stages keep all of them at work; one more makes a
/// turn longer, one less leaves a stage idle.
TEST(RingTurn, AGroupForEachStage) {
  PlanGraph graph = makeStages({{10, 0}, {10, 0}, {10, 0}, {10, 0}});
  for (int32_t groups = 1; groups <= 6; ++groups)
    for (bool isStaggered : {false, true}) {
      ErrorOr<RingFrame> frame = makeRingFrame(graph, groups, isStaggered);
      ASSERT_TRUE(frame);
      std::optional<RingTurn> turn =
          planTurn(*frame, asWritten(frame->instance));
      ASSERT_TRUE(turn);
      EXPECT_EQ(leastTurn(graph, groups), std::max(40, 10 * groups));
      if (!isStaggered)
        EXPECT_EQ(turn->period, leastTurn(graph, groups));
    }
}

/// With transfers it takes one group more than there are stages, as long as
/// that is what a token waits for.
TEST(RingTurn, AGroupMoreHidesTransfers) {
  PlanGraph graph = makeStages({{10, 4}, {10, 4}});
  auto perGroup = [&](int32_t groups) {
    ErrorOr<RingFrame> frame = makeRingFrame(graph, groups, false);
    return double(planTurn(*frame, asWritten(frame->instance))->period) /
           groups;
  };
  EXPECT_EQ(perGroup(2), 14);
  EXPECT_EQ(perGroup(3), 10);
}

TEST(RingTurn, TwoBatchesOverlapForEver) {
  PlanGraph graph = makeOverlapGraph(8, {3, 2, 2, 3});
  ErrorOr<RingFrame> frame = makeRingFrame(graph, 2, true);
  ASSERT_TRUE(frame);
  SolverOptions options;
  options.timeLimit = 0;
  options.rounds = 200;
  options.backend = "local";
  SolverResult result = schedule::solve(frame->instance, options);
  ASSERT_TRUE(result.schedule);
  std::optional<RingTurn> turn =
      planTurn(*frame, ordersOf(frame->instance, *result.schedule));
  ASSERT_TRUE(turn);
  // Nothing is left of the ends that make it 91 once, and 80 is the work.
  EXPECT_EQ(leastTurn(graph, 2), 80);
  EXPECT_LE(turn->period, result.verdict.makespan);
  EXPECT_LT(turn->period, 91);
}

TEST(RingTurn, RefusesMoreThanFits) {
  for (int32_t groups : {1 << 19, INT32_MAX}) {
    ErrorOr<RingFrame> frame = makeRingFrame(makeStages({{10, 1}, {10, 1}}),
                                             groups, /*isStaggered=*/false);
    ASSERT_FALSE(frame);
    EXPECT_EQ(frame.error().message,
              "expected at most 1048576 ops, found 4 in each of " +
                  std::to_string(groups) + " micro-batches");
  }
}

TEST(RingTurn, RefusesOrdersAgainstEdges) {
  ErrorOr<RingFrame> frame = makeRingFrame(makeOverlapGraph(2, {}), 1, false);
  ASSERT_TRUE(frame);
  MachineOrders orders = asWritten(frame->instance);
  std::reverse(orders[0].begin(), orders[0].end());
  EXPECT_FALSE(planTurn(*frame, orders));
}

} // namespace
