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

ErrorOr<ServiceSummary> plan(cost::Phase phase, std::optional<ServiceMode> mode,
                             const std::string &prefillMachine = "",
                             int64_t prefillDevices = 0) {
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
  request.prefillMachine = prefillMachine;
  request.prefillDevices = prefillDevices;
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

TEST(ServicePlan, PromptsAreReadOnAnotherMachine) {
  for (cost::Phase phase : {cost::Phase::Decode, cost::Phase::Prefill}) {
    auto service = plan(phase, ServiceMode::Disaggregated, "b200_sxm", 4);
    ASSERT_TRUE(service) << service.error().message;
    ASSERT_TRUE(service->best());
    EXPECT_EQ(service->best()->readingMachine, "b200_sxm");
    const bool isReading = phase == cost::Phase::Prefill;
    EXPECT_EQ(scenarioOf(*service).machine().name,
              isReading ? "b200_sxm" : "h100_sxm");
    EXPECT_EQ(isOnPrefillMachine(*service), isReading);
    auto found = planWorkers(*service, PlanRequest());
    ASSERT_TRUE(found && found->plan);
    EXPECT_EQ(found->plan->strategy.degrees.tp,
              int64_t(workersOf(*service).setup.tp));
    const std::string json = serviceJson(*service);
    for (const char *part :
         {"\"prefill_machine\": \"b200_sxm\"", "\"prefill_devices\": 4",
          "\"readers\": {\"machine\": \"b200_sxm\"",
          "\"decoders\": {\"machine\": \"h100_sxm\""})
      EXPECT_NE(json.find(part), std::string::npos) << part << "\n" << json;
    const std::string table = serviceTable(*service);
    for (const char *part :
         {"8 devices of h100_sxm and 4 of b200_sxm", " on b200_sxm\n", "of 12"})
      EXPECT_NE(table.find(part), std::string::npos) << part << "\n" << table;
  }
}

TEST(ServicePlan, WrongMachinesForPrompts) {
  auto errorOf = [](const std::string &machine, int64_t devices) {
    auto service = plan(cost::Phase::Decode, std::nullopt, machine, devices);
    return service ? "" : service.error().message;
  };
  EXPECT_EQ(errorOf("", 4), "there are 4 devices to read prompts on, and no "
                            "machine of theirs is said");
  EXPECT_EQ(errorOf("h100_sxm", -1),
            "'prefill-devices' is -1, expected a number from 0 to 100000");
  EXPECT_NE(errorOf("h1000", 0).find("h1000"), std::string::npos);
}

} // namespace
