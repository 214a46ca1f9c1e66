//===- ServingTest.cpp - Steps and clocks of serving engines --------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../ServingWorkers.h"

#include "shardopt/Cost/Calibrated/Calibrated.h"
#include "shardopt/Cost/Tables/Evaluate.h"

#include <random>

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::test;

namespace {

TEST(StepTimes, PhasesAreMixes) {
  // Decode is a mix without prompts, prefill one without sequences.
  std::mt19937 random(7);
  const ModelConfig configs[] = {llama70B(), qwen3Moe235B(), deepSeekV3(),
                                 gptOss120B(), qwen35Dense27B()};
  int compared = 0;
  for (const ModelConfig &config : configs)
    for (int i = 0; i < 200; ++i) {
      bool isPrefill = random() % 2;
      int64_t context = 64 << random() % 6;
      Workload workload{isPrefill ? Phase::Prefill : Phase::Decode, context};
      Degrees degrees(1 << random() % 4, 1, 1, 1);
      degrees.dp = config.experts ? 1 << random() % 3 : 1;
      degrees.ep =
          config.experts ? degrees.dp * (random() % 2 ? degrees.tp : 1) : 1;
      degrees.pp = random() % 2 ? 1 : 2;
      if (config.experts && degrees.tp * degrees.dp > 1 && random() % 2)
        degrees.exchange = exchangeGather;
      int64_t each = 1 + random() % 40;
      degrees.batch = each * degrees.dp * degrees.pp;
      CostModel costs = makeCosts(config, workload, h100());
      if (costs.structuralError(degrees))
        continue;
      Strategy strategy = megatron(costs.model(), degrees);
      Evaluation phase = evaluate(costs, strategy);
      StepTimes steps(costs, strategy, h100().expertSkew, 1);
      if (phase.reason == Reason::Structural || !steps.isLegal())
        continue;
      StepMix mix;
      if (isPrefill) {
        mix.prompt = double(context);
        mix.tokens = double(each * context);
      } else {
        mix.context = double(context);
        mix.sequences = double(each);
      }
      double seconds = isPrefill ? steps.terms(mix).sum() : steps.seconds(mix);
      EXPECT_NEAR(seconds * 1e3, phase.latencyMs, 1e-9 * phase.latencyMs)
          << spell(degrees) << " " << spell(workload.phase);
      ++compared;
    }
  EXPECT_GT(compared, 500);
}

TEST(StepTimes, MemoryIsThatOfThePhase) {
  for (const ModelConfig &config :
       {llama70B(), qwen3Moe235B(), deepSeekV3(), gptOss120B()}) {
    CostModel costs = makeCosts(config, {Phase::Decode, 4096}, h100());
    Degrees degrees = config.experts ? experts(4, 2, 8) : Degrees(8, 1, 1, 1);
    degrees.batch = 32 * degrees.dp;
    Strategy strategy = megatron(costs.model(), degrees);
    StepTimes steps(costs, strategy, std::nullopt, 1);
    std::vector<StageMemory> memory = steps.memory(4096);
    ASSERT_EQ(memory.size(), 1u);
    EXPECT_NEAR((memory[0].weights + 32 * memory[0].cache) / 1e9,
                evaluate(costs, strategy).memoryGb, 1e-9);
  }
}

TEST(StepTimes, MoreTakesNoLessTime) {
  std::mt19937 random(11);
  for (const char *name : engines)
    for (const auto &[config, degrees] :
         {std::pair(llama70B(), Degrees(8, 1, 1, 1)),
          std::pair(deepSeekV3(), experts(4, 4, 16)),
          std::pair(qwen3Moe235B(), experts(8, 1, 1))}) {
      Served served(config, name, degrees, measured("h200_sxm"));
      std::uniform_real_distribution<double> share(0, 1);
      for (int i = 0; i < 60; ++i) {
        StepMix low, high;
        low.context = high.context = 1 + 8000 * share(random);
        low.prompt = high.prompt = 1 + 4000 * share(random);
        low.sequences = 400 * share(random);
        low.tokens = random() % 2 ? 0 : 9000 * share(random);
        high.sequences = low.sequences * (1 + share(random));
        high.tokens = low.tokens * (1 + share(random));
        EXPECT_LE(served.steps.seconds(low),
                  served.steps.seconds(high) * (1 + 1e-12))
            << name << " " << low.sequences << " " << low.tokens;
      }
    }
}

TEST(ServingEngine, VersionsInOrder) {
  EXPECT_TRUE(isOlder("0.12.0", "0.14"));
  EXPECT_TRUE(isOlder("1.0.0rc3", "1.1"));
  EXPECT_TRUE(isOlder("v0.9", "0.10"));
  EXPECT_FALSE(isOlder("1.1.0rc2.post2", "1.1"));
  EXPECT_FALSE(isOlder("", "1.1"));
  EXPECT_FALSE(isOlder("nightly-dev", "1.1"));
  EXPECT_FALSE(isOlder("99999999999999999999", "1.1"));
}

TEST(EngineClock, TypesOrderTheirTimes) {
  // Fewer bits of a weight are read in less time, where reading binds.
  auto clock = EngineClock::create(measured(), engineOf("vllm"));
  ASSERT_TRUE(clock);
  auto seconds = [&](WeightType type) {
    double bytes = 8192.0 * 28672 * bytesPerWeight(type);
    return (*clock)->seconds(gemm(4, 8192, 28672, bytes, type, 2));
  };
  EXPECT_LT(seconds(WeightType::Fp8), seconds(WeightType::Bf16));
  EXPECT_LT(seconds(WeightType::Int4), seconds(WeightType::Fp8));
  EXPECT_GT(seconds(WeightType::Int4), 0);
}

TEST(EngineClock, ExpertsOfOneKernelAreNeverFaster) {
  // 32 tokens of DeepSeek-V3 on 8 devices, by the faster of two kernels or by
  // one of them.
  Kernel experts = gemm(32, 7168, 4096, 0, WeightType::Nvfp4, 1);
  experts.kind = KernelKind::GroupedGemm;
  experts.count = experts.held = 20;
  experts.groups = experts.visited = 8;
  experts.gates = 2;
  auto seconds = [&](bool hasFew) {
    ServingEngine engine = engineOf("trtllm");
    engine.hasFewTokenExperts = hasFew;
    auto clock = EngineClock::create(measured("b200_sxm"), engine);
    return (*clock)->seconds(experts);
  };
  EXPECT_LT(seconds(true), seconds(false));
}

TEST(EngineClock, TakesWhatWasFittedOnItsMachine) {
  Machine machine = measured();
  auto fit = std::make_shared<Calibration>(*machine.calibration);
  machine.calibration = fit;
  // Reading these weights binds, and sending these bytes.
  Kernel reads = gemm(4, 8192, 28672, 2 * 8192.0 * 28672, WeightType::Bf16, 2);
  Collective sends = {CollectiveKind::AllReduce, Axis::Tp, 1e9};
  auto engineWith = [&](const char *name, double value) {
    fit->engines["vllm"] = {{name, value}};
    ServingEngine engine = engineOf("vllm");
    EXPECT_FALSE(applyCalibration(machine, engine));
    return engine;
  };
  auto times = [&](const ServingEngine &engine) {
    auto clock = EngineClock::create(machine, engine);
    return std::pair((*clock)->seconds(reads),
                     (*clock)->seconds(sends, Degrees(8, 1, 1, 1)));
  };
  auto [read, sent] = times(engineOf("vllm"));
  auto [slowRead, sameSent] = times(engineWith("memory_scale", 0.5));
  EXPECT_NEAR(slowRead / read, 2, 0.1);
  EXPECT_EQ(sameSent, sent);
  EXPECT_NEAR(times(engineWith("link_scale", 0.5)).second / sent, 2, 0.1);
  EXPECT_EQ(times(engineWith("compute_scale", 0.9)).second, sent);
  EXPECT_EQ(engineWith("launch_us", 70).launchUs, 70);
  ServingEngine banded = engineWith("tpot_low", 0.9);
  EXPECT_EQ(banded.denseTpot.low, 0.9);
  EXPECT_EQ(banded.expertTpot.low, 0.9);
  EXPECT_EQ(banded.ttft.low, engineOf("vllm").ttft.low);

  fit->engines["vllm"] = {{"launch", 1}};
  ServingEngine engine = engineOf("vllm");
  auto wrong = applyCalibration(machine, engine);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(
      wrong->message.find("machine 'h100_sxm': /calibration/engines/vllm: "
                          "unknown engine option 'launch'; known: launch_us"),
      0u)
      << wrong->message;
}

} // namespace
