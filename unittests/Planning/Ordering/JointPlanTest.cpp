//===- JointPlanTest.cpp - Dims, stages and order together ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/Ordering/JointPlan.h"
#include "shardopt/Cost/Roofline.h"
#include "shardopt/Cost/Tables/Evaluate.h"

#include "TestModels.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::test;
using namespace shardopt::ordering;

namespace {

const Workload longDecode{Phase::Decode, 16384};

ModelConfig cutTo(ModelConfig config, int64_t layers) {
  config.layers = layers;
  return config;
}

/// The Roofline of H100s, and a few layers of a model so that all cuts and dims
/// can be tried.
JointProblem smallProblem(const ModelConfig &config, const Degrees &degrees) {
  Machine machine = h100();
  return {makeModel(config, longDecode),
          std::make_shared<Roofline>(machine, CommModel::Fast),
          machine.expertSkew, machine.memoryCapacity, degrees};
}

std::vector<Dim> randomDims(const CostModel &costs, std::mt19937 &random) {
  std::vector<Dim> dims;
  for (const Node *node : costs.model().nodesByVariable()) {
    auto choices = node->op->choices();
    dims.push_back(choices[random() % choices.size()].dim);
  }
  return dims;
}

/// What `--llm-schedule-stages` would answer: planned and contended.
std::pair<int64_t, double> orderedAlone(const CostModel &costs,
                                        const Strategy &strategy,
                                        const JointOptions &options) {
  schedule::SolverOptions solver;
  solver.timeLimit = 0;
  solver.rounds = options.rounds;
  if (options.inFlight.empty()) {
    auto steps = orderStep(costs, strategy, {solver, options.chunks});
    EXPECT_TRUE(steps) << steps.error().message;
    const OrderedStep &best = (*steps)[fastest(*steps)];
    EXPECT_LE(best.result.value, best.programOrder);
    EXPECT_LE(best.programOrder, best.serial);
    return {best.result.value, best.contended};
  }
  auto rings =
      orderRings(costs, strategy, {solver, options.inFlight, options.chunks});
  EXPECT_TRUE(rings) << rings.error().message;
  const OrderedRing &best = (*rings)[fastest(*rings)];
  EXPECT_LE(best.turn.period, best.programOrder);
  return {best.turn.period, best.contended};
}

/// Joint, ordered, as the strategy is: in this row, for random programs.
TEST(JointPlan, IsNeverSlowerThanWhatIsOrderedAlone) {
  std::mt19937 random(9);
  int compared = 0;
  for (const ModelConfig &config :
       {cutTo(gptMoe(2), 2), cutTo(llama70B(), 3), cutTo(deepSeekV3(), 4),
        cutTo(qwen3Moe235B(), 2), cutTo(gptOss120B(), 2)})
    for (bool isRing : {false, true})
      for (int tries = 0; tries < 3; ++tries) {
        int64_t pp = 1 + int64_t(random() % 2);
        JointProblem problem = smallProblem(
            config, {2 << random() % 2, config.experts ? 4 : 1, pp, 8 * pp});
        CostModel costs = makeCosts(config, longDecode, h100());
        problem.dims = randomDims(costs, random);
        Strategy given{problem.degrees, problem.dims};
        JointOptions options;
        options.rounds = 1;
        options.mostMoves = 1;
        if (isRing)
          options.inFlight = usualInFlight(costs, given.degrees);
        ErrorOr<JointPlan> plan = planJointly(problem, options);
        if (!plan)
          continue; // these dims do not fit
        ++compared;
        EXPECT_EQ(plan->sequential.strategy, given);
        auto [planned, contended] = orderedAlone(costs, given, options);
        EXPECT_EQ(plan->sequential.planned, planned);
        EXPECT_EQ(plan->sequential.contended, contended);
        EXPECT_LE(plan->joint.planned, planned);
        EXPECT_LE(plan->joint.contended, contended);
        EXPECT_LE(plan->bound, double(plan->joint.planned) * (1 + 1e-9));
        if (isRing)
          EXPECT_EQ(plan->own, evaluate(costs, given).latencyMs * 1e6);
        // Times of ops are rounded to nanoseconds.
        EXPECT_LE(double(planned), plan->own + 1e4);
      }
  EXPECT_GE(compared, 20);
}

TEST(JointPlan, LiesBetweenTheOptimumOrderedAndTheBound) {
  ModelConfig moe = gptMoe(5), dense = cutTo(llama70B(), 6);
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

TEST(JointPlan, OfARingHasOneOfItsMicroBatches) {
  JointProblem problem = smallProblem(cutTo(llama70B(), 3), {4, 1, 2, 64});
  JointOptions options;
  options.rounds = 1;
  options.mostMoves = 1;
  options.chunks = {1};
  options.inFlight = {2, 3};
  ErrorOr<JointPlan> plan = planJointly(problem, options);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_LE(plan->bound, double(plan->joint.planned) * (1 + 1e-9));
  EXPECT_GT(plan->bound, 0);
  EXPECT_GE(plan->joint.inFlight, 2);
  ASSERT_TRUE(plan->joint.ring);
  EXPECT_EQ(plan->joint.ring->turn.period, plan->joint.planned);
}

TEST(JointPlan, NoPlanUndercutsTheBound) {
  ModelConfig moe = gptMoe(4);
  JointProblem problem = smallProblem(moe, {4, 2, 2, 32});
  JointOptions options;
  options.chunks = {2};
  options.rounds = 2;
  ErrorOr<JointPlan> plan = planJointly(problem, options);
  ASSERT_TRUE(plan) << plan.error().message;
  CostModel costs = makeCosts(moe, longDecode, h100());
  std::mt19937 random(4);
  // No bound of theirs is asked for, which is what takes long.
  OrderOptions found;
  found.solver.timeLimit = 0;
  found.solver.rounds = 8;
  found.solver.backend = "rules";
  found.chunks = {2};
  for (int i = 0; i < 20; ++i) {
    Strategy any{problem.degrees, randomDims(costs, random)};
    any.degrees.stages.layers = {1 + int64_t(random() % 3), 0};
    any.degrees.stages.layers[1] = 4 - any.degrees.stages.layers[0];
    if (auto steps = orderStep(costs, any, found))
      EXPECT_LE(plan->bound, double(steps->front().result.value) * (1 + 1e-9));
  }
}

TEST(JointPlan, SaysWhatDoesNotFit) {
  JointProblem problem = smallProblem(llama70B(), {1, 1, 2, 64});
  CostModel costs = makeCosts(llama70B(), longDecode, h100());
  problem.dims.assign(costs.model().numVariables(), Dim::Zero);
  ErrorOr<JointPlan> plan = planJointly(problem, {});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().message,
            "the strategy does not fit into the memory of a device");
}

} // namespace
