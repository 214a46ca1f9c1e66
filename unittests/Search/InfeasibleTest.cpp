//===- InfeasibleTest.cpp - What binds, and what would fit ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Infeasible.h"
#include "ToySimulator.h"
#include "shardopt/Search/ExactSearch.h"

#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::search;

static SpaceFacts toyFacts() { return {8, 16, {"op0", "op1", "op2", "op3"}}; }

/// Finds the smallest change for a toy of four ops by exact search.
static std::optional<NextFeasible> nextFeasible(const ToySimulator &toy,
                                                const SpaceRequest &request) {
  auto probe = [&](const StrategySpace &space, double sloMs, Goal goal) {
    ToySimulator relaxed = toy;
    relaxed.sloMs = sloMs;
    return findOptimum(space, relaxed, goal).best;
  };
  return findNextFeasible(toyFacts(), request, toy.sloMs, Goal::Throughput,
                          probe);
}

TEST(Infeasible, InvalidPlansAreBoundByTheirReason) {
  Objective objective{Goal::Throughput, 50, 72};
  Evaluation large{false, Reason::Memory, 1, 80, 100};
  EXPECT_EQ(bindingConstraint(large, objective).kind, Reason::Memory);
  EXPECT_EQ(bindingConstraint(large, objective).value, 100);
  EXPECT_EQ(bindingConstraint(large, objective).limit, 72);
  Evaluation slow{false, Reason::Slo, 1, 80, 10};
  EXPECT_EQ(bindingConstraint(slow, objective).value, 80);
  EXPECT_EQ(bindingConstraint(slow, objective).limit, 50);
  EXPECT_EQ(bindingConstraint(Evaluation(), objective).kind,
            Reason::Structural);
}

TEST(Infeasible, MoreDevicesWhereMemoryIsShort) {
  ToySimulator toy(4, 0);
  toy.capacityGb = 30;
  SpaceRequest request;
  request.maxDevices = 1;
  auto next = nextFeasible(toy, request);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->change.kind, Change::Kind::Devices);
  EXPECT_EQ(next->change.from, 1);
  EXPECT_LE(next->plan.strategy.degrees.devices(), next->change.to);
  EXPECT_TRUE(toy.evaluate(next->plan.strategy).valid);
  // One fewer would not do.
  request.maxDevices = int64_t(next->change.to) - 1;
  EXPECT_FALSE(findOptimum(makeSpace(4, request), toy, Goal::Throughput).best);
}

TEST(Infeasible, DevicesNeedNotBeAPowerOfTwoTimesTheLimit) {
  ToySimulator toy(4, 0);
  SpaceRequest request;
  request.lists[Degree::Tp] = {1, 3};
  request.lists[Degree::Ep] = request.lists[Degree::Pp] = {1};
  request.maxDevices = 1;
  auto probe = [](const StrategySpace &space, double,
                  Goal) -> std::optional<Plan> {
    Strategy strategy = space.strategyAt(Point(space.numVariables(), 0));
    if (strategy.degrees.tp < 3)
      return std::nullopt;
    return Plan{std::move(strategy), Evaluation()};
  };
  auto next =
      findNextFeasible(toyFacts(), request, toy.sloMs, Goal::Throughput, probe);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->change.kind, Change::Kind::Devices);
  EXPECT_EQ(next->change.to, 3);
}

TEST(Infeasible, ExactNumbersOfDevicesAreRaisedToo) {
  ToySimulator toy(4, 0);
  toy.capacityGb = 30;
  SpaceRequest request;
  request.devices = 1;
  auto next = nextFeasible(toy, request);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->plan.strategy.degrees.devices(), next->change.to);
}

TEST(Infeasible, LongerSloIsRoundedUpToThreeDigits) {
  ToySimulator toy(4, 0);
  toy.sloMs = 40;
  SpaceRequest request;
  request.lists[Degree::Tp] = {2};
  request.lists[Degree::Ep] = request.lists[Degree::Pp] = {1};
  request.lists[Degree::Batch] = {1};
  toy.capacityGb = 1000;
  auto next = nextFeasible(toy, request);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->change.kind, Change::Kind::Slo);
  EXPECT_EQ(next->change.from, 40);
  EXPECT_LE(next->plan.evaluation.latencyMs, next->change.to);
  EXPECT_LT(next->change.to, next->plan.evaluation.latencyMs * 1.01);
  EXPECT_TRUE(next->plan.evaluation.valid);
}

TEST(Infeasible, SmallerBatchWhereItIsTheSmallestChange) {
  ToySimulator toy(4, 0);
  SpaceRequest request;
  request.pinned[Degree::Tp] = request.pinned[Degree::Pp] = 2;
  request.pinned[Degree::Ep] = 1;
  request.pinned[Degree::Batch] = 96;
  auto next = nextFeasible(toy, request);
  ASSERT_TRUE(next);
  EXPECT_EQ(next->change.kind, Change::Kind::Batch);
  EXPECT_EQ(next->change.from, 96);
  EXPECT_EQ(next->plan.strategy.degrees.batch, next->change.to);
  EXPECT_TRUE(toy.evaluate(next->plan.strategy).valid);
}

TEST(Infeasible, NoSingleChangeHelps) {
  ToySimulator toy(4, 0);
  toy.capacityGb = 0.001;
  SpaceRequest request;
  request.maxDevices = 4;
  EXPECT_FALSE(nextFeasible(toy, request));
}

TEST(Infeasible, PinnedGridsDoNotGrow) {
  ToySimulator toy(4, 0);
  toy.capacityGb = 1;
  SpaceRequest request;
  request.pinned[Degree::Tp] = request.pinned[Degree::Ep] =
      request.pinned[Degree::Pp] = 1;
  request.maxDevices = 1;
  int probes = 0;
  auto probe = [&](const StrategySpace &, double, Goal) -> std::optional<Plan> {
    ++probes;
    return std::nullopt;
  };
  EXPECT_FALSE(findNextFeasible(toyFacts(), request, toy.sloMs,
                                Goal::Throughput, probe));
  EXPECT_EQ(probes, 1); // the SLO; there is no smaller batch
}

TEST(Infeasible, ProbesNoMoreAfterAStop) {
  ToySimulator toy(4, 0);
  SpaceRequest request;
  request.lists[Degree::Batch] = {64};
  request.maxDevices = 1;
  for (int after : {0, 1, 2, 3}) {
    int probes = 0;
    auto probe = [&](const StrategySpace &, double,
                     Goal) -> std::optional<Plan> {
      ++probes;
      return std::nullopt;
    };
    EXPECT_FALSE(findNextFeasible(toyFacts(), request, toy.sloMs,
                                  Goal::Throughput, probe,
                                  [&] { return probes >= after; }));
    EXPECT_EQ(probes, std::max(after, 1)); // the first is of the SLO
  }
}
