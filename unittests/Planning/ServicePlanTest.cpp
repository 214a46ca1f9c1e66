//===- ServicePlanTest.cpp - Services without a compiler ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/ServiceEvaluation.h"

#include "ServiceCases.h"

#include <cmath>

using namespace shardopt;
using namespace shardopt::test;

namespace {

ErrorOr<ServiceSummary> plan(cost::Phase phase, std::optional<ServiceMode> mode,
                             const std::string &prefillMachine = "",
                             int64_t prefillDevices = 0) {
  ServiceRequest request = requestOf(4096, 512, 30, 1000, 8);
  request.mode = mode;
  request.prefillMachine = prefillMachine;
  request.prefillDevices = prefillDevices;
  return planService(scenarioOn("h100_sxm", llama70B(), phase), request);
}

} // namespace

TEST(ServiceSearch, FindsWhatEnumerationFinds) {
  int cases = numServiceCases(40);
  std::string machine = smallMachine(3.3);
  int plans = 0, none = 0;
  for (int seed = 0; seed < cases; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ServiceCase one(seed);
    one.hasten();
    if (one.config.experts && seed % 2)
      one.request.expertLoad = std::make_shared<cost::ExpertShares>(
          *cost::ExpertShares::zipf(0.4 * (1 + seed % 4)));
    auto scenario = scenarioOn(machine, one.config, cost::Phase::Decode);
    auto summary = planService(scenario, one.request);
    ASSERT_TRUE(summary) << summary.error().message;
    auto sides = service::sidesOf(*summary);
    ASSERT_TRUE(sides);
    double rate = summary->goal.rate;
    for (ServiceMode mode :
         {ServiceMode::Aggregated, ServiceMode::Disaggregated}) {
      const std::optional<ServicePlan> &plan = mode == ServiceMode::Aggregated
                                                   ? summary->aggregated
                                                   : summary->disaggregated;
      // At a rate the fewest devices, else the most tokens.
      std::optional<double> best;
      Enumeration(*summary, *sides, [&](const Offer &offer) {
        if (rate > 0 && offer.requestsPerSecond >= rate)
          best = std::min(best.value_or(1e9), double(offer.devices));
        else if (rate <= 0)
          best = std::max(best.value_or(0), offer.tokensPerDevice);
      }).run(mode);
      ASSERT_EQ(plan.has_value(), best.has_value()) << spell(mode);
      if (!plan) {
        ++none;

        continue;
      }
      ++plans;
      if (summary->goal.rate > 0)
        EXPECT_EQ(double(plan->usedDevices()), *best) << spell(mode);
      else
        EXPECT_NEAR(usualTokens(*plan), *best, 1e-9 * *best) << spell(mode);
    }
  }
  EXPECT_GT(plans, cases / 3);
  EXPECT_GT(none, 0);
}

TEST(ServiceSearch, StagesAreOfAnyNumber) {
  ServiceCase one(3);
  one.config.layers = 9;
  one.config.experts = 0;
  auto scenario =
      scenarioOn(smallMachine(3.3), one.config, cost::Phase::Decode);
  for (const char *stages : {"5", "7", "9"}) {
    ServiceRequest request = requestOf(8000, 300, 50, 4000, 9);
    request.pins = {{"pp", stages}};
    auto summary = planService(scenario, request);
    ASSERT_TRUE(summary && summary->aggregated) << stages;
    EXPECT_EQ(std::to_string(summary->aggregated->decode.degrees.pp), stages);
  }
  ServiceRequest more = requestOf(8000, 300, 50, 4000, 12);
  more.pins = {{"pp", "10"}};
  EXPECT_FALSE(planService(scenario, more)); // than layers
}

TEST(ServiceSearch, TighterIsNeverBetter) {
  std::string machine = smallMachine(3.3);
  int cases = numServiceCases(30), compared = 0;
  for (int seed = 1000; seed < 1000 + cases; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ServiceCase one(seed);
    one.request.load[RequestField::Rate] = std::nullopt;
    auto scenario = scenarioOn(machine, one.config, cost::Phase::Decode);
    auto loose = planService(scenario, one.request);
    ASSERT_TRUE(loose);
    if (!loose->best())
      continue;
    ServiceRequest tight = one.request;
    *tight.load[RequestField::TpotMs] *= 0.7;
    *tight.load[RequestField::TtftMs] *= 0.7;
    auto tighter = planService(scenario, tight);
    ASSERT_TRUE(tighter);
    if (!tighter->best())
      continue;
    ++compared;
    EXPECT_LE(tighter->best()->tokensPerDevice,
              loose->best()->tokensPerDevice * (1 + 2e-3));
    // More devices serve no fewer requests.
    ServiceRequest more = one.request;
    more.devices += 2;
    auto larger = planService(scenario, more);
    ASSERT_TRUE(larger && larger->best());
    EXPECT_GE(larger->best()->requestsPerSecond,
              loose->best()->requestsPerSecond * (1 - 2e-3));
  }
  EXPECT_GT(compared, cases / 6);
}

