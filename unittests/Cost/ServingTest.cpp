//===- ServingTest.cpp - Steps and loops of serving engines ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModels.h"
#include "shardopt/Cost/Calibrated.h"
#include "shardopt/Cost/EngineClock.h"
#include "shardopt/Cost/Evaluate.h"
#include "shardopt/Cost/ServiceLoop.h"

#include <gtest/gtest.h>

#include <random>

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::test;

namespace {

const char *const engines[] = {"trtllm", "vllm", "sglang"};

ServingEngine engineOf(const std::string &name) {
  auto engine = findEngine(name, /*version=*/"", /*isTuned=*/true);
  EXPECT_TRUE(engine);
  return *engine;
}

/// A machine with constants of its kernels.
Machine measured(const std::string &name = "h100_sxm") {
  auto machine = loadMachine(name);
  EXPECT_TRUE(machine);
  return *machine;
}

/// Megatron's dims of the ops of `model`, by their kinds.
Strategy megatron(const Model &model, const Degrees &degrees) {
  Strategy strategy;
  strategy.degrees = degrees;
  for (const std::string &name : model.opNames()) {
    const std::string op = name.substr(name.rfind('.') + 1);
    const bool isColumns = op == "qkv_proj" || op == "q_up" || op == "ffn_up" ||
                           op == "shared_up" || op == "lm_head";
    const bool isRows = op == "attention" || op == "out_proj" ||
                        op == "ffn_down" || op == "shared_down" ||
                        op == "embed";
    strategy.dims.push_back(isColumns ? Dim::One
                            : isRows  ? Dim::Zero
                                      : Dim::None);
  }
  return strategy;
}

/// A worker of `config` under an engine, with what it refers to.
struct Served {
  Served(const ModelConfig &config, const std::string &engineName,
         const Degrees &degrees, const Machine &machine = measured())
      : engine(engineOf(engineName)),
        costs(makeModel(config, {Phase::Decode, 1024}), clockOf(machine),
              std::nullopt, Limits()),
        steps(costs, megatron(costs.model(), degrees), std::nullopt,
              engine.expertReach) {
    EXPECT_TRUE(steps.isLegal());
  }
  std::shared_ptr<const EngineClock> clockOf(const Machine &machine) const {
    auto clock = EngineClock::create(machine, engine);
    EXPECT_TRUE(clock);
    return *clock;
  }
  ServingWorker worker() const { return {&steps, 72e9, 50e9}; }

