//===- ActivationLimitTest.cpp - Limits on values between ops -------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Enumeration.h"
#include "WiredModels.h"
#include "shardopt/Cost/Breakdown.h"
#include "shardopt/Cost/LiveValues.h"
#include "shardopt/Search/Dims/BalancedChoice.h"
#include "shardopt/Search/Dims/QuickBound.h"
#include "shardopt/Solvers/Selection/Verify.h"

#include <gtest/gtest.h>
#include <limits>

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::test;
using namespace shardopt::selection;

namespace {

constexpr double unlimitedBytes = std::numeric_limits<double>::infinity();

struct Wiring {
  std::string name;
  Model model;
};

/// Wirings with a trellis, in decode and in prefill.
std::vector<Wiring> wirings() {
  std::vector<Wiring> list;
  for (Workload workload :
       {Workload{Phase::Decode, 4096}, Workload{Phase::Prefill, 512}}) {
    std::string in = std::string(" ") + spell(workload.phase);
    list.push_back({"chain" + in, makeModel(llama70B(), workload)});
    list.push_back({"experts" + in, makeModel(mixtral8x22B(), workload)});
    list.push_back({"latent" + in, makeModel(deepSeekV3(), workload)});
    list.push_back({"windows" + in, makeModel(gptOss120B(), workload)});
    for (auto [name, body] : {std::pair("parallel", makeParallelBlock(4096)),
                              std::pair("post-norm", makePostNorm(4096)),
                              std::pair("towers", makeTowers(4096, 2)),
                              std::pair("four towers", makeTowers(4096, 4))})
      list.push_back({name + in, wiredCosts(body, workload).model()});
  }
  return list;
}

CostModel costsUnder(const Model &model, double activationBytes,
                     double memoryBytes = 4e12,
                     StageDivision division = StageDivision::Even) {
  Limits limits;
  limits.memoryBytes = memoryBytes;
  limits.activationBytes = activationBytes;
  limits.latencySeconds = 60;
  return CostModel(model, std::make_shared<Roofline>(h100(), CommModel::Fast),
                   0.1, limits, division);
}

Degrees degreesAtRandom(std::mt19937 &random) {
  return {int64_t{1} << random() % 4, int64_t{1} << random() % 3,
          int64_t(1 + random() % 3), int64_t{1} << (2 + random() % 6)};
}

std::vector<Dim> randomDims(const std::vector<DimSet> &domains,
                            std::mt19937 &random) {
  std::vector<Dim> dims;
  for (DimSet domain : domains) {
    Dim dim;
    do
      dim = Dim(random() % 3);
    while (!contains(domain, dim));
    dims.push_back(dim);
  }
  return dims;
}

std::vector<DimSet> allOf(const Model &model) {
  return std::vector<DimSet>(model.numVariables(), commonDims);
}

/// Legal random dims, if they are found.
std::optional<Strategy> legalAtRandom(const CostModel &costs,
                                      const Degrees &degrees,
                                      const std::vector<DimSet> &domains,
                                      std::mt19937 &random) {
  for (int i = 0; i < 100; ++i) {
    Strategy strategy{degrees, randomDims(domains, random)};
    if (!liveMoments(costs, strategy).empty())
      return strategy;
  }
  return std::nullopt;
}

double valueOf(const Evaluation &evaluation, Goal goal) {
  return goal == Goal::Throughput ? evaluation.throughput
                                  : -evaluation.latencyMs;
}

} // namespace

/// Tables, the naive model, the graph and the problem made of it say the same
/// of a strategy: what it holds, and whether that fits.
TEST(ActivationLimit, IsOneForAllWhoAsk) {
  std::mt19937 random(1);
  for (const Wiring &test : wirings()) {
    SCOPED_TRACE(test.name);
    CostModel free = costsUnder(test.model, unlimitedBytes);
    std::vector<DimSet> domains = allOf(test.model);
    int numFit = 0, numNot = 0;
    for (int i = 0; i < 6; ++i) {
      Degrees degrees = degreesAtRandom(random);
      auto any = legalAtRandom(free, degrees, domains, random);
      ASSERT_TRUE(any);
      double limit = livePeak(free, *any).bytes;
      CostModel costs = costsUnder(test.model, limit);
      Tables tables(costs, degrees);
      StrategyGraph graph(costs, degrees, domains);
      Aim aim{std::vector<double>(graph.stages().size(), 1), {}};
      aim.activationBytes = activationLimit(graph);
      ScaledProblem scaled = makeProblem(graph, aim);
      for (int k = 0; k < 20; ++k) {
        Strategy strategy{degrees, randomDims(domains, random)};
        Evaluation found = evaluate(tables, strategy.dims);
        Evaluation naive = breakdown(costs, strategy).evaluation;
        EXPECT_EQ(found.reason, naive.reason);
        EXPECT_EQ(found.activationsGb, naive.activationsGb);
        if (!found.hasMetrics())
          continue;
        double peak = livePeak(costs, strategy).bytes;
        EXPECT_EQ(found.activationsGb, peak / 1e9);
        bool fits = peak <= limit;
        if (found.reason != Reason::Memory)
          EXPECT_EQ(found.reason == Reason::Activations, !fits);
        auto choice = graph.follow(strategy.dims);
        ASSERT_TRUE(choice);
        auto verdict =
            solve::verify(scaled.problem, scaled.solutionOf(*choice));
        ASSERT_TRUE(verdict);
        EXPECT_EQ(verdict->feasible, fits);
        ++(fits ? numFit : numNot);
      }
    }
    EXPECT_GT(numFit, 0);
    EXPECT_GT(numNot, 0);
  }
}

