//===- SteadyStateTest.cpp - Tests of modulo schedules --------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/SteadyState.h"

#include "RandomGraph.h"
#include "shardopt/Solvers/Schedule/ChainPartition.h"
#include "shardopt/Solvers/Schedule/Patterns.h"
#include "shardopt/Solvers/Schedule/Solver.h"

#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::schedule;

class SteadyStateTest : public testing::Test {
protected:
  void SetUp() override {
    if (!missingLibrary("modulo").empty())
      GTEST_SKIP() << missingLibrary("modulo");
  }
};

static Instance makeBidirectional(int64_t memory) {
  return *Instance::expand(
      makeTrainGraph({Placement::Bidirectional, 8, memory}, {}, 1), 1);
}

static std::optional<SteadyState> plan(const Instance &instance,
                                       std::optional<Ring> ring = {}) {
  return planSteadyState(instance, ring, Budget(0, 0, nullptr));
}

/// Little's law: lives of 20 in a period of 6 need more than 3.
TEST_F(SteadyStateTest, FourActivationsKeepEightDevicesBusy) {
  Instance four = makeBidirectional(4), three = makeBidirectional(3);
  EXPECT_EQ(leastPeriod(four, four.placement()), 6);
  EXPECT_EQ(leastPeriod(three, three.placement()), 7);
  std::optional<SteadyState> steady = plan(four);
  ASSERT_TRUE(steady);
  EXPECT_EQ(steady->period, 6);
  EXPECT_TRUE(steady->isLeast());
  for (int64_t peak : steady->peaks)
    EXPECT_LE(peak, 4);
  EXPECT_EQ(steady->peaks.size(), 8u);
}

/// Repeated at any number, it is a schedule: the validator shares nothing with
/// what finds it.
TEST_F(SteadyStateTest, RandomGraphsUnrollToSchedules) {
  int found = 0;
  for (uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomGraphOptions options;
    options.ops = 7;
    if (seed % 2)
      options.memory = 6;
    Instance instance = makeRandomInstance(seed, options);
    std::optional<SteadyState> steady = plan(instance);
    if (!steady)
      continue;
    ++found;
    EXPECT_GE(steady->period, leastPeriod(instance, instance.placement()));
    Instance many = *Instance::expand(instance.graph(), 9);
    ErrorOr<Verdict> verdict = validate(many, unroll(many, *steady));
    EXPECT_TRUE(bool(verdict)) << verdict.error().message;
    EXPECT_LE(verdict->makespan, steady->latency + 8 * steady->period);
  }
  EXPECT_GE(found, 15);
}

/// The period of a ring is what its formula says, for any number of groups.
TEST_F(SteadyStateTest, RingsHaveThePeriodOfTheFormula) {
  std::vector<int64_t> times = {3, 5, 4, 4};
  for (int64_t send : {0, 2})
    for (int32_t groups = 1; groups <= 7; ++groups) {
      SCOPED_TRACE(std::to_string(groups) + " groups, send " +
                   std::to_string(send));
      Instance token =
          *Instance::expand(makeDecodeGraph(times, send, /*tokens=*/1), 1);
      std::optional<SteadyState> steady = plan(token, Ring{groups, send});
      ASSERT_TRUE(steady);
      // Of all groups: the slowest stage, or once round.
      int64_t round = std::max<int64_t>(groups * 5, 16 + 4 * send);
      EXPECT_EQ(steady->period, (round + groups - 1) / groups);
      EXPECT_TRUE(steady->isLeast());
    }
}

TEST_F(SteadyStateTest, TheBackendTakesItToBothEnds) {
  Instance instance = *Instance::expand(
      makeTrainGraph({Placement::Bidirectional, 8, 6}, {}, 10), 10);
  SolverOptions options;
  options.backend = "modulo";
  options.timeLimit = 0;
  SolverResult result = schedule::solve(instance, options);
  ASSERT_TRUE(result.steady);
  EXPECT_EQ(result.steady->period, 6);
  EXPECT_EQ(result.finder, "modulo");
  EXPECT_FALSE(result.mistake);
  EXPECT_LE(result.verdict.makespan, result.steady->latency + 9 * 6);
}

TEST_F(SteadyStateTest, NothingWhereNothingRepeats) {
  // Bytes that nothing frees fill any memory.
  PlanGraph graph = makeTrainGraph({Placement::Linear, 2, 4}, {}, 1);
  for (PlanOp &op : graph.ops)
    op.frees.clear();
  EXPECT_FALSE(plan(*Instance::expand(std::move(graph), 1)));
  StopToken stop;
  stop.request(2);
  EXPECT_FALSE(
      planSteadyState(makeBidirectional(4), std::nullopt, Budget(0, 0, &stop)));
}
