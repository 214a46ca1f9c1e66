//===- OptimalDimsTest.cpp - Exact optimisation of dims -------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Dims/OptimalDims.h"
#include "shardopt/Cost/Calibrated/Calibrated.h"
#include "shardopt/Cost/Tables/Evaluate.h"

#include "Enumeration.h"

#include <gtest/gtest.h>
#include <random>

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::test;

namespace {

/// `degrees`, with stages of unlike layers every second time.
Degrees cutAtRandom(const CostModel &costs, Degrees degrees,
                    std::mt19937 &random) {
  int64_t layers = costs.model().numLayers();
  if (random() % 2 || degrees.pp > layers)
    return degrees;
  degrees.stages.layers.assign(degrees.pp, 1);
  for (int64_t i = degrees.pp; i < layers; ++i)
    ++degrees.stages.layers[random() % degrees.pp];
  return degrees;
}

/// A second axis of tp, and ops that may be sharded on it.
void openBothDims(const CostModel &costs, Degrees &degrees,
                  std::vector<DimSet> &domains, std::mt19937 &random) {
  if (degrees.tp < 4)
    return;
  for (degrees.tp2 = 2; degrees.tp2 < degrees.tp / 2 && random() % 2;)
    degrees.tp2 *= 2;
  for (const Node *node : costs.model().nodesByVariable())
    if (node->op->canShardBothDims())
      domains[node->variable] |= only(dimBoth);
}

void expectOptimal(const CostModel &costs, bool onBothDims = false) {
  size_t size = costs.model().numVariables();
  std::mt19937 random(7);
  for (int i = 0; i < 40; ++i) {
    Degrees degrees{int64_t{1} << random() % 6, int64_t{1} << random() % 4,
                    int64_t(1 + random() % 8), int64_t{1} << random() % 12};
    degrees = cutAtRandom(costs, degrees, random);
    std::vector<DimSet> domains =
        randomDomains(size, onBothDims ? 7 : 9, random);
    if (onBothDims)
      openBothDims(costs, degrees, domains, random);
    Tables tables(costs, degrees);
    for (Goal goal : {Goal::Throughput, Goal::Latency}) {
      auto expected = enumerate(tables, domains, goal);
      auto found = optimalDims(tables, domains, goal);
      ASSERT_EQ(found.has_value(), expected.has_value());
      if (!found)
        continue;
      EXPECT_EQ(found->dims, expected->dims);
      EXPECT_EQ(found->evaluation.throughput, expected->evaluation.throughput);
      EXPECT_EQ(found->evaluation.latencyMs, expected->evaluation.latencyMs);

      DimsBound bound = boundDims(tables, domains, goal);
      EXPECT_EQ(bound.infeasible, Reason::None);
      if (goal == Goal::Throughput)
        EXPECT_GE(bound.value * (1 + 1e-12), found->evaluation.throughput);
      else
        EXPECT_LE(bound.value * (1 - 1e-12), found->evaluation.latencyMs);
    }
  }
}

void expectOptimal(const ModelConfig &config, const Workload &workload) {
  expectOptimal(makeCosts(config, workload, h200()));
}

/// The same with times of measured kernels.
CostModel makeCalibrated(const ModelConfig &config, const Workload &workload) {
  ErrorOr<Machine> machine = loadMachine("h200_sxm");
  EXPECT_TRUE(machine) << machine.error().message;
  auto time = Calibrated::create(*machine);
  EXPECT_TRUE(time) << time.error().message;
  CostModel roofline = makeCosts(config, workload, *machine);
  return CostModel(roofline.model(), *time, machine->expertSkew,
                   roofline.limits());
}

TEST(OptimalDims, EqualsEnumerationWithCalibratedTimes) {
  expectOptimal(makeCalibrated(llama70B(), {Phase::Decode, 8192}));
  expectOptimal(makeCalibrated(mixtral8x22B(), {Phase::Prefill, 2048}));
  expectOptimal(makeCalibrated(deepSeekV3(), {Phase::Decode, 4096}));
}

TEST(OptimalDims, EqualsEnumerationOfExperts) {
  expectOptimal(gptMoe(60), {Phase::Decode, 16384});
  expectOptimal(mixtral8x22B(), {Phase::Prefill, 2048});
}

TEST(OptimalDims, EqualsEnumerationOfDenseModels) {
  expectOptimal(llama70B(), {Phase::Decode, 8192});
  expectOptimal(llama70B(), {Phase::Prefill, 2048});
}

TEST(OptimalDims, EqualsEnumerationOfWeightsOnBothDims) {
  expectOptimal(makeCosts(llama70B(), {Phase::Prefill, 8192}, h200()), true);
  expectOptimal(makeCosts(deepSeekV3(), {Phase::Decode, 4096}, h200()), true);
  expectOptimal(makeCalibrated(llama70B(), {Phase::Decode, 8192}), true);
}

TEST(OptimalDims, EqualsEnumerationOfTwoStacks) {
  expectOptimal(deepSeekV3(), {Phase::Decode, 4096});
  expectOptimal(deepSeekV3(), {Phase::Prefill, 2048});
}

TEST(OptimalDims, EqualsEnumerationWithWindows) {
  expectOptimal(gptOss120B(), {Phase::Decode, 65536});
}

TEST(OptimalDims, EqualsEnumerationOfInterleavedStacks) {
  ModelConfig config = qwen3Moe235B();
  config.layers = 11;
  config.sparseStep = 2;
  config.inner = 12288;
  expectOptimal(config, {Phase::Decode, 16384});
}

TEST(OptimalDims, EqualsEnumerationWithStates) {
  ModelConfig config = qwen35Dense27B();
  config.layers = 15;
  expectOptimal(config, {Phase::Decode, 32768});
  expectOptimal(config, {Phase::Prefill, 4096});
}

TEST(OptimalDims, EqualsEnumerationWithStateSpaces) {
  for (int64_t groups : {1, 8}) {
    ModelConfig config = graniteOfSpaces(groups);
    config.layers = 15;
    expectOptimal(config, {Phase::Decode, 32768});
    expectOptimal(config, {Phase::Prefill, 4096});
  }
}

/// The optimum over the usual lists of degrees.
std::pair<Degrees, double> search(const CostModel &costs) {
  std::vector<DimSet> domains(costs.model().numVariables(), commonDims);
  std::pair<Degrees, double> best;
  for (int64_t tp : {1, 2, 4, 8, 16, 32, 64})
    for (int64_t ep : {1, 2, 4, 8, 16})
      for (int64_t pp : {1, 2, 3, 4, 6, 8, 12, 24})
        for (int64_t batch = 1; batch <= 8192; batch *= 2) {
          Degrees degrees{tp, ep, pp, batch};
          Tables tables(costs, degrees);
          DimsBound bound = boundDims(tables, domains, Goal::Throughput);
          if (bound.infeasible != Reason::None || bound.value < best.second)
            continue;
          auto found =
              optimalDims(tables, domains, Goal::Throughput, best.second);
          if (found && found->evaluation.throughput > best.second)
            best = {degrees, found->evaluation.throughput};
        }
  return best;
}

TEST(OptimalDims, FindsThePublishedOptima) {
  struct Row {
    int64_t layers, context;
    Degrees degrees;
    double throughput;
  };
  for (const Row &row :
       std::vector<Row>{{60, 16384, {8, 16, 4, 8192}, 381.82},
                        {60, 32768, {8, 16, 4, 4096}, 211.55},
                        {60, 65536, {8, 16, 4, 2048}, 110.48},
                        {80, 16384, {8, 16, 3, 4096}, 253.44},
                        {80, 32768, {8, 16, 3, 2048}, 135.66},
                        {80, 65536, {8, 16, 3, 1024}, 69.68}}) {
    auto [degrees, throughput] = search(
        makeCosts(gptMoe(row.layers), {Phase::Decode, row.context}, h100()));
    EXPECT_EQ(degrees, row.degrees);
    EXPECT_NEAR(throughput, row.throughput, 5.1e-3);
  }
}

class Pinned : public testing::Test {
protected:
  CostModel costs = makeCosts(gptMoe(60), {Phase::Decode, 16384}, h100());
  Tables tables{costs, {8, 16, 4, 8192}};
  std::vector<DimSet> domains =
      std::vector<DimSet>(costs.model().numVariables(), commonDims);
};

TEST_F(Pinned, DimsAreHonoured) {
  domains[5] = only(Dim::None); // ffn_norm
  auto found = optimalDims(tables, domains, Goal::Throughput);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->dims[5], Dim::None);
  EXPECT_LT(found->evaluation.throughput, 381.8);
}

