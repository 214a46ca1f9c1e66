//===- DegreesTest.cpp - Costs where experts are cut otherwise ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Breakdown.h"
#include "shardopt/Cost/Tables/Evaluate.h"
#include "shardopt/Model/Heads.h"
#include "shardopt/Support/Rng.h"

#include "TestModels.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::test;

namespace {

/// A line of Inputs/degrees.txt.
struct Vector {
  std::string model, machine;
  Workload workload;
  Strategy strategy;
  double throughput = 0, latencyMs = 0, memoryGb = 0;
  std::string reason;
};

std::vector<Vector> readVectors() {
  std::ifstream file(SHARDOPT_INPUTS "/degrees.txt");
  std::vector<Vector> vectors;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#')
      continue;
    std::istringstream words(line);
    Vector v;
    std::string phase, exchange, dims;
    Degrees d;
    words >> v.model >> v.machine >> phase >> v.workload.context >> d.tp >>
        d.dp >> d.ep >> d.pp >> d.cp >> exchange >> d.batch >> dims >>
        v.throughput >> v.latencyMs >> v.memoryGb >> v.reason;
    EXPECT_TRUE(words) << line;
    v.workload.phase = phase == "prefill" ? Phase::Prefill : Phase::Decode;
    d.exchange = *parseDegreeValue(Degree::Exchange, exchange);
    v.strategy = strategy(d, dims);
    vectors.push_back(std::move(v));
  }
  return vectors;
}

ModelConfig configOf(const std::string &name) {
  static const std::map<std::string, ModelConfig> configs = {
      {"GPT-MoE-1.2T", gptMoe(60)},      {"Llama-3.1-70B", llama70B()},
      {"Mixtral-8x22B", mixtral8x22B()}, {"Qwen3-235B", qwen3Moe235B()},
      {"DeepSeek-V3", deepSeekV3()},     {"gpt-oss-120b", gptOss120B()}};
  return configs.at(name);
}

CostModel costsOf(const Vector &v) {
  Machine machine = v.machine == "h100"   ? h100()
                    : v.machine == "h200" ? h200()
                                          : gb200();
  return makeCosts(configOf(v.model), v.workload, machine);
}

TEST(ServingDegrees, MetricsAreThoseOfTheVectors) {
  std::vector<Vector> vectors = readVectors();
  EXPECT_EQ(vectors.size(), 23u);
  for (const Vector &v : vectors) {
    SCOPED_TRACE(v.model + " " + spell(v.strategy.degrees));
    CostModel costs = costsOf(v);
    Evaluation found = evaluate(costs, v.strategy);
    auto expectNear = [](double value, double printed) {
      EXPECT_NEAR(value, printed, printed * 5.1e-9);
    };
    expectNear(found.throughput, v.throughput);
    expectNear(found.latencyMs, v.latencyMs);
    expectNear(found.memoryGb, v.memoryGb);
    EXPECT_EQ(found.valid ? "valid" : spell(found.reason), v.reason);
    Evaluation added = breakdown(costs, v.strategy).evaluation;
    EXPECT_NEAR(added.throughput, found.throughput, found.throughput * 1e-12);
    EXPECT_NEAR(added.memoryGb, found.memoryGb, found.memoryGb * 1e-12);
    EXPECT_EQ(added.reason, found.reason);
  }
}

/// Lines "op us layout" of one layer in the first stage.
void expectOps(size_t vector, const std::string &prefix,
               const std::string &lines) {
  std::vector<Vector> vectors = readVectors();
  const Vector &v = vectors[vector];
  Breakdown found = breakdown(costsOf(v), v.strategy);
  std::istringstream words(lines);
  std::string ops, layout;
  double us;
  while (words >> ops >> us >> layout) {
    SCOPED_TRACE(ops);
    double sum = 0;
    std::string last;
    // "ffn_up+ffn_down" is the sum of both.
    std::istringstream names(ops);
    for (std::string name; std::getline(names, name, '+');)
      for (const OpBreakdown &row : found.ops)
        if (row.op == prefix + name && row.stage == 0) {
          sum += (row.computeUs + row.memoryUs + row.collectiveUs) /
                 double(row.layers);
          last = spell(row.layout);
        }
    EXPECT_NEAR(sum, us, 5.1e-4);
    EXPECT_EQ(last, layout);
  }
}

TEST(ServingDegrees, OpsLieAsTheVectorsSay) {
  expectOps(3, "",
            "attn_norm 2.092 T qkv_proj 12.198 H attention 190.633 H "
            "out_proj 5.176 P ffn_norm 18.531 H router 7.712 H "
            "dispatch 26.831 H ffn_up+ffn_down 65.909 H combine 21.879 T.H "
            "embed 8.643 P");
  expectOps(8, "",
            "attn_norm 7.346 H qkv_proj 52.921 H attention 355.687 H "
            "out_proj 37.697 P ffn_norm 18.497 R router 7.314 R "
            "dispatch 125.926 R ffn_up+ffn_down 389.908 P combine 79.504 T "
            "embed 8.883 P");
  expectOps(13, "moe.",
            "attn_norm 2.225 R q_down 4.767 R q_up 3.193 H kv_down 3.073 R "
            "attention 128.542 H out_proj 5.670 P ffn_norm 9.574 R "
            "router 2.958 R dispatch 31.615 R ffn_up+ffn_down 90.607 P "
            "combine 31.615 P shared_up+shared_down 5.466 P");
  expectOps(13, "dense.",
            "attn_norm 2.225 R q_down 4.767 R q_up 3.193 H kv_down 3.073 R "
            "attention 128.542 H out_proj 5.670 P ffn_norm 9.574 R "
            "ffn_up+ffn_down 16.292 P");
}

