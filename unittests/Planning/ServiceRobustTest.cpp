//===- ServiceRobustTest.cpp - Several plans, and several scenarios -------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ServiceCases.h"

#include <map>

using namespace shardopt;
using namespace shardopt::test;

namespace {

/// The highest rate of each layout of `mode` in any number of workers.
std::map<std::string, double> ratesOf(const ServiceSummary &summary,
                                      const service::Sides &sides,
                                      ServiceMode mode) {
  std::map<std::string, double> rates;
  Enumeration(summary, sides, [&](const Offer &offer) {
    if (summary.goal.isGoodput && summary.goal.within(offer.times) < 0.5)
      return;
    double &rate = rates[offer.layout];
    rate = std::max(rate, offer.requestsPerSecond);
  }).run(mode);
  return rates;
}

/// The same of all layouts of both modes, for a request.
std::map<std::string, double>
ratesOf(const std::shared_ptr<const Scenario> &scenario,
        const ServiceRequest &request) {
  auto asked = service::Asked::create(scenario, request);
  EXPECT_TRUE(asked) << asked.error().message;
  auto all = ratesOf(asked->summary, asked->sides, ServiceMode::Aggregated);
  all.merge(ratesOf(asked->summary, asked->sides, ServiceMode::Disaggregated));
  return all;
}

double most(const std::map<std::string, double> &rates) {
  double most = 0;
  for (const auto &[layout, rate] : rates)
    most = std::max(most, rate);
  return most;
}

} // namespace

TEST(ServiceCandidates, AreTheBestOfEachMode) {
  std::string machine = smallMachine(3.3);
  int compared = 0;
  for (int seed = 0; seed < numServiceCases(30); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ServiceCase one(seed);
    one.request.load[RequestField::Rate] = std::nullopt;
    one.request.candidates = 3;
    auto scenario = scenarioOn(machine, one.config, cost::Phase::Decode);
    auto summary = planService(scenario, one.request);
    ASSERT_TRUE(summary) << summary.error().message;
    auto sides = service::sidesOf(*summary);
    ASSERT_TRUE(sides);
    for (ServiceMode mode :
         {ServiceMode::Aggregated, ServiceMode::Disaggregated}) {
      std::vector<double> wanted, found;
      for (const auto &[layout, rate] : ratesOf(*summary, *sides, mode))
        wanted.push_back(rate);
      std::sort(wanted.rbegin(), wanted.rend());
      for (const ServicePlan &plan : summary->candidates)
        if (plan.mode() == mode)
          found.push_back(plan.requestsPerSecond);
      ASSERT_EQ(found.size(), std::min<size_t>(3, wanted.size()));
      for (size_t i = 0; i < found.size(); ++i)
        EXPECT_NEAR(found[i], wanted[i], 1e-9 * wanted[i]);
      compared += int(found.size());
    }
  }
  EXPECT_GT(compared, 20);
}

TEST(ServiceGoodput, IsTheMostOfAllServices) {
  std::string machine = smallMachine(3.3);
  int plans = 0, late = 0;
  for (int seed = 0; seed < numServiceCases(16); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ServiceCase one(seed);
    for (RequestField field : {RequestField::Rate, RequestField::TpotPercentile,
                               RequestField::TtftPercentile})
      one.request.load[field] = std::nullopt;
    one.request.isGoodput = true;
    auto scenario = scenarioOn(machine, one.config, cost::Phase::Decode);
    auto summary = planService(scenario, one.request);
    ASSERT_TRUE(summary) << summary.error().message;
    auto sides = service::sidesOf(*summary);
    ASSERT_TRUE(sides);
    for (ServiceMode mode :
         {ServiceMode::Aggregated, ServiceMode::Disaggregated}) {
      double best = most(ratesOf(*summary, *sides, mode));
      const auto &plan = mode == ServiceMode::Aggregated
                             ? summary->aggregated
                             : summary->disaggregated;
      EXPECT_NEAR(plan ? plan->goodput : 0, best, 1e-9 * best);
      if (!plan)
        continue;
      ++plans;
      late += plan->goodput < 0.999 * plan->requestsPerSecond;
      EXPECT_LE(plan->goodput, plan->requestsPerSecond);
    }
  }
  EXPECT_GT(plans, 10);
  EXPECT_GT(late, 0);
}

