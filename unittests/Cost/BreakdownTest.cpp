//===- BreakdownTest.cpp - Where time and memory go -----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Breakdown.h"
#include "shardopt/Cost/Calibrated/Calibrated.h"
#include "shardopt/Cost/Tables/Evaluate.h"

#include "TestModels.h"

#include <gtest/gtest.h>
#include <random>

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::test;

namespace {

/// Microseconds of one layer's `op` in `stage`; the name of its layout.
std::pair<double, std::string> line(const Breakdown &breakdown,
                                    const std::string &op, int64_t stage) {
  for (const OpBreakdown &row : breakdown.ops)
    if (row.op == op && row.stage == stage)
      return {(row.computeUs + row.memoryUs + row.collectiveUs) /
                  double(row.layers),
              spell(row.layout)};
  ADD_FAILURE() << "no row for " << op << " in stage " << stage;
  return {0, ""};
}

void expectLine(const Breakdown &breakdown, const std::string &op,
                int64_t stage, double us, const std::string &layout) {
  SCOPED_TRACE(op);
  auto [found, name] = line(breakdown, op, stage);
  EXPECT_NEAR(found, us, 5.1e-4);
  EXPECT_EQ(name, layout);
}

TEST(Breakdown, OpsOfGptMoe) {
  Breakdown found =
      breakdown(makeCosts(gptMoe(60), {Phase::Decode, 16384}, h100()),
                strategy({8, 16, 4, 8192}, "001000201001"));
  expectLine(found, "embed", 0, 16.855, "P");
  expectLine(found, "attn_norm", 0, 2.552, "T");
  expectLine(found, "qkv_proj", 0, 31.378, "H");
  expectLine(found, "attention", 0, 379.358, "H");
  expectLine(found, "out_proj", 0, 16.500, "P");
  expectLine(found, "ffn_norm", 0, 15.198, "T");
  expectLine(found, "router", 0, 2.276, "T");
  expectLine(found, "dispatch", 0, 30.917, "T");
  expectLine(found, "ffn_up", 0, 91.065, "H");
  expectLine(found, "ffn_down", 0, 66.994, "P");
  expectLine(found, "combine", 0, 55.265, "T");
  expectLine(found, "layer_exit", 0, 0, "T");
  expectLine(found, "stage_transfer", 0, 16.738, "T");
  expectLine(found, "lm_head", 3, 95.647, "R");
  expectLine(found, "token_return", 3, 8, "R");

  double layer = 0;
  for (const OpBreakdown &row : found.ops)
    if (row.stage == 1 && row.op != "stage_transfer")
      layer += (row.computeUs + row.memoryUs + row.collectiveUs) / 15;
  EXPECT_NEAR(layer, 691.5041, 5.1e-5);
}

TEST(Breakdown, OpsOfDeepSeek) {
  Breakdown found =
      breakdown(makeCosts(deepSeekV3(), {Phase::Decode, 16384}, h200()),
                strategy({16, 16, 3, 512}, "1000022112010122100220002"));
  expectLine(found, "embed", 0, 10.114, "H");
  expectLine(found, "dense.attn_norm", 0, 2.014, "T");
  expectLine(found, "dense.q_down", 0, 10.289, "P");
  expectLine(found, "dense.q_up", 0, 27.841, "P");
  expectLine(found, "dense.kv_down", 0, 2.069, "P");
  expectLine(found, "dense.attention", 0, 110.256, "R");
  expectLine(found, "dense.out_proj", 0, 30.911, "R");
  expectLine(found, "dense.ffn_norm", 0, 24.119, "H");
  EXPECT_NEAR(line(found, "dense.ffn_up", 0).first +
                  line(found, "dense.ffn_down", 0).first,
              64.764, 5.1e-4);

  expectLine(found, "moe.attn_norm", 1, 2.014, "T");
  expectLine(found, "moe.q_down", 1, 13.810, "H");
  expectLine(found, "moe.q_up", 1, 16.712, "P");
  expectLine(found, "moe.kv_down", 1, 2.102, "H");
  expectLine(found, "moe.attention", 1, 107.223, "R");
  expectLine(found, "moe.out_proj", 1, 30.911, "R");
  expectLine(found, "moe.ffn_norm", 1, 24.119, "H");
  expectLine(found, "moe.router", 1, 16.133, "H");
  expectLine(found, "moe.dispatch", 1, 21.369, "T");
  EXPECT_NEAR(line(found, "moe.ffn_up", 1).first +
                  line(found, "moe.ffn_down", 1).first,
              176.779, 5.1e-4);
  expectLine(found, "moe.combine", 1, 13.288, "T");
  EXPECT_NEAR(line(found, "moe.shared_up", 1).first +
                  line(found, "moe.shared_down", 1).first,
              16.083, 1.1e-3);
  EXPECT_NEAR(line(found, "lm_head", 2).first +
                  line(found, "token_return", 2).first,
              505.410, 5.1e-4);

  ASSERT_EQ(found.stageMs.size(), 3u);
  EXPECT_NEAR(found.stageMs[0], 8.683844, 5.1e-7);
  EXPECT_NEAR(found.stageMs[1], 9.673642, 5.1e-7);
  EXPECT_NEAR(found.stageMs[2], 9.690860, 5.1e-7);
}

TEST(Breakdown, NamesCollectivesOnce) {
  Breakdown found =
      breakdown(makeCosts(gptMoe(60), {Phase::Decode, 16384}, h100()),
                strategy({8, 16, 4, 8192}, "001000201001"));
  for (const OpBreakdown &row : found.ops) {
    if (row.op == "combine") {
      EXPECT_EQ(row.collective, "all_to_all+reduce_scatter");
    } else if (row.op == "attention") {
      EXPECT_EQ(row.collective, "");
      EXPECT_EQ(row.collectiveUs, 0);
    }
  }
}

/// The plain and the tabled evaluation of random strategies.
void expectAgreement(const ModelConfig &config, const Workload &workload,
                     CommModel comm) {
  CostModel costs = makeCosts(config, workload, h200(), comm);
  std::mt19937 random(1);
  auto pick = [&](int64_t most) {
    return 1 + int64_t(random() % uint64_t(most));
  };
  for (int i = 0; i < 100; ++i) {
    Strategy s;
    s.degrees = {pick(20), pick(10), pick(10), pick(2000)};
    s.degrees.tp2 = pick(3);
    for (const Node *node : costs.model().nodesByVariable()) {
      Dim dim = static_cast<Dim>(random() % 3);
      // Half of all strategies would be illegal.
      if (node->name.find("attention") != std::string::npos && dim == Dim::One)
        dim = Dim::None;
      if (node->op->canShardBothDims() && random() % 2)
        dim = s.degrees.tp2 > 1 ? dimBoth : dim;
      s.dims.push_back(dim);
    }
    Evaluation tabled = evaluate(costs, s);
    Breakdown plain = breakdown(costs, s);
    EXPECT_EQ(tabled.reason, plain.evaluation.reason);
    auto expectEqual = [](double a, double b) {
      EXPECT_NEAR(a, b, 1e-12 * std::abs(a));
    };
    expectEqual(tabled.throughput, plain.evaluation.throughput);
    expectEqual(tabled.latencyMs, plain.evaluation.latencyMs);
    expectEqual(tabled.memoryGb, plain.evaluation.memoryGb);
    expectEqual(tabled.memoryGb,
                plain.memory.weightsGb + plain.memory.kvCacheGb);
  }
}

TEST(Breakdown, SumsToTheMetricsOfTheTables) {
  ModelConfig interleaved = qwen3Moe235B();
  interleaved.layers = 11;
  interleaved.sparseStep = 2;
  interleaved.inner = 12288;
  for (const Workload &workload :
       {Workload{Phase::Decode, 4096}, Workload{Phase::Prefill, 1000}}) {
    expectAgreement(gptMoe(60), workload, CommModel::Fast);
    expectAgreement(llama70B(), workload, CommModel::Direct);
    expectAgreement(deepSeekV3(), workload, CommModel::Fast);
    expectAgreement(gptOss120B(), workload, CommModel::Ring);
    expectAgreement(interleaved, workload, CommModel::Fast);
  }
}

TEST(Breakdown, SaysWhatStandsBehindTimes) {
  Strategy plan = strategy({4, 1, 1, 64}, "001000101");
  Model model = makeModel(llama70B(), {Phase::Decode, 8192});
  auto costsWith = [&](std::shared_ptr<const TimeModel> time) {
    return CostModel(model, std::move(time), std::nullopt, {});
  };
  ErrorOr<Machine> machine = loadMachine("h100_sxm");
  ASSERT_TRUE(machine) << machine.error().message;
  Breakdown sheet = breakdown(
      costsWith(std::make_shared<Roofline>(*machine, CommModel::Fast)), plan);
  EXPECT_DOUBLE_EQ(sheet.low, 1);
  EXPECT_DOUBLE_EQ(sheet.high, 1);
  EXPECT_DOUBLE_EQ(sheet.byOrigin[size_t(TimeOrigin::DataSheet)], 1);

  auto calibrated = Calibrated::create(*machine);
  ASSERT_TRUE(calibrated) << calibrated.error().message;
  Breakdown measured = breakdown(costsWith(*calibrated), plan);
  EXPECT_LT(measured.low, 1);
  EXPECT_GT(measured.low, 0.5);
  EXPECT_GT(measured.high, 1);
  EXPECT_LT(measured.high, 2);
  EXPECT_GT(measured.byOrigin[size_t(TimeOrigin::Measured)], 0.7);
  double shares = 0, weights = 0, caches = 0;
  for (double share : measured.byOrigin)
    shares += share;
  EXPECT_NEAR(shares, 1, 1e-12);
  for (const OpBreakdown &op : measured.ops) {
    EXPECT_LE(op.lowUs, op.us() * (1 + 1e-12)) << op.op;
    EXPECT_GE(op.highUs, op.us() * (1 - 1e-12)) << op.op;
    weights += op.weightBytes;
    caches += op.cacheBytes;
  }
  EXPECT_NEAR(weights / 1e9, measured.memory.weightsGb, 1e-9);
  EXPECT_NEAR(caches / 1e9, measured.memory.kvCacheGb, 1e-9);

  // A prompt of a million tokens is longer than all that were measured.
  Kernel kernel;
  kernel.kind = KernelKind::Attention;
  kernel.rows = 1;
  kernel.count = 32;
  kernel.kvHeads = 8;
  kernel.n = 128;
  kernel.k = kernel.prompt = 1e6;
  Trust far = (*calibrated)->trust(kernel);
  EXPECT_EQ(far.origin, TimeOrigin::Extrapolated);
  kernel.k = kernel.prompt = 4096;
  Trust near = (*calibrated)->trust(kernel);
  EXPECT_EQ(near.origin, TimeOrigin::Measured);
  EXPECT_NEAR(far.low, near.low * near.low, 1e-12);
}

TEST(Breakdown, OfAStructurallyInvalidStrategyIsEmpty) {
  Breakdown found =
      breakdown(makeCosts(mixtral8x22B(), {Phase::Decode, 8192}, h100()),
                strategy({1, 16, 1, 64}, "201000221001"));
  EXPECT_EQ(found.evaluation.reason, Reason::Structural);
  EXPECT_TRUE(found.ops.empty());
}

} // namespace
