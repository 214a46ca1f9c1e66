//===- PlannerTest.cpp - Planning without a compiler ----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/Planner.h"

#include "TestModels.h"

#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::cost::test;

namespace {

std::shared_ptr<const Scenario> makeScenario(ScenarioOptions options = {}) {
  auto scenario = Scenario::create(
      "llama", makeModel(llama70B(), {cost::Phase::Decode, 8192}), options);
  EXPECT_TRUE(scenario) << scenario.error().message;
  return scenario ? *scenario : nullptr;
}

TEST(Planner, FindsAndProvesTheOptimumOfAModelMadeByHand) {
  ScenarioOptions options;
  options.maxDevices = 16;
  PlanRequest request;
  request.space.maxDevices = 16;
  auto summary = makePlan(makeScenario(options), request);
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_TRUE(summary->search.proved);
  ASSERT_TRUE(summary->plan);
  EXPECT_LE(summary->plan->strategy.degrees.devices(), 16);
  EXPECT_NE(planTable(*summary).find("model     llama, 80 layers, 9 ops"),
            std::string::npos);
  EXPECT_NE(reportJson(*summary).find("\"proved\": true"), std::string::npos);
}

TEST(Planner, ASummaryKeepsItsScenario) {
  std::optional<PlanSummary> kept;
  {
    PlanRequest request;
    request.space.pinned[Degree::Pp] = 1;
    auto summary = makePlan(makeScenario(), request);
    ASSERT_TRUE(summary) << summary.error().message;
    kept = std::move(*summary);
  }
  EXPECT_EQ(kept->scenario->machine().name, "h100_sxm");
  EXPECT_FALSE(reportJson(*kept).empty());
}

TEST(Planner, WrongOptionsSayWhatWouldDo) {
  auto message = [](const ScenarioOptions &options) {
    auto scenario = Scenario::create(
        "", makeModel(llama70B(), {cost::Phase::Decode, 8192}), options);
    return scenario ? "" : scenario.error().message;
  };
  ScenarioOptions options;
  options.simulator = "rooftop";
  EXPECT_EQ(message(options).find("unknown simulator 'rooftop'; "), 0u);
  options = {};
  options.maxDevices = -1;
  EXPECT_EQ(message(options),
            "'max-devices' is -1, expected a positive number, or 0 for no "
            "limit");
  options = {};
  options.timing.machine = "h100_sxn";
  EXPECT_EQ(message(options).find("unknown machine 'h100_sxn'"), 0u);
}

TEST(Planner, TimesAreMeasuredWhereTheMachineHasConstants) {
  ScenarioOptions options;
  options.simulator = "auto";
  options.timing.machine = "h100_sxm";
  EXPECT_EQ(makeScenario(options)->simulatorName(), "calibrated");
  PlanRequest request;
  request.space.pinned[Degree::Pp] = 1;
  auto summary = makePlan(makeScenario(options), request);
  ASSERT_TRUE(summary) << summary.error().message;
  std::string report = reportJson(*summary);
  EXPECT_NE(report.find("\"simulator\": \"calibrated\""), std::string::npos);
  EXPECT_NE(report.find("\"tpot_ms_range\": ["), std::string::npos);
  EXPECT_NE(report.find("\"time_from\": {\"measured\": 0."), std::string::npos);
  std::string table = planTable(*summary);
  EXPECT_NE(table.find("simulator measured kernels, data of 20"),
            std::string::npos);
  EXPECT_NE(table.find("  interval  TPOT of "), std::string::npos);
}

TEST(Planner, AnOptionWithoutEffectIsTold) {
  std::vector<std::string> told;
  ScenarioOptions options;
  options.sloTtftMs = 5;
  options.warn = [&](const std::string &text) { told.push_back(text); };
  makeScenario(options);
  EXPECT_EQ(told, std::vector<std::string>(
                      {"'slo-ttft-ms' has no effect on decode"}));
}

} // namespace