  ServingEngine engine;
  CostModel costs;
  StepTimes steps;
};

Degrees experts(int64_t tp, int64_t dp, int64_t ep) {
  Degrees degrees(tp, ep, 1, 1);
  degrees.dp = dp;
  degrees.exchange = exchangeGather;
  return degrees;
}

TEST(StepTimes, PhasesAreMixes) {
  // Decode is a mix without prompts, prefill one without sequences.
  std::mt19937 random(7);
  const ModelConfig configs[] = {llama70B(), qwen3Moe235B(), deepSeekV3(),
                                 gptOss120B(), qwen35Dense27B()};
  int compared = 0;
  for (const ModelConfig &config : configs)
    for (int i = 0; i < 200; ++i) {
      const bool isPrefill = random() % 2;
      const int64_t context = 64 << random() % 6;
      const Workload workload{isPrefill ? Phase::Prefill : Phase::Decode,
                              context};
      Degrees degrees(1 << random() % 4, 1, 1, 1);
      degrees.dp = config.experts ? 1 << random() % 3 : 1;
      degrees.ep =
          config.experts ? degrees.dp * (random() % 2 ? degrees.tp : 1) : 1;
      degrees.pp = random() % 2 ? 1 : 2;
      if (config.experts && degrees.tp * degrees.dp > 1 && random() % 2)
        degrees.exchange = exchangeGather;
      const int64_t each = 1 + random() % 40;
      degrees.batch = each * degrees.dp * degrees.pp;
      const CostModel costs = makeCosts(config, workload, h100());
      if (costs.structuralError(degrees))
        continue;
      Strategy strategy = megatron(costs.model(), degrees);
      const Evaluation phase = evaluate(costs, strategy);
      const StepTimes steps(costs, strategy, h100().expertSkew, 1);
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
      const double seconds =
          isPrefill ? steps.terms(mix).sum() : steps.seconds(mix);
      EXPECT_NEAR(seconds * 1e3, phase.latencyMs, 1e-9 * phase.latencyMs)
          << spell(degrees) << " " << spell(workload.phase);
      ++compared;
    }
  EXPECT_GT(compared, 500);
}

TEST(StepTimes, MemoryIsThatOfThePhase) {
  for (const ModelConfig &config :
       {llama70B(), qwen3Moe235B(), deepSeekV3(), gptOss120B()}) {
    const CostModel costs = makeCosts(config, {Phase::Decode, 4096}, h100());
    Degrees degrees = config.experts ? experts(4, 2, 8) : Degrees(8, 1, 1, 1);
    degrees.batch = 32 * degrees.dp;
    const Strategy strategy = megatron(costs.model(), degrees);
    const StepTimes steps(costs, strategy, std::nullopt, 1);
    const std::vector<StageMemory> memory = steps.memory(4096);
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
      const Served served(config, name, degrees, measured("h200_sxm"));
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

TEST(ServiceLoop, IntervalsContainAllOfTheirLoads) {
  std::mt19937 random(13);
  std::uniform_real_distribution<double> share(0, 1);
  for (const char *name : engines)
    for (const auto &[config, degrees] :
         {std::pair(llama70B(), Degrees(8, 1, 1, 1)),
          std::pair(deepSeekV3(), experts(2, 8, 16))}) {
      const Served served(config, name, degrees, measured("h200_sxm"));
      for (int i = 0; i < 20; ++i) {
        ServingLoad load;
        load.inputTokens = 1 + 6000 * share(random);
        load.outputTokens = 1 + 2000 * share(random);
        const AggregatedLoop together(served.worker(), served.engine, load);
        const DisaggregatedLoop apart(
            {served.worker(), 2}, {served.worker(), 3}, served.engine, load);
        const double low = 1 + 300 * share(random);
        const double high = low * (1 + share(random));
        const double inside = low + (high - low) * share(random);
        auto contains = [](const TimeOf<Interval> &bounds,
                           const ServingTime &time) {
          for (auto [bound, value] :
               {std::pair(bounds.ms, time.ms), std::pair(bounds.p50, time.p50),
                std::pair(bounds.p90, time.p90),
                std::pair(bounds.p99, time.p99)}) {
            EXPECT_LE(bound.low, value * (1 + 1e-9));
            EXPECT_GE(bound.high, value * (1 - 1e-9));
          }
        };
        if (together.room() > 0) {
          const ServingBounds bounds = together.within({low, high});
          const ServingTimes times = together.at(inside);
          contains(bounds.tpot, times.tpot);
          contains(bounds.ttft, times.ttft);
        }
        if (apart.hasRoom()) {
          const ServingBounds bounds = apart.within({low, high});
          const ServingTimes times = apart.at(inside);
          contains(bounds.tpot, times.tpot);
          contains(bounds.ttft, times.ttft);
        }
      }
    }
}

TEST(ServiceLoop, LongAnswersTakeTheStepAndTheHost) {
  for (const char *name : engines) {
    const Served served(llama70B(), name, Degrees(8, 1, 1, 1));
    ServingLoad load;
    load.inputTokens = 1;
    load.outputTokens = 16384;
    load.concurrency = 1;
    auto times = serveAggregated(served.worker(), served.engine, load);
    ASSERT_TRUE(times);
    StepMix mix;
    mix.sequences = 1;
    mix.context = load.inputTokens + load.outputTokens / 2;
    EXPECT_NEAR(times->tpot.ms,
                served.steps.seconds(mix) * 1e3 + times->hostUs / 1e3,
                1e-3 * times->tpot.ms)
        << name;
  }
}

TEST(ServiceLoop, RequestsWaitForRoomInTheCaches) {
  const Served served(llama70B(), "vllm", Degrees(8, 1, 1, 1));
  ServingLoad load;
  load.inputTokens = 30000;
  load.outputTokens = 1000;
  ServingWorker worker = served.worker();
  const double room = worker.room(30500);
  ASSERT_GT(room, 1);
  load.concurrency = 3 * room;
  auto crowded = serveAggregated(worker, served.engine, load);
  ASSERT_TRUE(crowded);
  EXPECT_NEAR(crowded->admitted, room, 1e-9 * room);
  load.concurrency = room;
  auto full = serveAggregated(worker, served.engine, load);
  ASSERT_TRUE(full);
  EXPECT_GT(crowded->ttft.ms, full->ttft.ms);
  EXPECT_NEAR(crowded->tpot.ms, full->tpot.ms, 1e-9 * full->tpot.ms);
  worker.memoryBytes = 10e9;
  EXPECT_FALSE(serveAggregated(worker, served.engine, load));
}

TEST(ServiceLoop, TraitsHaveTheirSigns) {
  const Served served(llama70B(), "vllm", Degrees(8, 1, 1, 1));
  ServingLoad load;
  load.inputTokens = 4000;
  load.outputTokens = 500;
  load.concurrency = 16;
  auto timesOf = [&](const ServingTraits &traits) {
    ServingLoad other = load;
    other.traits = traits;
    auto times = serveAggregated(served.worker(), served.engine, other);
    EXPECT_TRUE(times);
    return *times;
  };
  const ServingTimes plain = timesOf({});
  ServingTraits drafts, found;
  drafts.drafts = 3;
  drafts.accepted = 2;
  found.found = 0.5;
  EXPECT_LT(timesOf(drafts).tpot.ms, plain.tpot.ms);
  EXPECT_GT(timesOf(drafts).tpot.ms, plain.tpot.ms / 3);
  EXPECT_LT(timesOf(found).ttft.ms, plain.ttft.ms);
  EXPECT_LT(timesOf(found).tpot.ms, plain.tpot.ms);
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
    const double bytes = 8192.0 * 28672 * bytesPerWeight(type);
    return (*clock)->seconds(gemm(4, 8192, 28672, bytes, type, 2));
  };
  EXPECT_LT(seconds(WeightType::Fp8), seconds(WeightType::Bf16));
  EXPECT_LT(seconds(WeightType::Int4), seconds(WeightType::Fp8));
  EXPECT_GT(seconds(WeightType::Int4), 0);
}

} // namespace
