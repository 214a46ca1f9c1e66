//===- SharedDimsTest.cpp - Layers that are alike and their dims ----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Breakdown.h"
#include "shardopt/Cost/Roofline.h"
#include "shardopt/Model/AlikeLayers.h"
#include "shardopt/Planning/RooflineSimulator.h"

#include "TestModels.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::test;

namespace {

constexpr double noLimit = std::numeric_limits<double>::infinity();

struct LayeredModel {
  const char *name;
  Model model; ///< of few layers, which share dims
};

/// `model` with at most `count` layers in a segment.
Model shortened(Model model, size_t count) {
  for (Segment &segment : model.segments)
    segment.windows.resize(std::min(count, segment.windows.size()));
  return model;
}

std::vector<LayeredModel> layeredModels() {
  Workload decode{Phase::Decode, 16384}, prefill{Phase::Prefill, 2048};
  return {
      {"llama decode", shortened(makeModel(llama70B(), decode), 12)},
      {"llama prefill", shortened(makeModel(llama70B(), prefill), 12)},
      {"mixtral prefill", shortened(makeModel(mixtral8x22B(), prefill), 10)},
      {"gpt-oss decode", shortened(makeModel(gptOss120B(), decode), 12)},
      {"deepseek decode", shortened(makeModel(deepSeekV3(), decode), 12)},
      {"deepseek prefill", shortened(makeModel(deepSeekV3(), prefill), 12)}};
}

/// `model` with a body for each layer, and so dims of its own.
Model separated(const Model &model) {
  Model result = model;
  result.bodies.clear();
  result.segments.clear();
  unsigned next = 1;
  for (const Segment &segment : model.segments)
    for (int64_t window : segment.windows) {
      Body body = model.bodies[segment.body];
      for (Node &node : body.nodes) {
        node.name = std::to_string(result.bodies.size()) + "." + node.name;
        node.variable = next++;
      }
      result.segments.push_back({unsigned(result.bodies.size()), {window}});
      result.bodies.push_back(std::move(body));
    }
  result.head.variable = next;
  return result;
}

struct Bounds {
  double memoryBytes = 72e9, activationBytes = noLimit;
};

CostModel costsUnder(const Model &model, const Bounds &bounds,
                     StageDivision division = StageDivision::Even) {
  Limits limits;
  limits.memoryBytes = bounds.memoryBytes;
  limits.activationBytes = bounds.activationBytes;
  limits.latencySeconds = 60;
  return CostModel(model, std::make_shared<Roofline>(h100(), CommModel::Fast),
                   0.1, limits, division);
}

search::DimDomains domainsOf(const Model &model) {
  return search::DimDomains(model.numVariables(),
                            {Dim::None, Dim::Zero, Dim::One});
}

Degrees degreesAtRandom(std::mt19937 &random) {
  return {int64_t{1} << random() % 4, int64_t{1} << random() % 3,
          int64_t(1 + random() % 3), int64_t{1} << (2 + random() % 6)};
}

/// Each dim where its layers have it.
std::vector<Dim> spread(const std::vector<Dim> &dims,
                        const AlikeLayers &joined) {
  std::vector<Dim> all;
  for (unsigned variable : joined.variables)
    all.push_back(dims[variable]);
  return all;
}

} // namespace

TEST(SharedDims, LayersThatWereSeparatedAreJoinedAgain) {
  std::mt19937 random(1);
  for (const LayeredModel &test : layeredModels()) {
    SCOPED_TRACE(test.name);
    EXPECT_FALSE(joinAlikeLayers(test.model));
    Model apart = separated(test.model);
    auto joined = joinAlikeLayers(apart);
    ASSERT_TRUE(joined);
    EXPECT_EQ(joined->model.segments.size(), apart.segments.size());
    CostModel shared = costsUnder(joined->model, {}),
              costs = costsUnder(apart, {});
    int numValid = 0;
    for (int i = 0; i < 200; ++i) {
      Strategy strategy{degreesAtRandom(random), {}};
      for (unsigned v = 0; v < joined->model.numVariables(); ++v)
        strategy.dims.push_back(Dim(random() % 3));
      Strategy other{strategy.degrees, spread(strategy.dims, *joined)};
      Evaluation one = breakdown(shared, strategy).evaluation;
      Evaluation same = breakdown(costs, other).evaluation;
      EXPECT_EQ(one.valid, same.valid);
      EXPECT_NEAR(one.latencyMs, same.latencyMs, 1e-9 * one.latencyMs);
      EXPECT_NEAR(one.memoryGb, same.memoryGb, 1e-9 * one.memoryGb);
      numValid += one.valid;
    }
    std::printf("%-18s %3d of 200 valid\n", test.name, numValid);
  }
}