/// Under limits that some choices of dims exceed, the trellis finds what
/// enumeration finds, and selection an equal.
TEST(ActivationLimit, LeavesWhatEnumerationFinds) {
  std::mt19937 random(2);
  int numChanged = 0;
  for (const Wiring &test : wirings()) {
    SCOPED_TRACE(test.name);
    CostModel free = costsUnder(test.model, unlimitedBytes);
    for (int i = 0; i < 6; ++i) {
      Degrees degrees = degreesAtRandom(random);
      SCOPED_TRACE(spell(degrees));
      std::vector<DimSet> domains =
          randomDomains(test.model.numVariables(), 7, random);
      auto any = legalAtRandom(free, degrees, domains, random);
      if (!any)
        continue;
      double memoryGb = breakdown(free, *any).evaluation.memoryGb;
      CostModel costs = costsUnder(test.model, livePeak(free, *any).bytes,
                                   random() % 2 ? memoryGb * 1.000001e9 : 4e12);
      Tables tables(costs, degrees), freeTables(free, degrees);
      for (Goal goal : {Goal::Throughput, Goal::Latency}) {
        auto expected = enumerate(tables, domains, goal);
        auto found = optimalDims(tables, domains, goal);
        ChoiceResult selected =
            optimalChoice(StrategyGraph(costs, degrees, domains), goal);
        ASSERT_EQ(found.has_value(), expected.has_value());
        ASSERT_EQ(selected.best.has_value(), expected.has_value());
        EXPECT_TRUE(selected.proved);
        if (!found) {
          EXPECT_NE(boundDims(tables, domains, goal).infeasible, Reason::None);
          continue;
        }
        EXPECT_EQ(found->dims, expected->dims);
        double value = valueOf(found->evaluation, goal);
        EXPECT_EQ(value, valueOf(expected->evaluation, goal));
        EXPECT_NEAR(valueOf(selected.best->evaluation, goal), value,
                    1e-10 * std::abs(value));
        TableRequest request{degrees, std::nullopt, domains, nullptr};
        DimsBound walked = boundQuickly(costs, request, goal, true);
        DimsBound quick = boundQuickly(costs, request, goal);
        double sign = goal == Goal::Throughput ? 1 : -1;
        EXPECT_GE(sign * walked.value, value - 1e-12 * std::abs(value));
        EXPECT_LE(sign * walked.value, sign * quick.value);
        auto unlimited = optimalDims(freeTables, domains, goal);
        ASSERT_TRUE(unlimited);
        EXPECT_GE(valueOf(unlimited->evaluation, goal), value);
        numChanged += unlimited->dims != found->dims;
      }
    }
  }
  EXPECT_GT(numChanged, 10);
}

/// The same where the layers of stages are divided for each choice of dims;
/// dims and stages in turn are never better, and their bound is never worse.
TEST(ActivationLimit, HoldsForBalancedStages) {
  std::mt19937 random(4);
  int numFeasible = 0;
  for (const Wiring &test : wirings()) {
    SCOPED_TRACE(test.name);
    CostModel free = costsUnder(test.model, unlimitedBytes);
    Degrees degrees{4, 1, 3, 32};
    std::vector<DimSet> domains =
        randomDomains(test.model.numVariables(), 6, random);
    auto any = legalAtRandom(free, degrees, domains, random);
    if (!any)
      continue;
    CostModel costs = costsUnder(test.model, livePeak(free, *any).bytes, 4e12,
                                 StageDivision::Balanced);
    Tables tables(costs, degrees);
    auto expected = enumerate(tables, domains, Goal::Throughput);
    auto found = optimalDims(tables, domains, Goal::Throughput);
    BalancedChoice inTurn =
        balancedChoice(costs, degrees, domains, Goal::Throughput);
    ASSERT_EQ(found.has_value(), expected.has_value());
    ASSERT_EQ(inTurn.choice.best.has_value(), expected.has_value());
    if (!found)
      continue;
    EXPECT_EQ(found->dims, expected->dims);
    double value = found->evaluation.throughput;
    const Evaluation &reached = inTurn.choice.best->evaluation;
    EXPECT_TRUE(reached.valid);
    EXPECT_LE(reached.throughput, value * (1 + 1e-10));
    EXPECT_GE(*inTurn.choice.bound, value * (1 - 1e-10));
    ++numFeasible;
  }
  EXPECT_GT(numFeasible, 8);
}

