//===- ServingPlanTest.cpp - The best way to serve a model ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ServingSetups.h"

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::calibrated;
using namespace shardopt::cost::test;

TEST(ServingPlan, HoldsBothLimitsAndIsTheBestOfWhatDoes) {
  const CalibratedKernels kernels = kernelsOf("h100_sxm");
  const ServingEngine engine = engineOf("vllm");
  ServingGoal goal = {1000, 500, 0, 8, 8, 25, 1500};
  auto plans = planServing(kernels, denseSetup(1), engine, goal);
  ASSERT_TRUE(plans) << plans.error().message;
  ASSERT_TRUE(plans->aggregated && plans->disaggregated);
  for (const ServingPlan &plan : {*plans->aggregated, *plans->disaggregated}) {
    EXPECT_LE(plan.times.tpot.ms, 25);
    EXPECT_LE(plan.times.ttft.ms, 1500);
    EXPECT_LE(plan.usedDevices(), 8);
    EXPECT_LE(plan.tokensPerDevice, plans->best()->tokensPerDevice);
  }
  // Of each degree, as many replicas as there is room for.
  for (double tp : {1, 2, 4, 8})
    for (double each = 1; each <= 512; each *= 2) {
      auto times =
          serveAggregated(kernels, denseSetup(tp), engine, {1000, 500, each});
      if (times && times->tpot.ms <= 25 && times->ttft.ms <= 1500) {
        EXPECT_LE(each * (8 / tp) * 500 /
                      ((times->ttft.ms + 500 * times->tpot.ms) / 1e3) / 8,
                  plans->aggregated->tokensPerDevice * (1 + 1e-9))
            << tp << " " << each;
      }
    }
}

TEST(ServingPlan, IdleDevicesCount) {
  const CalibratedKernels kernels = kernelsOf("h100_sxm");
  ServingGoal goal = {1000, 500, 0, 8, 8, 50, 5000};
  auto eight = planServing(kernels, denseSetup(1), engineOf("vllm"), goal);
  goal.devices = 9;
  goal.concurrency = eight->aggregated->concurrency;
  auto nine = planServing(kernels, denseSetup(1), engineOf("vllm"), goal);
  ASSERT_TRUE(eight && nine);
  EXPECT_LE(nine->aggregated->usedDevices(), 9);
  EXPECT_LT(nine->aggregated->tokensPerDevice,
            1.13 * eight->aggregated->tokensPerDevice);
}

TEST(ServingPlan, SaysWhereNoneHoldsTheLimits) {
  const CalibratedKernels kernels = kernelsOf("h100_sxm");
  ServingGoal goal = {1000, 500, 0, 8, 8, 0.001, 5000};
  auto plans = planServing(kernels, denseSetup(1), engineOf("vllm"), goal);
  ASSERT_TRUE(plans);
  EXPECT_EQ(plans->best(), nullptr);
  EXPECT_EQ(describe(*plans, goal), "  aggregated\n    none holds the limits\n"
                                    "  disaggregated\n"
                                    "    none holds the limits\n");
}

TEST(ServingPlan, ARateIsServedByFewDevices) {
  const CalibratedKernels kernels = kernelsOf("h100_sxm");
  const ServingEngine engine = engineOf("vllm");
  ServingGoal goal = {1000, 500, 0, 8, 8, 25, 1500};
  auto most = planServing(kernels, denseSetup(1), engine, goal);
  ASSERT_TRUE(most && most->best());
  double devices = 0;
  for (double share : {0.02, 0.1, 0.3, 0.6, 0.95}) {
    goal.rate = share * most->best()->requestsPerSecond;
    auto plans = planServing(kernels, denseSetup(1), engine, goal);
    ASSERT_TRUE(plans && plans->best()) << share;
    const ServingPlan &best = *plans->best();
    EXPECT_DOUBLE_EQ(best.requestsPerSecond, goal.rate);
    EXPECT_GE(best.usedDevices(), devices);
    EXPECT_LE(best.times.tpot.ms, goal.tpotMs);
    EXPECT_LE(best.times.ttft.ms, goal.ttftMs);
    devices = best.usedDevices();
    // Requests in flight are those that arrive while one is served.
    const double seconds =
        (best.times.ttft.ms + 500 * best.times.tpot.ms) / 1e3;
    if (best.concurrency > 1)
      EXPECT_NEAR(best.concurrency / seconds / goal.rate, 1, 0.1) << share;
  }
  EXPECT_GT(devices, 4);
  goal.rate = 1.1 * most->best()->requestsPerSecond;
  auto none = planServing(kernels, denseSetup(1), engine, goal);
  ASSERT_TRUE(none);
  EXPECT_FALSE(none->best());
}

