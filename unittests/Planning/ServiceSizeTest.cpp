//===- ServiceSizeTest.cpp - Pins, engines and sizes of services ----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/ServiceAdvice.h"
#include "shardopt/Planning/ServiceSides.h"

#include "ServiceCases.h"

#include <algorithm>
#include <map>

using namespace shardopt;
using namespace shardopt::test;

/// Compares the plan of `mode` with the best of all services; counts plans, and
/// modes without one.
static void compare(const ServiceSummary &summary, const service::Sides &sides,
                    ServiceMode mode, int &plans, int &none) {
  std::optional<double> best;
  bool hasRate = summary.goal.rate > 0;
  Enumeration(summary, sides, [&](const Offer &offer) {
    if (!hasRate)
      best = std::max(best.value_or(0), offer.tokensPerDevice);
    else if (offer.requestsPerSecond >= summary.goal.rate)
      best = std::min(best.value_or(1e9), double(offer.devices));
  }).run(mode);
  const std::optional<ServicePlan> &plan = mode == ServiceMode::Aggregated
                                               ? summary.aggregated
                                               : summary.disaggregated;
  ASSERT_EQ(plan.has_value(), best.has_value()) << spell(mode);
  ++(plan ? plans : none);
  if (plan && hasRate)
    EXPECT_EQ(double(plan->usedDevices()), *best) << spell(mode);
  else if (plan)
    EXPECT_NEAR(usualTokens(*plan), *best, 1e-9 * *best) << spell(mode);
}

/// The same of both modes.
static void compare(const ServiceSummary &summary, int &plans, int &none) {
  auto sides = service::sidesOf(summary);
  ASSERT_TRUE(sides);
  for (ServiceMode mode : {ServiceMode::Aggregated, ServiceMode::Disaggregated})
    compare(summary, *sides, mode, plans, none);
}

TEST(ServiceSearch, FindsWhatEnumerationFindsUnderPins) {
  std::string machine = smallMachine(3.3);
  int plans = 0, none = 0, wrong = 0, overlapped = 0;
  for (int seed = 2000; seed < 2080; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ServiceCase one(seed);
    one.hasten();
    if (one.config.experts && one.pick({0, 1}))
      one.request.pins["overlap"] = "on";
    for (const char *pin : {"tp", "prefill.tp", "decode.tp", "serve.tp"})
      if (one.pick({0, 0, 1}))
        one.request.pins[pin] = one.pick({0, 1}) ? "1,2" : "2";
    for (const char *pin : {"workers", "decode.workers", "serve.workers"})
      if (one.pick({0, 0, 1}))
        one.request.pins[pin] = one.pick({0, 1}) ? "1" : "2,3";
    auto scenario = scenarioOn(machine, one.config, cost::Phase::Decode);
    auto summary = planService(scenario, one.request);
    if (!summary) { // which no service has, or of both modes
      EXPECT_NE(summary.error().message.find("pin"), std::string::npos);
      ++wrong;
      continue;
    }
    compare(*summary, plans, none);
    if (const ServicePlan *best = summary->best())
      overlapped += best->decode.overlaps;
  }
  EXPECT_GT(plans, 20);
  EXPECT_GT(overlapped, 0);
  EXPECT_GT(none, 5);
  EXPECT_GT(wrong, 5);
}

TEST(ServiceSearch, FindsWhatEnumerationFindsWithReplicas) {
  std::string machine = smallMachine(3.3);
  int plans = 0, none = 0, balanced = 0;
  for (int seed = 4000; seed < 4000 + numServiceCases(16); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ServiceCase one(seed);
    one.config.experts = one.pick({6, 8, 16});
    one.config.topK = 2;
    one.config.expertInner = one.pick({256, 1024});
    one.request.devices = 4;
    one.request.pins = {{"ep", "2,3,4"}};
    one.request.expertLoad = std::make_shared<cost::ExpertShares>(
        *cost::ExpertShares::zipf(0.3 * one.pick({1, 2, 4})));
    auto scenario = scenarioOn(machine, one.config, cost::Phase::Decode);
    auto summary = planService(scenario, one.request);
    if (!summary) // no worker of the engine has such an ep
      continue;
    compare(*summary, plans, none);
    for (const auto *plan : {&summary->aggregated, &summary->disaggregated})
      balanced += *plan && (*plan)->decode.degrees.hasEplb();
  }
  EXPECT_GT(plans, 10);
  EXPECT_GT(balanced, 5);
}