/// Under limits that are slack, tight, or too tight.
TEST(SharedDims, SelectionIsNeverBelowTheirOptimum) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> power(-1, 1);
  int numBetter = 0, numSame = 0, numNone = 0;
  for (const LayeredModel &test : layeredModels()) {
    SCOPED_TRACE(test.name);
    Model apart = separated(test.model);
    for (int i = 0; i < 8; ++i) {
      CostModel free = costsUnder(test.model, {noLimit, 1e15});
      Degrees degrees = degreesAtRandom(random);
      while (!free.fits(degrees))
        degrees = degreesAtRandom(random);
      RooflineSimulator any(free);
      auto least = any.leastActivations(degrees, domainsOf(test.model));
      ASSERT_TRUE(least);
      Bounds bounds{80e9 * std::exp2(power(random) - 1),
                    *least * std::exp2(power(random))};
      StageDivision division =
          i % 2 ? StageDivision::Balanced : StageDivision::Even;
      CostModel shared = costsUnder(test.model, bounds, division),
                costs = costsUnder(apart, bounds, division);
      RooflineSimulator trellises(shared), quick(costs, DimSearch::Shared),
          best(costs);
      EXPECT_EQ(best.leastActivations(degrees, domainsOf(apart)), *least);
      bool isHopeless = *least > bounds.activationBytes;
      search::DegreeBound bound =
          best.bound(degrees, domainsOf(apart), Goal::Throughput);
      if (isHopeless)
        EXPECT_EQ(bound.infeasible, Reason::Activations);
      for (Goal goal : {Goal::Throughput, Goal::Latency}) {
        search::Objective objective{goal};
        auto optimum =
            trellises.solve(degrees, domainsOf(test.model), goal, {});
        auto same = quick.solve(degrees, domainsOf(apart), goal, {});
        auto plan = best.solve(degrees, domainsOf(apart), goal, {});
        ASSERT_EQ(same.has_value(), optimum.has_value());
        if (!optimum) {
          ++numNone;
          continue;
        }
        double value = objective.value(optimum->evaluation);
        EXPECT_NEAR(objective.value(same->evaluation), value, 1e-9 * value);
        ASSERT_TRUE(plan);
        EXPECT_FALSE(objective.better(same->evaluation, plan->evaluation));
        EXPECT_TRUE(breakdown(costs, plan->strategy).evaluation.valid);
        bool isBetter = objective.better(plan->evaluation, same->evaluation);
        ++(isBetter ? numBetter : numSame);
      }
    }
  }
  std::printf("%d better, %d the same, %d infeasible\n", numBetter, numSame,
              numNone);
  EXPECT_GT(numBetter, 0);
  EXPECT_GT(numNone, 0);
}

/// A dim that one of the layers is pinned to is all of theirs.
TEST(SharedDims, ArePinnedTogether) {
  Model model =
      shortened(makeModel(llama70B(), Workload{Phase::Decode, 16384}), 12);
  Model apart = separated(model);
  CostModel costs = costsUnder(apart, {});
  RooflineSimulator quick(costs, DimSearch::Shared);
  Degrees degrees{8, 1, 1, 64};
  search::DimDomains domains = domainsOf(apart);
  unsigned pinned = apart.bodies[3].nodes[2].variable;
  domains[pinned] = {Dim::None};
  auto plan = quick.solve(degrees, domains, Goal::Throughput, {});
  ASSERT_TRUE(plan);
  for (const Body &body : apart.bodies)
    EXPECT_EQ(plan->strategy.dims[body.nodes[2].variable], Dim::None);
  // Two that exclude each other leave nothing in common.
  domains[apart.bodies[4].nodes[2].variable] = {Dim::One};
  EXPECT_FALSE(quick.solve(degrees, domains, Goal::Throughput, {}));
  EXPECT_TRUE(
      RooflineSimulator(costs).solve(degrees, domains, Goal::Throughput, {}));
}