/// A plan of an engine gives way to a sharding that gains more than 1 %.
TEST(ServicePlan, TakesWhatAnEngineRunsUnlessAnotherShardingGainsMore) {
  std::string machine = smallMachine(2.6);
  int taken = 0, kept = 0;
  for (int seed = 3000; seed < 3060; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ServiceCase one(seed);
    auto scenario = scenarioOn(machine, one.config, cost::Phase::Decode);
    auto under = [&](const char *engine) {
      one.request.engine = engine;
      auto summary = planService(scenario, one.request);
      EXPECT_TRUE(summary) << summary.error().message;
      return *summary;
    };
    ServiceSummary runs = under("vllm"), free = under("none"), plan = under("");
    ASSERT_EQ(plan.best() != nullptr, runs.best() != nullptr);
    if (!runs.best())
      continue;
    ASSERT_TRUE(free.best());
    double gain = gainOf(*free.best(), *runs.best(), plan.goal);
    EXPECT_GE(gain, -2e-3);
    bool isFree = gain > runnableLoss;
    ++(isFree ? taken : kept);
    EXPECT_EQ(plan.engine, isFree ? Runner() : Runner(Engine::Vllm));
    EXPECT_NEAR(
        gainOf(*plan.best(), isFree ? *free.best() : *runs.best(), plan.goal),
        0, 2e-3);
    EXPECT_EQ(plan.runnable.has_value(), isFree);
    if (gain > 2e-3)
      EXPECT_NE(freeOptimum(plan), "");
  }
  EXPECT_GT(taken, 3);
  EXPECT_GT(kept, 3);
}

/// All that a plan says, as text.
std::string spelled(ServiceSummary summary, ServiceMode mode) {
  summary.mode = mode;
  (mode == ServiceMode::Aggregated ? summary.disaggregated : summary.aggregated)
      .reset();
  summary.proof = {};
  for (auto *plan : {&summary.aggregated, &summary.disaggregated})
    if (*plan)
      (*plan)->ownDims.reset();
  summary.breaches.reset();
  return serviceJson(summary);
}

TEST(ServiceEvaluation, PlansAttainWhatTheSearchSaid) {
  std::string machine = smallMachine(3.3);
  int cases = numServiceCases(50), same[2] = {};
  for (int seed = 0; seed < cases; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ServiceCase one(seed);
    one.hasten();
    auto scenario = scenarioOn(machine, one.config, cost::Phase::Decode);
    auto summary = planService(scenario, one.request);
    ASSERT_TRUE(summary) << summary.error().message;
    for (const auto *plan : {&summary->aggregated, &summary->disaggregated}) {
      if (!*plan)
        continue;
      GivenService given = givenBy(**plan);
      auto again = evaluateService(scenario, one.request, given);
      ASSERT_TRUE(again) << again.error().message;
      ASSERT_TRUE(again->best());
      EXPECT_EQ(whyNotKept(*again), std::nullopt);
      EXPECT_EQ(spelled(*again, (*plan)->mode()),
                spelled(*summary, (*plan)->mode()));
      // The load of a plan is the best of its workers.
      GivenService open = given;
      open.concurrency = 0;
      auto best = evaluateService(scenario, one.request, open);
      ASSERT_TRUE(best && best->best());
      EXPECT_EQ(spelled(*best, (*plan)->mode()),
                spelled(*summary, (*plan)->mode()));
      ++same[size_t((*plan)->mode())];
    }
  }
  EXPECT_GT(same[0], cases / 5);
  EXPECT_GT(same[1], cases / 5);
}

