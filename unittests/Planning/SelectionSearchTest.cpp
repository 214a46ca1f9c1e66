//===- SelectionSearchTest.cpp - Searches without a trellis ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/RooflineSimulator.h"
#include "shardopt/Search/ExactSearch.h"

#include "TestModels.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::cost::test;

namespace {

struct Case {
  const char *name;
  ModelConfig config;
  cost::Workload workload;
};

const cost::Workload decode{cost::Phase::Decode, 16384};
const cost::Workload prefill{cost::Phase::Prefill, 2048};

/// Trellis and strategy selection find the same degrees and the same value.
void expectSameOptimum(const Case &test, const Machine &machine) {
  SCOPED_TRACE(std::string(test.name) + " on " + machine.name);
  cost::CostModel costs = makeCosts(test.config, test.workload, machine);
  search::SpaceFacts facts;
  facts.ops = costs.model().opNames();
  facts.layers = costs.model().numLayers();
  facts.experts = costs.model().amountOf(Divides::Experts);
  search::SpaceRequest request;
  request.maxDevices = 64;
  auto space = search::StrategySpace::create(facts, request);
  ASSERT_TRUE(space);
  auto seconds = [] {
    return std::chrono::duration<double>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  };
  search::Goal goal = search::Goal::Throughput;
  RooflineSimulator trellis(costs), selection(costs, DimSearch::Selection);
  search::ExactResult expected = findOptimum(*space, trellis, goal);
  double start = seconds();
  search::ExactResult found = findOptimum(*space, selection, goal);
  std::printf("%-18s %-8s %12.6g %12.6g  %4d tuples %7.2f s\n", test.name,
              machine.name.c_str(),
              expected.best ? expected.best->evaluation.throughput : 0,
              found.best ? found.best->evaluation.throughput : 0,
              int(found.solvedTuples), seconds() - start);
  EXPECT_TRUE(found.proved);
  ASSERT_EQ(found.best.has_value(), expected.best.has_value());
  if (!expected.best)
    return;
  EXPECT_EQ(found.best->strategy.degrees, expected.best->strategy.degrees);
  double value = expected.best->evaluation.throughput;
  EXPECT_NEAR(found.best->evaluation.throughput, value, 1e-10 * value);
}

TEST(SelectionSearchTest, FindsWhatTheTrellisFinds) {
  expectSameOptimum({"llama-70b", llama70B(), decode}, h100());
}

/// Ten models on three machines; run by --gtest_also_run_disabled_tests.
TEST(SelectionSearchTest, DISABLED_FindsWhatTheTrellisFindsEverywhere) {
  for (const Case &test : {Case{"gpt-moe-1.2T", gptMoe(60), decode},
                           Case{"gpt-moe-1.6T", gptMoe(80), decode},
                           Case{"llama-70b", llama70B(), decode},
                           Case{"mixtral-8x22b", mixtral8x22B(), decode},
                           Case{"qwen3-235b", qwen3Moe235B(), decode},
                           Case{"deepseek-v3", deepSeekV3(), decode},
                           Case{"gpt-oss-120b", gptOss120B(), decode},
                           Case{"llama-70b prefill", llama70B(), prefill},
                           Case{"mixtral prefill", mixtral8x22B(), prefill},
                           Case{"gpt-oss prefill", gptOss120B(), prefill}})
    for (const Machine &machine : {h100(), h200(), gb200()})
      expectSameOptimum(test, machine);
}

} // namespace
