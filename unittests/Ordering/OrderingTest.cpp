//===- OrderingTest.cpp - Steps of strategies in an order -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Breakdown.h"
#include "shardopt/Ordering/JointPlan.h"
#include "shardopt/Ordering/Replay.h"
#include "shardopt/Ordering/StepOrder.h"

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
    const CostModel costs = makeCosts(test.config, test.workload, h100());
    for (int i = 0; i < 5; ++i) {
      const Strategy strategy = randomStrategy(costs, random);
      const Breakdown expected = breakdown(costs, strategy);
      ErrorOr<StepGraph> step = makeStepGraph(costs, strategy, {});
      ASSERT_TRUE(step) << step.error().message;
      std::vector<double> ms(size_t(strategy.degrees.pp)), bytes(ms);
      for (const schedule::PlanOp &op : step->graph.ops) {
        ms[op.stage] += double(op.times[0]) / 1e6;
        bytes[op.stage] += double(op.parameterBytes);
      }
      const double rounding = 1e-6 * double(step->graph.ops.size());
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
    const CostModel costs = makeCosts(test.config, test.workload, h100());
    for (bool reorders : {false, true}) {
      const Strategy strategy = randomStrategy(costs, random);
      auto steps = orderStep(costs, strategy, quick({1, 2}, reorders));
      ASSERT_TRUE(steps) << steps.error().message;
      for (const OrderedStep &step : *steps) {
        EXPECT_EQ(step.replayed, step.result.verdict.makespan);
        const Replay again = replay(step.instance, *step.result.schedule, 0);
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

TEST(Ordering, WithoutReorderingAChunkFollowsItsProgram) {
  const CostModel costs = makeCosts(deepSeekV3(), decode, h100());
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

TEST(Ordering, OverlapsTwoChunksWhereThatPays) {
  const CostModel costs = makeCosts(deepSeekV3(), prefill, h100());
  const Strategy plan =
      strategy({8, 8, 1, 64}, std::string(costs.model().numVariables(), '0'));
  auto steps = orderStep(costs, plan, quick({1, 2}));
  ASSERT_TRUE(steps) << steps.error().message;
  EXPECT_EQ(fastest(*steps), 1u);
  EXPECT_LT((*steps)[1].result.value, (*steps)[0].result.value);
}

/// The Roofline of H100s, and a few layers of a model so that all cuts and dims
/// can be tried.
JointProblem smallProblem(const ModelConfig &config, const Degrees &degrees) {
  const Machine machine = h100();
  return {makeModel(config, decode),
          std::make_shared<Roofline>(machine, CommModel::Fast),
          machine.expertSkew, machine.memoryCapacity, degrees};
}

TEST(Ordering, JointPlansLieBetweenSequentialOnesAndTheBound) {
  ModelConfig moe = gptMoe(5), dense = llama70B();
  dense.layers = 6;
  for (const JointProblem &problem :
       {smallProblem(moe, {4, 4, 2, 64}), smallProblem(dense, {4, 1, 3, 48}),
        smallProblem(dense, {8, 1, 1, 16})}) {
    JointOptions options;
    options.rounds = 4;
    ErrorOr<JointPlan> plan = planJointly(problem, options);
    ASSERT_TRUE(plan) << plan.error().message;
    EXPECT_TRUE(plan->isSettled);
    EXPECT_LE(plan->joint.contended, plan->sequential.contended);
    EXPECT_LE(plan->bound, double(plan->joint.planned) * (1 + 1e-9));
    EXPECT_GT(plan->bound, 0);
  }
}

TEST(Ordering, NoPlanUndercutsTheBound) {
  ModelConfig moe = gptMoe(4);
  const JointProblem problem = smallProblem(moe, {4, 2, 2, 32});
  JointOptions options;
  options.chunks = {2};
  options.rounds = 2;
  ErrorOr<JointPlan> plan = planJointly(problem, options);
  ASSERT_TRUE(plan) << plan.error().message;
  const CostModel costs = makeCosts(moe, decode, h100());
  std::mt19937 random(4);
  for (int i = 0; i < 20; ++i) {
    Strategy any = randomStrategy(costs, random);
    any.degrees = problem.degrees;
    any.degrees.stages.layers = {1 + int64_t(random() % 3), 0};
    any.degrees.stages.layers[1] = 4 - any.degrees.stages.layers[0];
    if (auto steps = orderStep(costs, any, quick({2})))
      EXPECT_LE(plan->bound, double(steps->front().result.value) * (1 + 1e-9));
  }
}

TEST(Ordering, SaysWhatIsWrong) {
  const CostModel costs = makeCosts(llama70B(), decode, h100());
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