TEST(ServiceRobust, IsTheMaximinOfAllServices) {
  std::string machine = smallMachine(3.3);
  int compared = 0, better = 0;
  for (int seed = 0; seed < numServiceCases(16); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ServiceCase one(seed);
    one.request.load[RequestField::Rate] = std::nullopt;
    one.request.lengths.clear();
    auto scenario = scenarioOn(machine, one.config, cost::Phase::Decode);
    double isl = *one.request.load[RequestField::Isl];
    std::vector<ServiceBand> bands = {{"prefix_cache_hit_rate", 0, 0.8},
                                      seed % 2
                                          ? ServiceBand{"isl", isl / 4, isl}
                                          : ServiceBand{"times", 0.7, 1.2}};
    auto summary = planRobust(scenario, one.request, bands);
    std::vector<std::map<std::string, double>> rates = {
        ratesOf(scenario, one.request)};
    for (double hits : {0.0, 0.8})
      for (bool isHigh : {false, true}) {
        ServiceRequest corner = one.request;
        corner.load[RequestField::PrefixCacheHitRate] = hits;
        if (seed % 2)
          corner.load[RequestField::Isl] = isHigh ? isl : isl / 4;
        else
          corner.times = isHigh ? 1.2 : 0.7;
        rates.push_back(ratesOf(scenario, corner));
      }
    // The least share of each layout that serves in all scenarios.
    double best = 0;
    for (const auto &[layout, unused] : rates.front()) {
      double least = 1;
      for (const auto &of : rates) {
        auto found = of.find(layout);
        least =
            std::min(least, found == of.end() ? 0 : found->second / most(of));
      }
      best = std::max(best, least);
    }
    ASSERT_EQ(bool(summary), best > 0)
        << (summary ? "" : summary.error().message);
    if (!summary)
      continue;
    ++compared;
    const ServiceRobustness &found = *summary->robustness;
    ASSERT_EQ(found.scenarios.size(), 5u);
    EXPECT_NEAR(found.worst(), best, 1e-9);
    EXPECT_LE(found.worstOfUsual(), found.worst() * (1 + 1e-9));
    better += found.worst() > found.worstOfUsual() * 1.01;
  }
  EXPECT_GT(compared, 8);
  EXPECT_GT(better, 0);
}

TEST(ServiceRobust, SaysWhatIsNoBand) {
  ServiceCase one(0);
  one.request.load[RequestField::Rate] = std::nullopt;
  auto scenario =
      scenarioOn(smallMachine(3.3), one.config, cost::Phase::Decode);
  auto why = [&](std::vector<ServiceBand> bands) {
    auto found = planRobust(scenario, one.request, bands);
    return found ? "" : found.error().message;
  };
  EXPECT_EQ(why({}), "there are 0 bands, expected 1 to 4, such as "
                     "prefix_cache_hit_rate=0:0.6");
  EXPECT_EQ(why({{"times", 1.2, 0.8}}),
            "the band of 'times' is from 1.2 to 0.8, expected a lower and a "
            "higher number");
  EXPECT_EQ(why({{"prefix_cache_hit_rate", 0, 2}}),
            "'prefix_cache_hit_rate' is 2, expected a number from 0 to 0.999");
  EXPECT_EQ(why({{"hits", 0, 1}}).find("unknown band 'hits', nor is"), 0u);
  EXPECT_EQ(why({{"pass_us", -1, 1}}),
            "pass_us is '-1', expected a number from 0 to 1e9");
  one.request.load[RequestField::Rate] = 1;
  EXPECT_EQ(why({{"times", 0.8, 1.2}}),
            "a robust plan is of the highest throughput, expected no request "
            "rate and no goodput");
}