TEST(ServingPlan, ReadsTheLoadOfUsers) {
  RequestLoad load;
  load[RequestField::Isl] = 4096;
  load[RequestField::Osl] = 512;
  load[RequestField::DraftTokens] = 2;
  load[RequestField::AcceptedTokens] = 1.5;
  load[RequestField::TpotMs] = 30;
  const ServingGoal goal = goalOf(load);
  EXPECT_EQ(goal.inputTokens, 4096);
  EXPECT_EQ(goal.traits.drafts, 2);
  EXPECT_EQ(goal.tpotMs, 30);
  EXPECT_EQ(goal.ttftMs, 2000);
  EXPECT_EQ(goal.concurrency, 0);
}

TEST(ServingPlan, AnEqualMachineForPromptsChangesNothing) {
  const CalibratedKernels kernels = kernelsOf("h100_sxm");
  const ServingEngine engine = engineOf("vllm");
  const PrefillMachine same = {"h100_sxm", kernels, 8};
  for (double rate : {0., 3.}) {
    ServingGoal goal = {4000, 500, 0, 8, 8, 25, 1500};
    goal.rate = rate;
    auto alone = planServing(kernels, denseSetup(1), engine, goal);
    auto two =
        planServing(kernels, denseSetup(1), engine, goal, /*canRun=*/{}, &same);
    ASSERT_TRUE(alone && two);
    ASSERT_TRUE(alone->disaggregated);
    EXPECT_EQ(describe(*two, goal), describe(*alone, goal));
    EXPECT_EQ(two->disaggregated->times.ttft.ms,
              alone->disaggregated->times.ttft.ms);
    // In pools of their own, as many as that plan takes.
    const ServingPlan &plan = *alone->disaggregated;
    goal.prefillDevices =
        int64_t(plan.readers->count * plan.readers->setup.devices());
    goal.devices -= goal.prefillDevices;
    auto pools =
        planServing(kernels, denseSetup(1), engine, goal, /*canRun=*/{}, &same);
    ASSERT_TRUE(pools && pools->disaggregated);
    EXPECT_EQ(pools->disaggregated->tokensPerDevice, plan.tokensPerDevice);
    EXPECT_EQ(pools->disaggregated->times.tpot.ms, plan.times.tpot.ms);
    EXPECT_EQ(pools->disaggregated->times.ttft.ms, plan.times.ttft.ms);
  }
}

TEST(ServingPlan, AnotherMachineReadsPromptsWhereThatPays) {
  const ServingEngine engine = engineOf("vllm");
  const ServingGoal goal = {16000, 200, 0, 8, 8, 50, 3000};
  const CalibratedKernels h100 = kernelsOf("h100_sxm");
  auto alone = planServing(h100, denseSetup(1), engine, goal);
  ASSERT_TRUE(alone && alone->disaggregated);
  auto with = [&](const char *name) {
    const CalibratedKernels kernels = kernelsOf(name);
    const PrefillMachine other = {name, kernels, 8};
    auto plans =
        planServing(h100, denseSetup(1), engine, goal, /*canRun=*/{}, &other);
    EXPECT_TRUE(plans && plans->disaggregated);
    return *plans->disaggregated;
  };
  const ServingPlan faster = with("b200_sxm");
  EXPECT_EQ(faster.readingMachine, "b200_sxm");
  EXPECT_GT(faster.tokensPerDevice, alone->disaggregated->tokensPerDevice);
  EXPECT_LE(faster.usedDevices(), 8);
  const ServingPlan slower = with("a100_sxm");
  EXPECT_EQ(slower.readingMachine, "");
  EXPECT_EQ(slower.tokensPerDevice, alone->disaggregated->tokensPerDevice);
}

TEST(ServingPlan, DevicesOfBothMachinesCount) {
  const ServingEngine engine = engineOf("vllm");
  const CalibratedKernels h100 = kernelsOf("h100_sxm"),
                          h200 = kernelsOf("h200_sxm");
  ServingGoal goal = {8000, 500, 0, 8, 8, 40, 3000};
  const PrefillMachine other = {"h100_sxm", h100, 8};
  double before = 0;
  for (int64_t readers : {1, 2, 4, 8}) {
    goal.prefillDevices = readers;
    auto plans =
        planServing(h200, denseSetup(1), engine, goal, /*canRun=*/{}, &other);
    ASSERT_TRUE(plans && plans->disaggregated && plans->aggregated);
    const ServingPlan &plan = *plans->disaggregated;
    EXPECT_LE(plan.usedDevices(), goal.allDevices());
    if (!plan.readingMachine.empty()) {
      EXPECT_LE(plan.readers->count * plan.readers->setup.devices(), readers);
      EXPECT_LE(plan.decoders.count * plan.decoders.setup.devices(), 8);
    }
    EXPECT_DOUBLE_EQ(plan.tokensPerDevice,
                     plan.requestsPerSecond * 500 / (8. + double(readers)));
    EXPECT_EQ(plan.readingMachine,
              readers < 8 ? plan.readingMachine : "h100_sxm");
    // Those of the other machine are idle.
    EXPECT_LE(plans->aggregated->usedDevices(), 8);
    // More readers serve no less.
    EXPECT_GE(plan.requestsPerSecond, before * (1 - 1e-9));
    before = plan.requestsPerSecond;
  }
}