TEST(ServiceEvaluation, NamesWhatIsNotKept) {
  auto scenario = scenarioOn("h100_sxm", llama70B(), cost::Phase::Decode);
  auto kinds = [&](const ServiceRequest &request, const GivenService &given) {
    auto found = evaluateService(scenario, request, given);
    EXPECT_TRUE(found) << found.error().message;
    std::string all;
    for (const ServiceBreach &breach : *found->breaches)
      all += (all.empty() ? "" : " ") + breach.role +
             (breach.role.empty() ? "" : ":") + breach.kind;
    return all;
  };
  ServiceRequest request = requestOf(4096, 512, 30, 1000, 8);
  GivenService given;
  given.decode = {Degrees(4, 1, 1, 1), 2};
  given.concurrency = 16;
  EXPECT_EQ(kinds(request, given), "");
  given.concurrency = 400;
  EXPECT_EQ(kinds(request, given), "tpot ttft");
  given.decode.workers = 3;
  EXPECT_EQ(kinds(requestOf(4096, 512, 1e6, 1e6, 8), given), "devices");
  given.decode = {Degrees(1, 1, 1, 1), 8};
  EXPECT_EQ(kinds(request, given), "serve:memory");
  given.decode = {Degrees(3, 1, 1, 1), 1};
  given.concurrency = 1;
  EXPECT_EQ(kinds(request, given), "serve:engine");
  given.decode = {Degrees(4, 1, 100, 1), 1};
  EXPECT_EQ(kinds(request, given), "serve:structure devices");
  given.decode = {Degrees(4, 1, 1, 1), 1};
  given.prefill = GivenRole{Degrees(2, 1, 2, 1), 1};
  EXPECT_EQ(kinds(request, given), "transfer");
  ServiceRequest rate = request;
  rate.load[RequestField::Rate] = 1000;
  given.prefill.reset();
  EXPECT_EQ(kinds(rate, given), "rate");
  given.decode.workers = 0;
  auto wrong = evaluateService(scenario, request, given);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().message,
            "'serve.workers' is 0, expected a whole number from 1 to 100000");
}

TEST(ServiceSearch, WorkersHaveTheirPlaces) {
  using service::havePlaces;
  EXPECT_TRUE(havePlaces(8, 1, 0, 1, 8, 8));
  EXPECT_FALSE(havePlaces(9, 1, 0, 1, 8, 8));
  EXPECT_TRUE(havePlaces(2, 6, 0, 1, 16, 8));
  EXPECT_FALSE(havePlaces(3, 6, 0, 1, 18, 8)); // the third would straddle
  EXPECT_TRUE(havePlaces(2, 6, 2, 2, 16, 8));
  EXPECT_FALSE(havePlaces(2, 6, 1, 4, 16, 8));
  EXPECT_TRUE(havePlaces(1, 24, 5, 8, 64, 8));
  EXPECT_FALSE(havePlaces(1, 24, 6, 8, 64, 8));
  EXPECT_TRUE(havePlaces(1, 12, 0, 1, 12, 8)); // ends in the part of a domain
  EXPECT_TRUE(havePlaces(4, 16, 1, 8, 72, 72));
}

TEST(ServicePlan, ReportsBothPlansAndWhatTheyAreMadeOf) {
  auto service = plan(cost::Phase::Decode, std::nullopt);
  ASSERT_TRUE(service) << service.error().message;
  ASSERT_TRUE(service->best());
  std::string json = serviceJson(*service);
  for (const char *part :
       {"\"source\": \"extrapolated: model test", "\"aggregated\": {",
        "\"disaggregated\": {", "\"tpot_ms_p50\": ", "\"ttft_ms_p99\": ",
        "\"memory_gb\": {\"weights\": ", "\"certificate\": {\"optimal\": true",
        "\"dominating_term\": \"gemms\"", "\"cpu_launch_overhead\": "})
    EXPECT_NE(json.find(part), std::string::npos) << part << "\n" << json;
  std::string table = serviceTable(*service);
  EXPECT_NE(table.find(", p90 "), std::string::npos) << table;
}

TEST(ServicePlan, AModeThatIsAskedForHasItsOwnBound) {
  auto boundOf = [](const ServiceSummary &service) {
    std::string json = serviceJson(service), key = "\"bound\": ";
    return std::stod(json.substr(json.find(key) + key.size()));
  };
  for (ServiceMode mode :
       {ServiceMode::Aggregated, ServiceMode::Disaggregated}) {
    auto service = plan(cost::Phase::Decode, mode);
    ASSERT_TRUE(service && service->best());
    EXPECT_EQ(service->best()->mode(), mode);
    EXPECT_EQ(boundOf(*service), service->best()->tokensPerDevice);
  }
}

TEST(ServicePlan, SaysWhyThereIsNone) {
  auto why = [](const ServiceRequest &request) {
    auto service = planService(
        scenarioOn("h100_sxm", llama70B(), cost::Phase::Decode), request);
    EXPECT_TRUE(service);
    EXPECT_FALSE(service->best());
    return whyNoService(*service);
  };
  EXPECT_NE(why(requestOf(4096, 512, 30, 1000, 1))
                .find("weights and the cache of one request take "),
            std::string::npos);
  EXPECT_NE(why(requestOf(4096, 512, 3, 1000, 8))
                .find("a TPOT of 3 ms (mean) is missed: the least is "),
            std::string::npos);
  ServiceRequest rate = requestOf(4096, 512, 30, 1000, 8);
  rate.load[RequestField::Rate] = 20;
  EXPECT_NE(why(rate).find(" of 20 requests a second are served"),
            std::string::npos);
}

