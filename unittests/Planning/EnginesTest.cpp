//===- EnginesTest.cpp - What serving engines can run ---------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/Engines.h"
#include "shardopt/Planning/Planner.h"

#include "TestModels.h"

#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::cost::test;

namespace {

EngineFacts factsOf(const ModelConfig &config,
                    cost::Phase phase = cost::Phase::Decode) {
  return EngineFacts(makeModel(config, {phase, 8192}));
}

Degrees degreesOf(int64_t tp, int64_t dp, int64_t ep, bool gathers,
                  int64_t cp = 1) {
  Degrees degrees(tp, ep, 1, 64);
  degrees.dp = dp;
  degrees.cp = cp;
  degrees.exchange = gathers ? exchangeGather : exchangeAllToAll;
  return degrees;
}

/// Why `engine` does not run the degrees; "" if it does.
std::string why(Engine engine, const ModelConfig &config,
                const Degrees &degrees,
                cost::Phase phase = cost::Phase::Decode) {
  return whyNotRun(engine, degrees, factsOf(config, phase)).value_or("");
}

TEST(Engines, AllCutAttentionByHeads) {
  for (Engine engine : allEngines) {
    EXPECT_EQ(why(engine, llama70B(), degreesOf(8, 1, 1, false)), "");
    EXPECT_EQ(why(engine, llama70B(), degreesOf(3, 1, 1, false)),
              "tp 3 does not divide the 64 query heads");
    EXPECT_EQ(why(engine, llama70B(), degreesOf(16, 2, 2, false)), "");
  }
  // 96 query heads over 8: 12 divides the former alone.
  EXPECT_EQ(why(Engine::Vllm, gptMoe(60), degreesOf(12, 1, 1, true)),
            "of tp 12 and the 8 kv heads neither divides the other");
}

TEST(Engines, NoneShardsWeightsOnBothDims) {
  Degrees degrees = degreesOf(8, 1, 1, false);
  degrees.tp2 = 2;
  for (Engine engine : allEngines)
    EXPECT_EQ(why(engine, llama70B(), degrees),
              "tp2 is 2, and no engine shards weights on both dims");
}

TEST(Engines, VllmCutsExpertsOverAllOrNotAtAll) {
  ModelConfig qwen = qwen3Moe235B();
  EXPECT_EQ(why(Engine::Vllm, qwen, degreesOf(4, 4, 16, false)), "");
  EXPECT_EQ(why(Engine::Vllm, qwen, degreesOf(4, 4, 4, false)),
            "ep 4 is neither 1 nor tp * dp 16");
  EXPECT_EQ(why(Engine::Vllm, qwen, degreesOf(4, 4, 1, true)), "");
  EXPECT_EQ(why(Engine::Vllm, qwen, degreesOf(4, 4, 1, false)),
            "with ep 1 the engine uses exchange=gather, found all_to_all");
  EXPECT_EQ(why(Engine::Vllm, qwen, degreesOf(4, 1, 4, false)),
            "with dp 1 the engine uses exchange=gather, found all_to_all");
  EXPECT_EQ(why(Engine::Vllm, qwen, degreesOf(8, 1, 8, true, 2)), "");
  EXPECT_EQ(why(Engine::Vllm, qwen, degreesOf(4, 1, 4, true, 2)),
            "cp 2 exceeds tp / kv heads, 4 / 4");
  EXPECT_EQ(why(Engine::Vllm, deepSeekV3(), degreesOf(8, 1, 8, true, 8)), "");
  EXPECT_EQ(why(Engine::Vllm, deepSeekV3(), degreesOf(8, 4, 1, true)),
            "2048 columns of experts over 32 devices leave no whole fp8 blocks "
            "of 128");
}

TEST(Engines, SglangHasAnAllToAllOverAllOnly) {
  ModelConfig qwen = qwen3Moe235B();
  EXPECT_EQ(why(Engine::Sglang, qwen, degreesOf(4, 4, 16, false)), "");
  EXPECT_EQ(why(Engine::Sglang, qwen, degreesOf(4, 4, 4, true)), "");
  EXPECT_EQ(
      why(Engine::Sglang, qwen, degreesOf(4, 4, 4, false)),
      "exchange=all_to_all needs all devices, and ep 4 is not tp * dp 16");
  EXPECT_EQ(why(Engine::Sglang, qwen, degreesOf(4, 1, 4, true, 2)),
            "cp 2 is not 1");
}

TEST(Engines, TrtllmReplicatesAttentionOverAllOrNone) {
  ModelConfig qwen = qwen3Moe235B();
  EXPECT_EQ(why(Engine::Trtllm, qwen, degreesOf(1, 8, 8, false)), "");
  EXPECT_EQ(why(Engine::Trtllm, qwen, degreesOf(8, 1, 4, true)), "");
  EXPECT_EQ(why(Engine::Trtllm, qwen, degreesOf(4, 2, 8, false)),
            "dp 2 is neither 1 nor tp * dp 8");
  EXPECT_EQ(why(Engine::Trtllm, qwen, degreesOf(8, 1, 4, false)),
            "with dp 1 the engine uses exchange=gather, found all_to_all");
  EXPECT_EQ(why(Engine::Trtllm, qwen, degreesOf(8, 1, 4, true, 2)), "");
  EXPECT_EQ(why(Engine::Trtllm, qwen, degreesOf(8, 1, 4, true, 2),
                cost::Phase::Prefill),
            "cp 2 is for decode only");
}

TEST(Engines, DimsAreMegatrons) {
  EngineFacts facts = factsOf(deepSeekV3());
  auto dim = [&](Engine engine, const Degrees &degrees,
                 const std::string &name) {
    for (size_t op = 0; op < facts.ops.size(); ++op)
      if (facts.ops[op] == name)
        return engineDim(engine, degrees, op, facts);
    ADD_FAILURE() << name;
    return Dim::None;
  };
  Degrees gather = degreesOf(8, 2, 16, true);
  Degrees exchange = degreesOf(8, 2, 16, false);
  EXPECT_EQ(dim(Engine::Vllm, gather, "moe.dispatch"), Dim::None);
  EXPECT_EQ(dim(Engine::Vllm, exchange, "moe.dispatch"), Dim::Zero);
  EXPECT_EQ(dim(Engine::Vllm, gather, "dense.ffn_up"), Dim::One);
  EXPECT_EQ(dim(Engine::Sglang, gather, "dense.ffn_up"), Dim::None);
  EXPECT_EQ(dim(Engine::Sglang, gather, "dense.ffn_norm"), Dim::Zero);
  EXPECT_EQ(dim(Engine::Sglang, gather, "moe.ffn_norm"), Dim::None);

  Strategy strategy{gather, {}};
  for (size_t op = 0; op < facts.ops.size(); ++op)
    strategy.dims.push_back(engineDim(Engine::Vllm, gather, op, facts));
  EXPECT_FALSE(whyNotRun(Engine::Vllm, strategy, facts));
  EXPECT_EQ(*whyNotRun(Engine::Sglang, strategy, facts),
            "'dense.ffn_norm' has dim none, expected 0");
}

TEST(Engines, ASearchFindsWhatTheEngineRuns) {
  ScenarioOptions options;
  options.maxDevices = 16;
  auto scenario = Scenario::create(
      "model", makeModel(qwen3Moe235B(), {cost::Phase::Decode, 8192}), options);
  ASSERT_TRUE(scenario);
  PlanRequest request;
  request.space.kind = search::SpaceKind::Serving;
  request.space.maxDevices = 16;
  EngineFacts facts((*scenario)->model());
  for (Engine engine : allEngines) {
    request.engine = engine;
    auto summary = makePlan(*scenario, request);
    ASSERT_TRUE(summary) << summary.error().message;
    ASSERT_TRUE(summary->plan);
    EXPECT_TRUE(summary->search.proved);
    EXPECT_FALSE(whyNotRun(engine, summary->plan->strategy, facts));
  }
  request.space.pinnedDims.assign(facts.ops.size(), std::nullopt);
  request.space.pinnedDims[2] = Dim::Zero;
  auto summary = makePlan(*scenario, request);
  ASSERT_TRUE(summary);
  EXPECT_EQ(failureOf(*summary)->message,
            "'qkv_proj' is pinned to dim 0, which 'trtllm' cannot run: "
            "expected 1");
}

} // namespace
