//===- ProceduralSimulatorTest.cpp - Simulated decode steps ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Simulation/ProceduralSimulator.h"

#include "../TestModels.h"
#include "shardopt/Cost/Tables/Evaluate.h"
#include "shardopt/Support/Rng.h"

#include <cmath>
#include <gtest/gtest.h>
#include <thread>

using namespace shardopt;
using namespace shardopt::simulation;
using cost::Phase;
using cost::test::ModelConfig;
using cost::test::strategy;

namespace {

/// `config` in decode on h100_sxm, without limits.
cost::CostModel unlimited(const ModelConfig &config, int64_t context = 16384) {
  cost::Limits limits;
  limits.memoryBytes = limits.latencySeconds =
      std::numeric_limits<double>::infinity();
  Machine machine = cost::test::h100();
  return cost::CostModel(
      cost::test::makeModel(config, {Phase::Decode, context}),
      std::make_shared<cost::Roofline>(machine), machine.expertSkew, limits);
}

ProceduralSimulator simulator(const cost::CostModel &costs,
                              const ProceduralSettings &settings) {
  return ProceduralSimulator(costs, cost::test::h100(), settings);
}

std::vector<Strategy> randomStrategies(const cost::CostModel &costs,
                                       size_t count) {
  Rng rng(1);
  auto power = [&](uint64_t most) { return int64_t{1} << rng.below(most + 1); };
  std::vector<Strategy> strategies(count);
  for (Strategy &made : strategies) {
    made.degrees = {power(5), power(4), 1 + int64_t(rng.below(12)), power(10)};
    for (unsigned i = 0; i < costs.model().numVariables(); ++i)
      made.dims.push_back(static_cast<Dim>(rng.below(3)));
  }
  return strategies;
}

void expectEqual(const Evaluation &a, const Evaluation &b) {
  EXPECT_EQ(a.reason, b.reason);
  EXPECT_EQ(a.throughput, b.throughput);
  EXPECT_EQ(a.latencyMs, b.latencyMs);
  EXPECT_EQ(a.memoryGb, b.memoryGb);
}

const ModelConfig allModels[] = {
    cost::test::gptMoe(60), cost::test::llama70B(), cost::test::deepSeekV3(),
    cost::test::qwen3Moe235B(), cost::test::gptOss120B()};
const ProceduralSettings allSettings[] = {ProceduralSettings::runtime(),
                                          ProceduralSettings::fixed()};

TEST(ProceduralSimulator, IsABlackBox) {
  cost::CostModel costs = unlimited(cost::test::llama70B());
  EXPECT_EQ(simulator(costs, ProceduralSettings::fixed()).decomposition(),
            nullptr);
}

TEST(ProceduralSimulator, AgreesWithTheRooflineOnStructure) {
  for (const ModelConfig &config : allModels) {
    cost::CostModel costs = unlimited(config);
    for (const ProceduralSettings &settings : allSettings) {
      ProceduralSimulator box = simulator(costs, settings);
      for (const Strategy &s : randomStrategies(costs, 200)) {
        Evaluation found = box.evaluate(s);
        EXPECT_EQ(found.reason, cost::evaluate(costs, s).reason);
        EXPECT_TRUE(std::isfinite(found.throughput) &&
                    std::isfinite(found.latencyMs) &&
                    std::isfinite(found.memoryGb));
        EXPECT_EQ(found.latencyMs > 0, found.valid);
      }
    }
  }
}

TEST(ProceduralSimulator, GivesTheSameOnAnyThread) {
  cost::CostModel costs = unlimited(cost::test::deepSeekV3());
  for (const ProceduralSettings &settings : allSettings) {
    ProceduralSimulator box = simulator(costs, settings);
    std::vector<Strategy> strategies = randomStrategies(costs, 100);
    std::vector<Evaluation> found[2];
    auto evaluateAll = [&](std::vector<Evaluation> &into) {
      for (const Strategy &s : strategies)
        into.push_back(box.evaluate(s));
    };
    std::thread other(evaluateAll, std::ref(found[0]));
    evaluateAll(found[1]);
    other.join();
    ProceduralSimulator again = simulator(costs, settings);
    for (size_t i = 0; i < strategies.size(); ++i) {
      expectEqual(found[0][i], found[1][i]);
      expectEqual(found[0][i], again.evaluate(strategies[i]));
    }
  }
}

TEST(ProceduralSimulator, OneDeviceRunsItsKernels) {
  for (const ModelConfig &config :
       {cost::test::llama70B(), cost::test::gptOss120B()}) {
    cost::CostModel costs = unlimited(config);
    ProceduralSettings settings = ProceduralSettings::runtime();
    settings.routingExponent = std::nullopt;
    Strategy alone =
        strategy({1, 1, 1, 64}, std::string(costs.model().numVariables(), '2'));
    Evaluation found = simulator(costs, settings).evaluate(alone);
    Evaluation roofline = cost::evaluate(costs, alone);
    EXPECT_NEAR(found.latencyMs, roofline.latencyMs, 1e-9 * roofline.latencyMs);
    EXPECT_GT(found.memoryGb, roofline.memoryGb);
    EXPECT_LT(found.memoryGb, 1.01 * roofline.memoryGb);
  }
}

// One of the schedules does one thing after the other, which is what the
// roofline counts where no tokens are routed.
TEST(ProceduralSimulator, ARuntimeIsNeverSlowerThanWithoutOverlap) {
  cost::CostModel costs = unlimited(cost::test::llama70B());
  ProceduralSimulator box = simulator(costs, ProceduralSettings::runtime());
  unsigned faster = 0;
  for (const Strategy &s : randomStrategies(costs, 300)) {
    double roofline = cost::evaluate(costs, s).latencyMs;
    double found = box.evaluate(s).latencyMs;
    EXPECT_LE(found, roofline * (1 + 1e-9));
    faster += found < 0.98 * roofline;
  }
  EXPECT_GT(faster, 20u);
}

TEST(ProceduralSimulator, MoreSkewIsNeverFaster) {
  cost::CostModel costs = unlimited(cost::test::gptMoe(60));
  Strategy wide = strategy({8, 8, 1, 8192}, "001000201001");
  for (ProceduralSettings settings : allSettings) {
    double before = 0;
    for (double exponent : {0.0, 0.2, 0.4, 0.8, 1.2}) {
      settings.routingExponent = exponent;
      double found = simulator(costs, settings).evaluate(wide).latencyMs;
      EXPECT_GE(found, before);
      before = found;
    }
  }
}

TEST(ProceduralSimulator, RaggedContextsAreSlowerAndTakeMoreMemory) {
  cost::CostModel costs = unlimited(cost::test::llama70B());
  Strategy groups = strategy({4, 4, 2, 128}, "001000101");
  ProceduralSettings settings = ProceduralSettings::fixed();
  Evaluation ragged = simulator(costs, settings).evaluate(groups);
  settings.contextSpread = 0;
  Evaluation alike = simulator(costs, settings).evaluate(groups);
  EXPECT_GT(ragged.latencyMs, alike.latencyMs);
  EXPECT_GT(ragged.memoryGb, alike.memoryGb);
}

TEST(ProceduralSimulator, SaysWhichLimitIsExceeded) {
  ModelConfig config = cost::test::gptMoe(60);
  Strategy plan = strategy({8, 4, 2, 512}, "001000201001");
  cost::CostModel costs = unlimited(config);
  Evaluation metrics =
      simulator(costs, ProceduralSettings::runtime()).evaluate(plan);
  auto reasonUnder = [&](double memoryGb, double latencyMs,
                         int64_t maxDevices) {
    cost::Limits limits;
    limits.maxDevices = maxDevices;
    limits.memoryBytes = memoryGb * 1e9;
    limits.latencySeconds = latencyMs / 1e3;
    Machine machine = cost::test::h100();
    cost::CostModel costs(cost::test::makeModel(config, {Phase::Decode, 16384}),
                          std::make_shared<cost::Roofline>(machine),
                          machine.expertSkew, limits);
    return simulator(costs, ProceduralSettings::runtime())
        .evaluate(plan)
        .reason;
  };
  double memory = metrics.memoryGb, latency = metrics.latencyMs;
  EXPECT_EQ(reasonUnder(1.1 * memory, 1.1 * latency, 64), Reason::None);
  EXPECT_EQ(reasonUnder(1.1 * memory, 0.9 * latency, 64), Reason::Slo);
  EXPECT_EQ(reasonUnder(0.9 * memory, 0.9 * latency, 64), Reason::Memory);
  EXPECT_EQ(reasonUnder(0.9 * memory, 0.9 * latency, 63), Reason::Structural);
}

// The dims of two ops far from each other, each of which the roofline charges
// for on its own.
TEST(ProceduralSimulator, DimsOfDistantOpsInteract) {
  cost::CostModel costs = unlimited(cost::test::gptMoe(60));
  auto interaction = [&](auto latency) {
    // attn_norm, and router
    double none = latency("001000201001");
    double first = latency("011000201001");
    double second = latency("001000001001");
    double both = latency("011000001001");
    return std::abs(none - first - second + both) / none;
  };
  Degrees degrees = {8, 4, 2, 512};
  EXPECT_LT(interaction([&](const char *dims) {
              return cost::evaluate(costs, strategy(degrees, dims)).latencyMs;
            }),
            1e-12);
  ProceduralSimulator box = simulator(costs, ProceduralSettings::fixed());
  EXPECT_GT(interaction([&](const char *dims) {
              return box.evaluate(strategy(degrees, dims)).latencyMs;
            }),
            1e-3);
}

} // namespace