TEST_F(Pinned, AnIncumbentThatCannotBeReachedGivesNothing) {
  auto best = optimalDims(tables, domains, Goal::Throughput);
  ASSERT_TRUE(best);
  double value = best->evaluation.throughput;
  // An equal one is as good.
  EXPECT_TRUE(optimalDims(tables, domains, Goal::Throughput, value));
  EXPECT_FALSE(optimalDims(tables, domains, Goal::Throughput,
                           std::nextafter(value, 1e9)));
}

TEST_F(Pinned, OnlyIllegalDimsAreAStructuralObstacle) {
  CostModel prompts = makeCosts(gptMoe(60), {Phase::Prefill, 2048}, h100());
  Tables promptTables(prompts, {4, 1, 12, 128});
  domains[3] = only(Dim::One); // attention
  EXPECT_EQ(boundDims(promptTables, domains, Goal::Throughput).infeasible,
            Reason::Structural);
  EXPECT_FALSE(optimalDims(promptTables, domains, Goal::Throughput));
}

TEST_F(Pinned, TooLittleMemoryOrTime) {
  Tables small(costs, {1, 1, 1, 1});
  EXPECT_EQ(boundDims(small, domains, Goal::Throughput).infeasible,
            Reason::Memory);
  Limits limits;
  limits.memoryBytes = 1e30;
  limits.latencySeconds = 1e-3;
  CostModel hurried(costs.model(), std::make_shared<Roofline>(h100()), 0.1,
                    limits);
  Tables slow(hurried, {8, 16, 4, 8192});
  EXPECT_EQ(boundDims(slow, domains, Goal::Throughput).infeasible, Reason::Slo);
  Tables impossible(costs, {1, 32, 1, 1});
  EXPECT_EQ(boundDims(impossible, domains, Goal::Throughput).infeasible,
            Reason::Structural);
}

} // namespace
