//===- ServicePlanTest.cpp - Services without a compiler ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/ServicePlan.h"

#include "TestModels.h"

#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::cost::test;

namespace {

ErrorOr<ServiceSummary> plan(cost::Phase phase,
                             std::optional<ServiceMode> mode) {
  ScenarioOptions options;
  options.simulator = "calibrated";
  auto scenario =
      Scenario::create("llama", makeModel(llama70B(), {phase, 4096}), options);
  EXPECT_TRUE(scenario) << scenario.error().message;
  ServiceRequest request;
  request.load[RequestField::Isl] = 4096;
  request.load[RequestField::Osl] = 512;
  request.load[RequestField::TpotMs] = 30;
  request.load[RequestField::TtftMs] = 1000;
  request.devices = 8;
  request.mode = mode;
  return planService(*scenario, request);
}

TEST(ServicePlan, ReportsBothPlansAndWhatTheyAreMadeOf) {
  auto service = plan(cost::Phase::Decode, std::nullopt);
  ASSERT_TRUE(service) << service.error().message;
  ASSERT_TRUE(service->best());
  const std::string json = serviceJson(*service);
  for (const char *part :
       {"\"source\": \"extrapolated: model\"", "\"aggregated\": {",
        "\"disaggregated\": {", "\"tpot_ms_p50\": ", "\"ttft_ms_p90\": ",
        "\"memory_gb\": {\"attention\": ", "\"kv_cache_of_windows\": 0",
        "\"dominating_term\": \"products\"", "\"launch\": "})
    EXPECT_NE(json.find(part), std::string::npos) << part << "\n" << json;
  const std::string table = serviceTable(*service);
  EXPECT_NE(table.find(", p90 "), std::string::npos) << table;
}

TEST(ServicePlan, PhasesOfADisaggregatedServiceHaveStrategiesOfTheirOwn) {
  for (cost::Phase phase : {cost::Phase::Decode, cost::Phase::Prefill}) {
    auto service = plan(phase, ServiceMode::Disaggregated);
    ASSERT_TRUE(service) << service.error().message;
    ASSERT_TRUE(service->best());
    ASSERT_TRUE(service->best()->readers);
    const bool isReading = phase == cost::Phase::Prefill;
    EXPECT_EQ(&workersOf(*service), isReading ? &*service->best()->readers
                                              : &service->best()->decoders);
    auto found = planWorkers(*service, PlanRequest());
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_TRUE(found->plan);
    const Degrees &degrees = found->plan->strategy.degrees;
    EXPECT_EQ(degrees.tp, int64_t(workersOf(*service).setup.tp));
    EXPECT_LE(degrees.batch, batchOf(*service, isReading));
    EXPECT_EQ(batchOf(*service, /*isReading=*/true), 1);
  }
}

} // namespace