TEST(ServicePlan, SaysTheFewestDevicesThatSuffice) {
  auto planOn = [](int64_t devices) {
    return planService(scenarioOn("h100_sxm", llama70B(), cost::Phase::Decode),
                       requestOf(4096, 512, 30, 1000, devices));
  };
  auto none = planOn(1);
  ASSERT_TRUE(none && none->shortage);
  int64_t fewest = none->shortage->fewestDevices;
  EXPECT_GT(fewest, 1);
  EXPECT_LT(fewest, 8); // less than an NVLink domain
  EXPECT_TRUE(planOn(fewest)->best());
  for (int64_t devices = 2; devices < fewest; ++devices)
    EXPECT_EQ(planOn(devices)->shortage->fewestDevices, fewest);
  EXPECT_NE(whyNoService(*none).find("; " + std::to_string(fewest) +
                                     " devices suffice"),
            std::string::npos);
}

TEST(ServicePlan, PercentilesBind) {
  auto tokens = [](int percentile) {
    ServiceRequest request = requestOf(2000, 300, 25, 500, 8);
    request.load[RequestField::TtftPercentile] = percentile;
    auto service = planService(
        scenarioOn("h100_sxm", llama70B(), cost::Phase::Decode), request);
    EXPECT_TRUE(service && service->best());
    const cost::ServingTime &ttft = service->best()->times.ttft;
    EXPECT_LE(percentile == 99   ? ttft.p99
              : percentile == 90 ? ttft.p90
                                 : ttft.p50,
              500);
    return service->best()->tokensPerDevice;
  };
  EXPECT_LT(tokens(99), tokens(90));
  EXPECT_LE(tokens(90), tokens(50));
}

TEST(ServicePlan, PhasesOfADisaggregatedServiceHaveStrategiesOfTheirOwn) {
  for (cost::Phase phase : {cost::Phase::Decode, cost::Phase::Prefill}) {
    auto service = plan(phase, ServiceMode::Disaggregated);
    ASSERT_TRUE(service) << service.error().message;
    ASSERT_TRUE(service->best());
    ASSERT_TRUE(service->best()->prefill);
    bool isPrefill = phase == cost::Phase::Prefill;
    EXPECT_EQ(&workersOf(*service), isPrefill ? &*service->best()->prefill
                                              : &service->best()->decode);
    auto found = planWorkers(*service, PlanRequest());
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_TRUE(found->plan);
    const Degrees &degrees = found->plan->strategy.degrees;
    EXPECT_EQ(degrees.tp, workersOf(*service).degrees.tp);
    EXPECT_LE(degrees.batch, workersOf(*service).degrees.batch);
  }
}

TEST(ServicePlan, PromptsAreReadOnAnotherMachine) {
  for (cost::Phase phase : {cost::Phase::Decode, cost::Phase::Prefill}) {
    auto service = plan(phase, ServiceMode::Disaggregated, "b200_sxm", 4);
    ASSERT_TRUE(service) << service.error().message;
    ASSERT_TRUE(service->best());
    EXPECT_EQ(service->best()->prefillMachine, "b200_sxm");
    bool isPrefill = phase == cost::Phase::Prefill;
    EXPECT_EQ(scenarioOf(*service).machine().name,
              isPrefill ? "b200_sxm" : "h100_sxm");
    EXPECT_EQ(isOnPrefillMachine(*service), isPrefill);
    auto found = planWorkers(*service, PlanRequest());
    ASSERT_TRUE(found && found->plan);
    std::string json = serviceJson(*service);
    for (const char *part :
         {"\"prefill_machine\": \"b200_sxm\"", "\"prefill_devices\": 4",
          "\"prefill\": {\n      \"machine\": \"b200_sxm\"",
          "\"decode\": {\n      \"machine\": \"h100_sxm\""})
      EXPECT_NE(json.find(part), std::string::npos) << part << "\n" << json;
    std::string table = serviceTable(*service);
    for (const char *part :
         {"8 GPUs of h100_sxm and 4 of b200_sxm", " on b200_sxm\n", "of 12"})
      EXPECT_NE(table.find(part), std::string::npos) << part << "\n" << table;
  }
}

TEST(ServicePlan, WrongMachinesForPrompts) {
  auto errorOf = [](const std::string &machine, int64_t devices) {
    auto service = plan(cost::Phase::Decode, std::nullopt, machine, devices);
    return service ? "" : service.error().message;
  };
  EXPECT_EQ(errorOf("", 4), "there are 4 prefill devices without a machine, "
                            "expected 'prefill-machine'");
  EXPECT_EQ(errorOf("h100_sxm", -1),
            "'prefill-devices' is -1, expected a number from 0 to 100000");
  EXPECT_NE(errorOf("h1000", 0).find("h1000"), std::string::npos);
}