/// More values than a trellis can hold, and a limit that most dims exceed.
TEST(ActivationLimit, HoldsForManyTowers) {
  Model model = wiredCosts(makeTowers(4096, 6), {Phase::Decode, 4096}).model();
  CostModel free = costsUnder(model, unlimitedBytes);
  ASSERT_FALSE(free.hasTrellises());
  std::mt19937 random(5);
  int numBound = 0;
  for (int i = 0; i < 8; ++i) {
    Degrees degrees{int64_t{1} << random() % 4, 1, 1 + i % 3, 16};
    std::vector<DimSet> domains =
        randomDomains(model.numVariables(), 6, random);
    auto any = legalAtRandom(free, degrees, domains, random);
    ASSERT_TRUE(any);
    CostModel costs = costsUnder(model, livePeak(free, *any).bytes);
    double best = 0, unlimited = 0;
    forEachDims(domains, [&](const std::vector<Dim> &dims) {
      Evaluation found = breakdown(costs, {degrees, dims}).evaluation;
      if (found.valid)
        best = std::max(best, found.throughput);
      if (found.hasMetrics())
        unlimited = std::max(unlimited, found.throughput);
    });
    ChoiceResult found =
        optimalChoice(StrategyGraph(costs, degrees, domains), Goal::Throughput);
    EXPECT_TRUE(found.proved);
    ASSERT_TRUE(found.best);
    EXPECT_NEAR(found.best->evaluation.throughput, best, 1e-10 * best);
    numBound += best < unlimited;
  }
  EXPECT_GT(numBound, 0);
}

/// A limit at the optimum's own peak keeps the optimum, and one below it does
/// not; each limit's optimum is at least as slow as that of a looser one; below
/// the least peak nothing is feasible, and at it something is.
TEST(ActivationLimit, BindsFromTheOptimumsPeakDown) {
  std::mt19937 random(3);
  int numSteps = 0;
  for (const Wiring &test : wirings()) {
    SCOPED_TRACE(test.name);
    Degrees degrees = degreesAtRandom(random);
    std::vector<DimSet> domains = allOf(test.model);
    double limit = unlimitedBytes, above = unlimitedBytes;
    for (int step = 0; step < 5; ++step) {
      CostModel costs = costsUnder(test.model, limit);
      Tables tables(costs, degrees);
      auto found = optimalDims(tables, domains, Goal::Throughput);
      if (!found) {
        EXPECT_EQ(boundDims(tables, domains, Goal::Throughput).infeasible,
                  Reason::Activations);
        EXPECT_GT(leastLiveBytes(tables, domains), limit);
        break;
      }
      double value = found->evaluation.throughput;
      EXPECT_LE(value, above);
      above = value;
      double peak = livePeak(costs, {degrees, found->dims}).bytes;
      EXPECT_LE(peak, limit);
      CostModel exactly = costsUnder(test.model, peak);
      Tables atPeak(exactly, degrees);
      auto again = optimalDims(atPeak, domains, Goal::Throughput);
      ASSERT_TRUE(again);
      EXPECT_EQ(again->evaluation.throughput, value);
      EXPECT_LE(leastLiveBytes(atPeak, domains), peak);
      limit = peak - 1;
      ++numSteps;
    }
    CostModel costs = costsUnder(test.model, 1);
    double least = leastLiveBytes(Tables(costs, degrees), domains);
    CostModel exactly = costsUnder(test.model, least);
    EXPECT_TRUE(
        optimalDims(Tables(exactly, degrees), domains, Goal::Throughput));
    CostModel below = costsUnder(test.model, least - 1);
    EXPECT_FALSE(
        optimalDims(Tables(below, degrees), domains, Goal::Throughput));
  }
  EXPECT_GT(numSteps, 30);
}