TEST(ServicePlan, PinsThatNoServiceHas) {
  auto scenario = scenarioOn("h100_sxm", llama70B(), cost::Phase::Decode);
  auto why = [&](std::map<std::string, std::string> pins,
                 std::optional<ServiceMode> mode = std::nullopt) {
    ServiceRequest request = requestOf(4096, 512, 30, 1000, 8);
    request.pins = std::move(pins);
    request.mode = mode;
    auto found = planService(scenario, request);
    return found ? std::string() : found.error().message;
  };
  EXPECT_EQ(why({{"tp", "4"}}), "");
  EXPECT_EQ(why({{"tp", "3"}}), "'tp' is pinned to 3, which no worker has: "
                                "expected 1, 2, 4 or 8");
  EXPECT_EQ(why({{"decode.tp", "3"}}),
            "'decode.tp' is pinned to 3, which no decode worker has: expected "
            "1, 2, 4 or 8");
  EXPECT_EQ(why({{"tp", "4"}, {"serve.workers", "3"}}),
            "'serve.workers' is pinned to 3, expected at most 2 with tp 4 on 8 "
            "GPUs");
  EXPECT_EQ(why({{"serve.tp", "4"}, {"decode.tp", "4"}}),
            "the pin 'serve.tp' is of a service that is aggregated, and "
            "'decode.tp' is of one that is disaggregated");
  EXPECT_EQ(why({{"prefill.tp", "4"}}, ServiceMode::Aggregated),
            "the pin 'prefill.tp' is of a service that is disaggregated, and "
            "the mode is aggregated");
  EXPECT_EQ(why({{"prefill.tp", "x"}}).substr(0, 24),
            "'prefill.tp' is 'x', exp");
  EXPECT_EQ(why({{"batch", "4"}}).substr(0, 19), "unknown pin 'batch'");
  EXPECT_EQ(why({{"reader.tp", "4"}}).substr(0, 36),
            "unknown role in the pin 'reader.tp';");
}

TEST(ServicePlan, AnyEngineIsTheBestOfAll) {
  std::string machine = smallMachine(3.3);
  for (int seed = 0; seed < 15; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ServiceCase one(seed);
    auto scenario = scenarioOn(machine, one.config, cost::Phase::Decode);
    double best = 0;
    for (Engine engine : allEngines) {
      one.request.engine = spell(engine);
      auto alone = planService(scenario, one.request);
      ASSERT_TRUE(alone);
      if (alone->best())
        best = std::max(best, alone->goal.rate > 0
                                  ? 1e6 - double(alone->best()->usedDevices())
                                  : alone->best()->tokensPerDevice);
    }
    one.request.engine = "any";
    auto any = planService(scenario, one.request);
    ASSERT_TRUE(any);
    ASSERT_EQ(any->engines.size(), std::size(allEngines));
    ASSERT_EQ(any->best() != nullptr, best > 0);
    if (!any->best())
      continue;
    EXPECT_EQ(any->goal.rate > 0 ? 1e6 - double(any->best()->usedDevices())
                                 : any->best()->tokensPerDevice,
              best);
    EXPECT_EQ(any->engines.front().engine, any->engine);
    for (size_t i = 1; i < any->engines.size() && any->goal.rate <= 0; ++i)
      if (any->engines[i].plan)
        EXPECT_GE(any->engines[i - 1].plan->tokensPerDevice,
                  any->engines[i].plan->tokensPerDevice);
  }
}

TEST(ServiceSize, IsTheLeastOfAllSizes) {
  std::string machine = smallMachine(3.3);
  int cases = numServiceCases(8), sized = 0;
  for (int seed = 0; seed < cases; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ServiceCase one(seed);
    one.request.load[RequestField::Rate] = one.pick({1, 3});
    auto scenario = scenarioOn(machine, one.config, cost::Phase::Decode);
    one.request.devices = 8;
    auto size = sizeService(scenario, one.request);
    ASSERT_TRUE(size) << size.error().message;
    std::optional<int64_t> least;
    for (int64_t devices = 1; devices <= 8 && !least; ++devices) {
      one.request.devices = devices;
      auto plan = planService(scenario, one.request);
      ASSERT_TRUE(plan);
      if (plan->best())
        least = devices;
    }
    ASSERT_EQ(size->best() != nullptr, least.has_value());
    if (!least) {
      EXPECT_NE(whyNoService(*size), "");
      continue;
    }
    EXPECT_EQ(size->best()->usedDevices(), *least);
    EXPECT_GE(size->sizedWithin, *least);
    ++sized;
  }
  EXPECT_GT(sized, cases / 4);
}

