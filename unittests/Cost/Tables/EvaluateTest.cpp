//===- EvaluateTest.cpp - Metrics of strategies ---------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Tables/Evaluate.h"

#include "../TestModels.h"

#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::test;

namespace {

constexpr Workload decode(int64_t context) { return {Phase::Decode, context}; }
constexpr Workload prefill(int64_t prompt) { return {Phase::Prefill, prompt}; }

struct Expected {
  Degrees degrees;
  const char *dims;
  double throughput, latencyMs, memoryGb; ///< to their last digit
  Reason reason;
};

/// Values that are printed with six decimals, or with nine digits: those of
/// `test/Reference/evaluate.py CONFIG --context N --strategy JSON`, which knows
/// the formulas and nothing of this code.
void expectMetrics(const CostModel &costs, const Expected &expected) {
  SCOPED_TRACE(expected.dims);
  Evaluation found = evaluate(costs, strategy(expected.degrees, expected.dims));
  auto expectNear = [](double value, double printed) {
    EXPECT_NEAR(value, printed, std::max(0.51e-6, printed * 5.1e-9));
  };
  expectNear(found.throughput, expected.throughput);
  expectNear(found.latencyMs, expected.latencyMs);
  expectNear(found.memoryGb, expected.memoryGb);
  EXPECT_EQ(found.reason, expected.reason);
  EXPECT_EQ(found.valid, expected.reason == Reason::None);
}

TEST(Evaluate, GptMoe1200B) {
  CostModel costs = makeCosts(gptMoe(60), decode(16384), h100());
  for (const Expected &expected : std::vector<Expected>{{{8, 16, 4, 8192},
                                                         "001000201001",
                                                         381.817501,
                                                         41.904837,
                                                         70.344376,
                                                         Reason::None},
                                                        {{8, 16, 4, 8192},
                                                         "021002201001",
                                                         375.093507,
                                                         42.656030,
                                                         70.344376,
                                                         Reason::None},
                                                        {{8, 16, 3, 4096},
                                                         "021002221021",
                                                         252.839620,
                                                         42.187481,
                                                         50.790400,
                                                         Reason::None},
                                                        {{8, 16, 3, 4096},
                                                         "021002221111",
                                                         269.647287,
                                                         39.557849,
                                                         50.790400,
                                                         Reason::None},
                                                        {{64, 4, 6, 64},
                                                         "222222122220",
                                                         0.184064,
                                                         226.370363,
                                                         115.175834,
                                                         Reason::Memory},
                                                        {{1, 1, 24, 1},
                                                         "001000201001",
                                                         0.350445,
                                                         118.896539,
                                                         118.129558,
                                                         Reason::Memory}})
    expectMetrics(costs, expected);
  expectMetrics(makeCosts(gptMoe(60), decode(32768), h100()), {{16, 8, 2, 256},
                                                               "110111010112",
                                                               8.911827,
                                                               112.210439,
                                                               19.598623,
                                                               Reason::Slo});
}

TEST(Evaluate, GptMoe1600B) {
  expectMetrics(makeCosts(gptMoe(80), decode(65536), h100()), {{8, 16, 3, 1024},
                                                               "201000201000",
                                                               69.684047,
                                                               38.267965,
                                                               69.612995,
                                                               Reason::None});
  expectMetrics(makeCosts(gptMoe(80), decode(16384), h100()), {{2, 16, 24, 512},
                                                               "102220201001",
                                                               9.500950,
                                                               70.168420,
                                                               13.893108,
                                                               Reason::Slo});
}

TEST(Evaluate, DenseDecode) {
  CostModel costs = makeCosts(llama70B(), decode(8192), h100());
  for (const Expected &expected : std::vector<Expected>{{{8, 1, 3, 512},
                                                         "221002101",
                                                         676.857834,
                                                         31.5181893,
                                                         65.8589614,
                                                         Reason::None},
                                                        {{8, 16, 4, 64},
                                                         "010110010",
                                                         9.93908723,
                                                         12.5766076,
                                                         4.87640269,
                                                         Reason::None},
                                                        {{32, 4, 2, 4096},
                                                         "101200112",
                                                         30.625659,
                                                         522.437738,
                                                         1378.75581,
                                                         Reason::Memory}})
    expectMetrics(costs, expected);
}

TEST(Evaluate, DensePrefill) {
  CostModel costs = makeCosts(llama70B(), prefill(4096), h100());
  for (const Expected &expected : std::vector<Expected>{{{4, 1, 2, 16},
                                                         "102220221",
                                                         5107.02714,
                                                         1603.51005,
                                                         71.6607324,
                                                         Reason::None},
                                                        {{32, 8, 6, 64},
                                                         "021001112",
                                                         364.698396,
                                                         445.880715,
                                                         3.05555046,
                                                         Reason::None},
                                                        {{32, 2, 4, 256},
                                                         "010022012",
                                                         274.206963,
                                                         14903.2255,
                                                         11.1400714,
                                                         Reason::Slo}})
    expectMetrics(costs, expected);
}

TEST(Evaluate, GatedExperts) {
  CostModel mixtral = makeCosts(mixtral8x22B(), decode(8192), h100());
  for (const Expected &expected : std::vector<Expected>{{{4, 8, 1, 1024},
                                                         "201000221001",
                                                         997.711056,
                                                         32.0734142,
                                                         71.5485348,
                                                         Reason::None},
                                                        {{16, 8, 6, 1024},
                                                         "020221112222",
                                                         34.9373888,
                                                         38.1635084,
                                                         49.8074829,
                                                         Reason::None},
                                                        {{8, 2, 2, 256},
                                                         "100211100112",
                                                         140.034646,
                                                         57.1287195,
                                                         129.724924,
                                                         Reason::Memory}})
    expectMetrics(mixtral, expected);
}

TEST(Evaluate, FineGrainedExpertsAndQkNorm) {
  CostModel costs = makeCosts(qwen3Moe235B(), decode(16384), h100());
  for (const Expected &expected : std::vector<Expected>{{{4, 128, 1, 8192},
                                                         "201000222201",
                                                         523.913248,
                                                         30.5394072,
                                                         59.0198866,
                                                         Reason::None},
                                                        {{8, 32, 6, 4096},
                                                         "110222110122",
                                                         65.5318859,
                                                         40.6926587,
                                                         70.2483005,
                                                         Reason::None},
                                                        {{16, 2, 3, 512},
                                                         "211100220001",
                                                         18.127669,
                                                         294.209549,
                                                         22.9260657,
                                                         Reason::Slo}})
    expectMetrics(costs, expected);
}

TEST(Evaluate, LatentAttentionSharedExpertsAndTwoStacks) {
  CostModel costs = makeCosts(deepSeekV3(), decode(16384), h200());
  for (const Expected &expected :
       std::vector<Expected>{{{1, 64, 3, 8192},
                              "2221200210221200221111211",
                              1010.37842,
                              42.2284025,
                              59.3648026,
                              Reason::None},
                             {{16, 16, 3, 512},
                              "1000022112010122100220002",
                              22.9311151,
                              29.0725795,
                              30.8359168,
                              Reason::None},
                             {{16, 2, 8, 256},
                              "0212120102102000011022100",
                              22.6516752,
                              44.1468452,
                              36.6393098,
                              Reason::None}})
    expectMetrics(costs, expected);
}

TEST(Evaluate, AlternatingWindowsAndFourBitExperts) {
  CostModel costs = makeCosts(gptOss120B(), decode(8192), h100());
  for (const Expected &expected : std::vector<Expected>{{{1, 8, 3, 4096},
                                                         "121002221021",
                                                         6656.57336,
                                                         25.6388171,
                                                         56.6871245,
                                                         Reason::None},
                                                        {{2, 16, 12, 1024},
                                                         "212211112102",
                                                         254.119804,
                                                         10.4937381,
                                                         3.7118807,
                                                         Reason::None},
                                                        {{2, 2, 3, 8192},
                                                         "221002222012",
                                                         6607.11912,
                                                         103.322894,
                                                         219.325563,
                                                         Reason::Memory}})
    expectMetrics(costs, expected);
}

void expectStructural(const CostModel &costs, const Strategy &strategy) {
  Evaluation found = evaluate(costs, strategy);
  EXPECT_EQ(found.reason, Reason::Structural);
  EXPECT_FALSE(found.valid);
  EXPECT_EQ(found.throughput, 0);
  EXPECT_EQ(found.latencyMs, 0);
  EXPECT_EQ(found.memoryGb, 0);
}

TEST(Evaluate, AttentionCannotCutHeadsOfPrompts) {
  expectStructural(makeCosts(llama70B(), prefill(4096), h100()),
                   strategy({4, 1, 2, 16}, "102120221"));
}

TEST(Evaluate, LatentAttentionCannotCutTheHeadSize) {
  CostModel costs = makeCosts(deepSeekV3(), decode(16384), h200());
  expectStructural(costs,
                   strategy({1, 64, 3, 8192}, "2221210210221200221111211"));
  expectStructural(costs,
                   strategy({1, 64, 3, 8192}, "2221200210221210221111211"));
}

TEST(Evaluate, RotaryPairsStayTogether) {
  CostModel costs = makeCosts(gptOss120B(), decode(8192), h100());
  expectStructural(costs, strategy({64, 1, 1, 64}, "221102221021"));
  Evaluation half = evaluate(costs, strategy({32, 1, 1, 64}, "221102221021"));
  EXPECT_NE(half.reason, Reason::Structural);
}

TEST(Evaluate, DegreesBeyondTheModel) {
  CostModel mixtral = makeCosts(mixtral8x22B(), decode(8192), h100());
  expectStructural(mixtral, strategy({1, 16, 1, 64}, "201000221001"));
  EXPECT_EQ(*mixtral.structuralError({1, 16, 1, 64}),
            "ep 16 exceeds the number of experts 8");

  CostModel deepSeek = makeCosts(deepSeekV3(), decode(16384), h200());
  const char *dims = "2221200210221200221111211";
  expectStructural(deepSeek, strategy({1, 1, 62, 64}, dims));
  EXPECT_EQ(*deepSeek.structuralError({1, 1, 62, 64}),
            "pp 62 exceeds the number of layers 61");
  EXPECT_FALSE(deepSeek.structuralError({1, 1, 61, 64}));

  // The groups of a dense model are replicas, of which there may be any number.
  EXPECT_FALSE(makeCosts(llama70B(), decode(8192), h100())
                   .structuralError({1, 1024, 1, 1}));
}

TEST(Evaluate, DeviceBudget) {
  Limits limits;
  limits.maxDevices = 63;
  limits.memoryBytes = limits.latencySeconds = 1e30;
  CostModel costs(makeModel(llama70B(), decode(8192)),
                  std::make_shared<Roofline>(h100()), 0.1, limits);
  expectStructural(costs, strategy({8, 1, 8, 512}, "221002101"));
  EXPECT_EQ(*costs.structuralError({8, 1, 8, 512}),
            "tp * ep * pp 64 exceeds the device limit 63");
  EXPECT_TRUE(evaluate(costs, strategy({8, 1, 7, 512}, "221002101")).valid);
}

TEST(Evaluate, MemoryComesBeforeTheSlo) {
  Evaluation found = evaluate(makeCosts(gptMoe(60), decode(16384), h100()),
                              strategy({64, 4, 6, 64}, "222222122220"));
  EXPECT_GT(found.latencyMs, 50);
  EXPECT_EQ(found.reason, Reason::Memory);
}

TEST(Evaluate, OneTableForTiedEmbeddingsOfOneStage) {
  ModelConfig config = llama70B();
  config.tied = true;
  CostModel tied = makeCosts(config, decode(8192), h100());
  CostModel untied = makeCosts(llama70B(), decode(8192), h100());
  double table = 128256.0 * 8192 * 2 / 1e9;
  auto saved = [&](int64_t pp, const std::string &embed,
                   const std::string &head) {
    Strategy s = strategy({4, 1, pp, 64}, embed + "2100210" + head);
    return evaluate(untied, s).memoryGb - evaluate(tied, s).memoryGb;
  };
  EXPECT_NEAR(saved(1, "0", "1"), table / 4, 1e-9);
  EXPECT_NEAR(saved(1, "1", "0"), table / 4, 1e-9);
  EXPECT_NEAR(saved(1, "2", "2"), table, 1e-9);
  EXPECT_EQ(saved(1, "0", "0"), 0);
  EXPECT_EQ(saved(1, "2", "1"), 0);
  EXPECT_EQ(saved(2, "0", "1"), 0);
}

TEST(Evaluate, EvenLoadsAreFaster) {
  Strategy s = strategy({4, 8, 1, 1024}, "201000221001");
  Limits limits;
  limits.memoryBytes = limits.latencySeconds = 1e30;
  CostModel even(makeModel(mixtral8x22B(), decode(8192)),
                 std::make_shared<Roofline>(h100()), std::nullopt, limits);
  CostModel uneven = makeCosts(mixtral8x22B(), decode(8192), h100());
  EXPECT_LT(evaluate(even, s).latencyMs, evaluate(uneven, s).latencyMs);
}

} // namespace