Degrees degreesOf(int64_t tp, int64_t dp, int64_t ep, int64_t cp = 1) {
  Degrees degrees(tp, ep, 1, 64);
  degrees.dp = dp;
  degrees.cp = cp;
  return degrees;
}

TEST(ServingDegrees, WhatDoesNotDivideIsStructural) {
  auto reason = [](const ModelConfig &config, const Degrees &degrees,
                   Dim attention = Dim::Zero) {
    CostModel costs = makeCosts(config, {Phase::Decode, 8192}, h100());
    Strategy s{degrees, {}};
    for (const std::string &name : costs.model().opNames())
      s.dims.push_back(name == "attention" ? attention : Dim::Zero);
    EXPECT_EQ(breakdown(costs, s).evaluation.reason, evaluate(costs, s).reason);
    return evaluate(costs, s).reason;
  };
  EXPECT_EQ(reason(deepSeekV3(), degreesOf(6, 2, 8)), Reason::Structural);
  EXPECT_EQ(reason(gptOss120B(), degreesOf(4, 3, 2)), Reason::Structural);
  EXPECT_EQ(reason(qwen3Moe235B(), degreesOf(12, 1, 4, 2)), Reason::Structural);
  EXPECT_EQ(reason(gptMoe(60), degreesOf(4, 2, 2, 4), Dim::None),
            Reason::Structural);
  EXPECT_NE(reason(gptMoe(60), degreesOf(4, 2, 2, 4)), Reason::Structural);
  EXPECT_EQ(reason(llama70B(), degreesOf(4, 2, 4)), Reason::Structural);
  EXPECT_EQ(reason(mixtral8x22B(), degreesOf(16, 1, 16)), Reason::Structural);
  EXPECT_EQ(reason(llama70B(), degreesOf(8, 1, 1, 3)), Reason::Structural);
  Degrees gathers = degreesOf(4, 2, 2);
  gathers.exchange = exchangeGather;
  EXPECT_EQ(reason(llama70B(), gathers), Reason::Structural);
  EXPECT_NE(reason(mixtral8x22B(), gathers), Reason::Structural);
}

/// Tables share states between strategies, the breakdown goes op by op.
TEST(ServingDegrees, TablesAgreeWithTheBreakdown) {
  Rng rng(7);
  unsigned numValid = 0;
  for (const ModelConfig &config :
       {qwen3Moe235B(), deepSeekV3(), gptOss120B(), mixtral8x22B()})
    for (Phase phase : {Phase::Decode, Phase::Prefill}) {
      CostModel costs = makeCosts(config, {phase, 8192}, h200());
      for (int i = 0; i < 400; ++i) {
        auto pick = [&](std::vector<int64_t> values) {
          return values[rng.below(values.size())];
        };
        Degrees degrees =
            degreesOf(pick({1, 2, 3, 4, 6, 8, 12}), pick({1, 2, 3, 4, 6}),
                      pick({1, 2, 3, 4, 8, 12}), pick({1, 2, 3}));
        degrees.pp = pick({1, 1, 2, 3});
        degrees.exchange = pick({exchangeAllToAll, exchangeGather});
        degrees.batch = 1 + int64_t(rng.below(200));
        Strategy s{degrees, {}};
        for (const Node *node : costs.model().nodesByVariable())
          s.dims.push_back(node->op->cutsContext() && degrees.cp > 1 &&
                                   (phase == Phase::Decode || rng.below(2))
                               ? Dim::Zero
                               : static_cast<Dim>(rng.below(3)));
        Evaluation fast = evaluate(costs, s);
        Evaluation slow = breakdown(costs, s).evaluation;
        ASSERT_EQ(fast.reason, slow.reason) << spell(degrees);
        EXPECT_NEAR(fast.throughput, slow.throughput, slow.throughput * 1e-12);
        EXPECT_NEAR(fast.latencyMs, slow.latencyMs, slow.latencyMs * 1e-12);
        EXPECT_NEAR(fast.memoryGb, slow.memoryGb, slow.memoryGb * 1e-12);
        numValid += fast.reason != Reason::Structural;
      }
    }
  EXPECT_GT(numValid, 800u);
}

TEST(ServingDegrees, ContextRanksKnowWhetherTheyShareKvHeads) {
  // 64 query heads over 8: two of 16 ranks read one kv head.
  EXPECT_TRUE(contextHeads(64, 8, 16, 2).isSame);
  EXPECT_EQ(contextHeads(64, 8, 16, 2).kv, 1);
  EXPECT_EQ(contextHeads(64, 8, 16, 2).query, 8);
  EXPECT_FALSE(contextHeads(64, 8, 16, 4).isSame);
  EXPECT_EQ(contextHeads(64, 8, 16, 4).kv, 2);
  EXPECT_EQ(contextHeads(4, 2, 8, 8).query, 4);
}

} // namespace