TEST(ServiceSize, CostsLeastOfBothMachines) {
  auto scenario = scenarioOn("h100_sxm", llama70B(), cost::Phase::Decode);
  ServiceRequest request = requestOf(4096, 512, 30, 1000, 0);
  request.load[RequestField::Rate] = 4;
  request.prefillMachine = "b200_sxm";
  for (double price : {2.0, 20.0}) {
    request.price = 3;
    request.prefillPrice = price;
    auto size = sizeService(scenario, request);
    ASSERT_TRUE(size && size->best());
    double cost = size->best()->costUnder(size->goal);
    // The cheaper machine decodes.
    EXPECT_EQ(size->scenario->machine().name,
              price < 3 ? "b200_sxm" : "h100_sxm");
    for (int64_t devices : {4, 8, 12})
      for (int64_t apart : {2, 4, 8}) {
        ServiceRequest some = request;
        some.devices = devices;
        some.prefillDevices = apart;
        auto plan = planService(scenario, some);
        ASSERT_TRUE(plan);
        if (plan->best())
          EXPECT_LE(cost, plan->best()->costUnder(plan->goal) * (1 + 1e-9));
      }
  }
}

TEST(ServiceAdvice, OptionsHold) {
  auto scenario = scenarioOn("h100_sxm", llama70B(), cost::Phase::Decode);
  auto advise = [&](const ServiceRequest &request) {
    auto advice = adviseService(scenario, request);
    EXPECT_TRUE(advice) << advice.error().message;
    return *advice;
  };
  auto find = [](const ServiceAdvice &advice, const std::string &what) {
    for (const ServiceOption &option : advice.options)
      if (option.what == what)
        return option.value;
    return 0.0;
  };
  auto hasPlan = [&](ServiceRequest request, RequestField field, double value) {
    request.load[field] = value;
    auto found = planService(scenario, request);
    EXPECT_TRUE(found);
    return found->best() != nullptr;
  };
  ServiceRequest tight = requestOf(4096, 512, 6, 1000, 8);
  ServiceAdvice missed = advise(tight);
  EXPECT_EQ(missed.binding, "tpot");
  double tpot = find(missed, "tpot_ms");
  ASSERT_GT(tpot, 6);
  EXPECT_TRUE(hasPlan(tight, RequestField::TpotMs, tpot));
  EXPECT_FALSE(hasPlan(tight, RequestField::TpotMs, 0.98 * tpot));
  ServiceRequest busy = requestOf(4096, 512, 30, 1000, 8);
  busy.load[RequestField::Rate] = 20;
  ServiceAdvice crowded = advise(busy);
  EXPECT_EQ(crowded.binding, "rate");
  double rate = find(crowded, "rate");
  EXPECT_TRUE(hasPlan(busy, RequestField::Rate, rate * 0.999));
  EXPECT_FALSE(hasPlan(busy, RequestField::Rate, rate * 1.01));
  double devices = find(crowded, "devices");
  ASSERT_GT(devices, 8);
  busy.devices = int64_t(devices);
  EXPECT_TRUE(hasPlan(busy, RequestField::Rate, 20));
  busy.devices -= 1;
  EXPECT_FALSE(hasPlan(busy, RequestField::Rate, 20));
  // There is a plan: what a looser limit, more GPUs and others are worth.
  ServiceAdvice some = advise(requestOf(4096, 512, 30, 1000, 8));
  EXPECT_TRUE(some.binding == "tpot_ms" || some.binding == "ttft_ms");
  for (const char *what :
       {"tpot_ms", "ttft_ms", "devices", "machine", "engine"})
    EXPECT_NE(std::find_if(some.options.begin(), some.options.end(),
                           [&](const auto &one) { return one.what == what; }),
              some.options.end())
        << what;
  EXPECT_NE(adviceJson(some).find("\"feasible\": true"), std::string::npos);
}
