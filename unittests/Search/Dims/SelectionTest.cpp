//===- SelectionTest.cpp - Sharding dims as strategies --------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Breakdown.h"
#include "shardopt/Cost/Roofline.h"
#include "shardopt/Cost/Tables/Evaluate.h"
#include "shardopt/Search/Dims/BalancedChoice.h"
#include "shardopt/Solvers/Selection/Verify.h"

#include "TestModels.h"
#include "WiredModels.h"

#include <gtest/gtest.h>
#include <random>

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::test;
using namespace shardopt::selection;

namespace {

struct Case {
  std::string name;
  ModelConfig config;
  Workload workload;
};

const Workload decode{Phase::Decode, 16384}, prefill{Phase::Prefill, 2048};

/// `few` strategies, or as many as SHARDOPT_STRATEGIES asks for.
int orMany(int few) {
  const char *asked = std::getenv("SHARDOPT_STRATEGIES");
  return asked ? std::max(few, std::atoi(asked)) : few;
}

std::vector<Case> cases() {
  return {{"gpt", gptMoe(60), decode},
          {"llama", llama70B(), decode},
          {"mixtral", mixtral8x22B(), decode},
          {"qwen", qwen3Moe235B(), decode},
          {"deepseek", deepSeekV3(), decode},
          {"gpt-oss", gptOss120B(), decode},
          {"deepseek-prefill", deepSeekV3(), prefill}};
}

Degrees randomDegrees(std::mt19937 &random) {
  return {int64_t{1} << random() % 6, int64_t{1} << random() % 4,
          int64_t(1 + random() % 8), int64_t{1} << random() % 12};
}

std::vector<DimSet> allDomains(const CostModel &costs) {
  return std::vector<DimSet>(costs.model().numVariables(), 7);
}

/// What the graph, and the problem made of it, say of random strategies is what
/// the simulator says.
void expectSameCosts(const Case &test, int numDegrees, int numStrategies) {
  CostModel costs = makeCosts(test.config, test.workload, h100());
  std::mt19937 random(3);
  for (int i = 0; i < numDegrees; ++i) {
    Degrees degrees = randomDegrees(random);
    Tables tables(costs, degrees);
    if (tables.isStructurallyInvalid())
      continue;
    StrategyGraph graph(costs, degrees, allDomains(costs));
    Aim aim;
    for (const Stage &stage : graph.stages())
      aim.weights.push_back(double(stage.repeats));
    aim.resources = memoryResources(graph);
    ScaledProblem scaled = makeProblem(graph, aim);
    ASSERT_FALSE(scaled.problem.check());
    for (int k = 0; k < numStrategies; ++k) {
      std::vector<Dim> dims;
      for (size_t v = 0; v < costs.model().numVariables(); ++v)
        dims.push_back(Dim(random() % 3));
      Evaluation expected = evaluate(tables, dims);
      std::optional<Choice> choice = graph.follow(dims);
      ASSERT_EQ(choice.has_value(), expected.reason != Reason::Structural);
      if (!choice)
        continue;
      EXPECT_EQ(graph.dims(*choice), dims);
      Pipeline pipeline = graph.pipeline(*choice);
      Evaluation found = judge(pipeline, graph.context(), costs.limits());
      EXPECT_NEAR(found.latencyMs, expected.latencyMs,
                  1e-11 * expected.latencyMs);
      EXPECT_NEAR(found.throughput, expected.throughput,
                  1e-11 * expected.throughput);
      EXPECT_NEAR(found.memoryGb, expected.memoryGb, 1e-11 * expected.memoryGb);
      auto verdict = solve::verify(scaled.problem, scaled.solutionOf(*choice));
      ASSERT_TRUE(verdict);
      EXPECT_NEAR(double(verdict->cost) * scaled.secondsPerUnit,
                  pipeline.sumSeconds, 1e-11 * pipeline.sumSeconds);
      EXPECT_LE(double(verdict->cost) * scaled.secondsPerUnit,
                pipeline.sumSeconds * (1 + 1e-12));
      if (pipeline.maxBytes < 0.99 * costs.limits().memoryBytes)
        EXPECT_NEAR(double(verdict->peak) / double(int64_t(1) << 50) *
                        costs.limits().memoryBytes,
                    pipeline.maxBytes, 1e-9 * pipeline.maxBytes);
      EXPECT_EQ(verdict->feasible,
                pipeline.maxBytes <= costs.limits().memoryBytes);
    }
  }
}

TEST(SelectionTest, CostsWhatTheSimulatorSays) {
  for (const Case &test : cases()) {
    SCOPED_TRACE(test.name);
    expectSameCosts(test, 6, orMany(40));
  }
}

/// Trellis and solver find strategies of one value.
void expectSameOptimum(const Case &test, int numDegrees) {
  CostModel costs = makeCosts(test.config, test.workload, h100());
  std::mt19937 random(5);
  for (int i = 0; i < numDegrees; ++i) {
    Degrees degrees = randomDegrees(random);
    Tables tables(costs, degrees);
    if (tables.isStructurallyInvalid())
      continue;
    std::vector<DimSet> domains = allDomains(costs);
    StrategyGraph graph(costs, degrees, domains);
    for (Goal goal : {Goal::Throughput, Goal::Latency}) {
      SCOPED_TRACE(spell(degrees));
      auto expected = optimalDims(tables, domains, goal);
      ChoiceResult found = optimalChoice(graph, goal);
      EXPECT_TRUE(found.proved);
      ASSERT_EQ(found.best.has_value(), expected.has_value());
      if (!expected)
        continue;
      // Other metrics may differ where several dims are as good.
      const Evaluation &best = found.best->evaluation;
      if (goal == Goal::Throughput)
        EXPECT_NEAR(best.throughput, expected->evaluation.throughput,
                    1e-10 * best.throughput);
      else
        EXPECT_NEAR(best.latencyMs, expected->evaluation.latencyMs,
                    1e-10 * best.latencyMs);
    }
  }
}

TEST(SelectionTest, FindsWhatTheTrellisFinds) {
  for (const Case &test : cases()) {
    SCOPED_TRACE(test.name);
    expectSameOptimum(test, 4);
  }
}

//===----------------------------------------------------------------------===//
// Layers that are no chains
//===----------------------------------------------------------------------===//

TEST(SelectionTest, CostsTowersAsTheNaiveModelDoes) {
  for (size_t numTowers : {1, 2, 3, 6}) {
    CostModel costs = towerCosts(numTowers);
    EXPECT_EQ(costs.hasTrellises(), numTowers < 5);
    std::mt19937 random(11);
    for (int i = 0; i < 4; ++i) {
      Degrees degrees = randomDegrees(random);
      StrategyGraph graph(costs, degrees, allDomains(costs));
      for (int k = 0; k < orMany(40); ++k) {
        std::vector<Dim> dims;
        for (size_t v = 0; v < costs.model().numVariables(); ++v)
          dims.push_back(Dim(random() % 3));
        Evaluation expected = breakdown(costs, {degrees, dims}).evaluation;
        std::optional<Choice> choice = graph.follow(dims);
        ASSERT_EQ(choice.has_value(), expected.reason != Reason::Structural);
        if (!choice)
          continue;
        Evaluation found =
            judge(graph.pipeline(*choice), graph.context(), costs.limits());
        EXPECT_NEAR(found.latencyMs, expected.latencyMs,
                    1e-11 * expected.latencyMs);
        EXPECT_NEAR(found.memoryGb, expected.memoryGb,
                    1e-11 * expected.memoryGb);
      }
    }
  }
}

TEST(SelectionTest, FindsWhatTheTrellisFindsOfTowers) {
  CostModel costs = towerCosts(2);
  std::mt19937 random(13);
  for (int i = 0; i < 4; ++i) {
    Degrees degrees = randomDegrees(random);
    std::vector<DimSet> domains = allDomains(costs);
    auto expected =
        optimalDims(Tables(costs, degrees), domains, Goal::Throughput);
    ChoiceResult found =
        optimalChoice(StrategyGraph(costs, degrees, domains), Goal::Throughput);
    SCOPED_TRACE(spell(degrees));
    EXPECT_TRUE(found.proved);
    ASSERT_EQ(found.best.has_value(), expected.has_value());
    if (expected)
      EXPECT_NEAR(found.best->evaluation.throughput,
                  expected->evaluation.throughput,
                  1e-10 * expected->evaluation.throughput);
  }
}

/// More values than a trellis can hold: compared with enumeration, where most
/// dims are given.
TEST(SelectionTest, FindsTheBestOfManyTowers) {
  CostModel costs = towerCosts(6);
  std::mt19937 random(17);
  int numFeasible = 0;
  for (int i = 0; i < 6; ++i) {
    Degrees degrees{4, 2, 1 + i % 3, 16};
    std::vector<DimSet> domains;
    for (size_t v = 0; v < costs.model().numVariables(); ++v)
      domains.push_back(only(Dim(random() % 3)));
    for (int k = 0; k < 5; ++k)
      domains[random() % domains.size()] = 7;
    double best = 0;
    std::vector<Dim> dims(domains.size());
    auto visit = [&](auto &self, size_t v) -> void {
      if (v == dims.size()) {
        Evaluation found = breakdown(costs, {degrees, dims}).evaluation;
        if (found.valid)
          best = std::max(best, found.throughput);
        return;
      }
      for (Dim dim : {Dim::Zero, Dim::One, Dim::None})
        if (contains(domains[v], dim)) {
          dims[v] = dim;
          self(self, v + 1);
        }
    };
    visit(visit, 0);
    ChoiceResult found =
        optimalChoice(StrategyGraph(costs, degrees, domains), Goal::Throughput);
    EXPECT_TRUE(found.proved);
    ASSERT_EQ(found.best.has_value(), best > 0);
    numFeasible += best > 0;
    if (best > 0)
      EXPECT_NEAR(found.best->evaluation.throughput, best, 1e-10 * best);
  }
  EXPECT_GT(numFeasible, 0);
}

/// Cuts and dims in turn are never above the optimum of both, which dynamic
/// programming over trellises finds, and their bound is never below it.
TEST(Selection, BalancedChoicesLieBetweenEvenOnesAndTheBound) {
  int compared = 0, optimal = 0;
  for (const Case &test : cases())
    for (int64_t pp : {2, 3, 4}) {
      ModelConfig config = test.config;
      config.layers = 11;
      Machine machine = h100();
      auto time = std::make_shared<Roofline>(machine, CommModel::Fast);
      Limits limits;
      limits.memoryBytes = machine.memoryCapacity;
      limits.latencySeconds = std::numeric_limits<double>::infinity();
      CostModel balanced(makeModel(config, test.workload), time,
                         machine.expertSkew, limits, StageDivision::Balanced);
      CostModel even(makeModel(config, test.workload), time, machine.expertSkew,
                     limits);
      Degrees degrees{4, config.experts ? 4 : 1, pp, 16 * pp};
      std::vector<DimSet> domains = allDomains(balanced);
      auto exact =
          optimalDims(Tables(balanced, degrees), domains, Goal::Throughput);
      auto uncut =
          optimalDims(Tables(even, degrees), domains, Goal::Throughput);
      if (!exact || !uncut)
        continue;
      ++compared;
      BalancedChoice found =
          balancedChoice(balanced, degrees, domains, Goal::Throughput);
      ASSERT_TRUE(found.choice.best) << test.name;
      double value = found.choice.best->evaluation.throughput;
      double optimum = exact->evaluation.throughput;
      EXPECT_LE(value, optimum * (1 + 1e-9)) << test.name << ", pp " << pp;
      EXPECT_GE(value, uncut->evaluation.throughput * (1 - 1e-9));
      ASSERT_TRUE(found.choice.bound);
      EXPECT_GE(*found.choice.bound, optimum * (1 - 1e-9));
      Strategy chosen{degrees, found.choice.best->dims};
      chosen.degrees.stages = found.cut;
      EXPECT_NEAR(breakdown(even, chosen).evaluation.throughput, value,
                  1e-9 * value);
      optimal += value >= optimum * (1 - 1e-9);
      // What is known before is not found again unless it is as good.
      EXPECT_FALSE(balancedChoice(balanced, degrees, domains, Goal::Throughput,
                                  *found.choice.bound * 1.01)
                       .choice.best);
    }
  EXPECT_GE(compared, 12);
  EXPECT_GE(optimal, compared - 2);
}

} // namespace
