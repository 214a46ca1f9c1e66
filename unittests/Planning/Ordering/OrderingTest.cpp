//===- OrderingTest.cpp - Steps of strategies in an order -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Breakdown.h"
#include "shardopt/Cost/Roofline.h"
#include "shardopt/Planning/Ordering/Replay.h"
#include "shardopt/Planning/Ordering/StepOrder.h"
#include "shardopt/Planning/Ordering/UnlikeStages.h"

#include "TestModels.h"

#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::test;
using namespace shardopt::ordering;

namespace {

const Workload decode{Phase::Decode, 16384}, prefill{Phase::Prefill, 2048};

struct Case {
  ModelConfig config;
  Workload workload;
};

std::vector<Case> cases() {
  return {{gptMoe(60), decode},     {llama70B(), decode},
          {qwen3Moe235B(), decode}, {deepSeekV3(), decode},
          {gptOss120B(), decode},   {deepSeekV3(), prefill}};
}

/// A strategy that is structurally valid.
Strategy randomStrategy(const CostModel &costs, std::mt19937 &random) {
  for (;;) {
    Strategy strategy;
    strategy.degrees = {int64_t{1} << random() % 4, int64_t{1} << random() % 4,
                        int64_t(1 + random() % 4), int64_t{8} << random() % 6};
    for (unsigned i = 0; i < costs.model().numVariables(); ++i)
      strategy.dims.push_back(Dim(random() % 3));
    if (!breakdown(costs, strategy).ops.empty())
      return strategy;
  }
}

OrderOptions quick(std::vector<int64_t> chunks, bool reorders = false) {
  OrderOptions options;
  options.solver.timeLimit = 0;
  options.solver.rounds = 8;
  options.chunks = std::move(chunks);
  options.reorders = reorders;
  return options;
}

TEST(Ordering, AStageTakesWhatTheBreakdownSays) {
  std::mt19937 random(1);
  for (const Case &test : cases()) {
    CostModel costs = makeCosts(test.config, test.workload, h100());
    for (int i = 0; i < 5; ++i) {
      Strategy strategy = randomStrategy(costs, random);
      Breakdown expected = breakdown(costs, strategy);
      ErrorOr<StepGraph> step = makeStepGraph(costs, strategy, {});
      ASSERT_TRUE(step) << step.error().message;
      std::vector<double> ms(size_t(strategy.degrees.pp)), bytes(ms);
      for (const schedule::PlanOp &op : step->graph.ops) {
        ms[op.stage] += double(op.times[0]) / 1e6;
        bytes[op.stage] += double(op.parameterBytes);
      }
      double rounding = 1e-6 * double(step->graph.ops.size());
      for (size_t stage = 0; stage < ms.size(); ++stage)
        EXPECT_NEAR(ms[stage], expected.stageMs[stage], rounding);
      EXPECT_NEAR(*std::max_element(bytes.begin(), bytes.end()) / 1e9,
                  expected.memory.weightsGb + expected.memory.kvCacheGb,
                  rounding);
    }
  }
}

TEST(Ordering, TheEventSimulatorReplaysThePlan) {
  std::mt19937 random(2);
  for (const Case &test : cases()) {
    CostModel costs = makeCosts(test.config, test.workload, h100());
    for (bool reorders : {false, true}) {
      Strategy strategy = randomStrategy(costs, random);
      auto steps = orderStep(costs, strategy, quick({1, 2}, reorders));
      ASSERT_TRUE(steps) << steps.error().message;
      for (const OrderedStep &step : *steps) {
        EXPECT_EQ(step.replayed, step.result.verdict.makespan);
        Replay again = replay(step.instance, *step.result.schedule, 0);
        for (int32_t op = 0; op < step.instance.numOps(); ++op)
          EXPECT_EQ(again.ends[op],
                    double(step.result.schedule->end(step.instance, op)));
        EXPECT_GE(step.contended, double(step.replayed) * (1 - 1e-12));
        EXPECT_LE(step.result.bound, step.result.value);
        EXPECT_LE(step.result.value, step.programOrder);
        EXPECT_LE(step.programOrder, step.serial);
      }
    }
  }
}

TEST(Ordering, NoBackendIsWorseThanTheProgram) {
  std::mt19937 random(8);
  for (const Case &test : cases()) {
    CostModel costs = makeCosts(test.config, test.workload, h100());
    OrderOptions options = quick({1, 2});
    options.solver.backend = "rules";
    auto steps = orderStep(costs, randomStrategy(costs, random), options);
    ASSERT_TRUE(steps) << steps.error().message;
    for (const OrderedStep &step : *steps) {
      EXPECT_LE(step.result.value, step.programOrder);
      EXPECT_EQ(step.replayed, step.result.value);
    }
  }
}

TEST(Ordering, WithoutReorderingAChunkFollowsItsProgram) {
  CostModel costs = makeCosts(deepSeekV3(), decode, h100());
  std::mt19937 random(5);
  auto steps = orderStep(costs, randomStrategy(costs, random), quick({2}));
  ASSERT_TRUE(steps) << steps.error().message;
  const OrderedStep &step = steps->front();
  for (const std::vector<int32_t> &order : step.orders()) {
    std::vector<int32_t> last(size_t(step.instance.copies()), -1);
    for (int32_t op : order) {
      EXPECT_GT(op, last[step.instance.copyOf(op)]);
      last[step.instance.copyOf(op)] = op;
    }
  }
}

/// In nanoseconds a solver that has a variable for each time would not end.
TEST(Ordering, AFewLongOperatorsAreBoundedSoon) {
  ModelConfig config = llama70B();
  config.layers = 3;
  CostModel costs = makeCosts(config, prefill, h100());
  Strategy plan =
      strategy({8, 1, 3, 12}, std::string(costs.model().numVariables(), '0'));
  OrderOptions options = quick({1});
  options.solver.rounds = 64;
  auto steps = orderStep(costs, plan, options);
  ASSERT_TRUE(steps) << steps.error().message;
  const OrderedStep &step = steps->front();
  EXPECT_FALSE(step.result.mistake) << step.result.mistake->message;
  EXPECT_LE(step.result.bound, step.result.value);
  EXPECT_EQ(step.replayed, step.result.value);
}

TEST(Ordering, OverlapsTwoChunksWhereThatPays) {
  CostModel costs = makeCosts(deepSeekV3(), prefill, h100());
  Strategy plan =
      strategy({8, 8, 1, 64}, std::string(costs.model().numVariables(), '0'));
  auto steps = orderStep(costs, plan, quick({1, 2}));
  ASSERT_TRUE(steps) << steps.error().message;
  EXPECT_EQ(fastest(*steps), 1u);
  EXPECT_LT((*steps)[1].result.value, (*steps)[0].result.value);
}

/// What the stages of a step take that do one thing at a time.
std::vector<int64_t> serialLoads(const StepGraph &step, int64_t stages) {
  std::vector<int64_t> loads(size_t(stages), 0);
  for (const schedule::PlanOp &op : step.graph.ops)
    loads[op.stage] += op.times[0];
  return loads;
}

TEST(Ordering, StagesOnUnlikeMachines) {
  std::mt19937 random(6);
  Machine slow = h100();
  slow.name = "half";
  slow.bf16Flops /= 2;
  slow.memoryBandwidth /= 2;
  slow.memoryCapacity *= 2;
  for (const Case &test : cases()) {
    CostModel costs = makeCosts(test.config, test.workload, h100());
    Strategy strategy = randomStrategy(costs, random);
    strategy.degrees = {8, 8, 3, 3 * 64};
    if (breakdown(costs, strategy).ops.empty())
      continue;
    double room = 1e15; // of which cuts fit is another test's
    std::vector<StageKind> kinds = {
        {"h100", std::make_shared<Roofline>(h100(), CommModel::Fast), room, 2},
        {"half", std::make_shared<Roofline>(slow, CommModel::Fast), room, 1}};
    ErrorOr<UnlikeStages> plan = planUnlikeStages(costs, strategy, kinds);
    ASSERT_TRUE(plan) << plan.error().message;
    // Its loads are those of the step that is ordered then.
    auto loadsOf = [&](const std::vector<int32_t> &row, const StageCut &cut) {
      UnlikeStages own;
      own.kinds = row;
      StepOptions options;
      options.clocks = own.clocks(kinds);
      Strategy given = strategy;
      given.degrees.stages = cut;
      ErrorOr<StepGraph> step = makeStepGraph(costs, given, options);
      return step ? serialLoads(*step, 3) : std::vector<int64_t>();
    };
    std::vector<int64_t> loads = loadsOf(plan->kinds, plan->cut);
    ASSERT_EQ(loads.size(), 3u);
    for (size_t s = 0; s < 3; ++s)
      EXPECT_NEAR(double(loads[s]), double(plan->loads[s]), 2);
    EXPECT_EQ(plan->bottleneck,
              *std::max_element(plan->loads.begin(), plan->loads.end()));
    ASSERT_TRUE(plan->even);
    EXPECT_LT(plan->bottleneck, *plan->even);
    // No row and no cut near it is faster.
    for (std::vector<int32_t> row :
         {std::vector<int32_t>{0, 0, 1}, {0, 1, 0}, {1, 0, 0}})
      for (int64_t a : {-1, 0, 1})
        for (int64_t b : {-1, 0, 1}) {
          StageCut cut = plan->cut;
          cut.layers[0] += a;
          cut.layers[1] += b - a;
          cut.layers[2] -= b;
          std::vector<int64_t> other = loadsOf(row, cut);
          if (!other.empty())
            EXPECT_GE(*std::max_element(other.begin(), other.end()) + 2,
                      plan->bottleneck);
        }
  }
}

TEST(Ordering, UnlikeMachinesHoldWhatFits) {
  CostModel costs = makeCosts(llama70B(), decode, h100());
  std::mt19937 random(7);
  Strategy strategy = randomStrategy(costs, random);
  strategy.degrees = {8, 1, 2, 64};
  auto time = std::make_shared<Roofline>(h100(), CommModel::Fast);
  auto plan = [&](double first, double second) {
    return planUnlikeStages(costs, strategy,
                            {{"a", time, first, 1}, {"b", time, second, 1}});
  };
  ErrorOr<UnlikeStages> whole = plan(1e15, 1e15);
  ASSERT_TRUE(whole) << whole.error().message;
  double bytes = (breakdown(costs, strategy).memory.weightsGb +
                  breakdown(costs, strategy).memory.kvCacheGb) *
                 1e9;
  // Little memory keeps most layers from one of them.
  ErrorOr<UnlikeStages> narrow = plan(bytes / 4, 4 * bytes);
  ASSERT_TRUE(narrow) << narrow.error().message;
  size_t small = narrow->kinds[0] == 0 ? 0 : 1;
  EXPECT_LT(narrow->cut.layers[small], 20);
  EXPECT_GT(narrow->bottleneck, whole->bottleneck);
  EXPECT_FALSE(narrow->even);
  ErrorOr<UnlikeStages> none = plan(bytes / 4, bytes);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message,
            "no division into 2 stages fits the memory of the groups");
  ErrorOr<UnlikeStages> three = planUnlikeStages(
      costs, strategy, {{"a", time, 1e15, 1}, {"b", time, 1e15, 2}});
  ASSERT_FALSE(three);
  EXPECT_EQ(three.error().message,
            "the groups hold 3 stages, the strategy has 2");
}

TEST(Ordering, SaysWhatIsWrong) {
  CostModel costs = makeCosts(llama70B(), decode, h100());
  std::mt19937 random(3);
  Strategy plan = randomStrategy(costs, random);
  plan.degrees.batch = plan.degrees.pp = 1;
  ErrorOr<StepGraph> chunks = makeStepGraph(costs, plan, {2});
  ASSERT_FALSE(chunks);
  EXPECT_EQ(chunks.error().message,
            "a micro-batch has 1 sequences, expected at most as many chunks, "
            "found 2");
  plan.degrees.pp = 81;
  ErrorOr<StepGraph> stages = makeStepGraph(costs, plan, {});
  ASSERT_FALSE(stages);
  EXPECT_NE(stages.error().message.find("the strategy is invalid: pp"),
            std::string::npos)
      << stages.error().message;
}

} // namespace
