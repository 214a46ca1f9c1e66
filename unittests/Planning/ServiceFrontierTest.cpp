//===- ServiceFrontierTest.cpp - Throughput against speed -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/ServiceFrontier.h"

#include "ServiceCases.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::test;

namespace {

/// TPOT, and tokens a second per device.
using Corner = std::pair<double, double>;

/// Of `all`, those that none is as good as in both, by descending TPOT.
std::vector<Corner> undominated(std::vector<Corner> all) {
  std::sort(all.begin(), all.end(), [](const Corner &a, const Corner &b) {
    return a.first != b.first ? a.first < b.first : a.second > b.second;
  });
  std::vector<Corner> kept;
  for (const Corner &one : all)
    if (kept.empty() || one.second > kept.back().second)
      kept.push_back(one);
  std::reverse(kept.begin(), kept.end());
  return kept;
}

std::vector<Corner> cornersOf(const ServiceFrontier &frontier) {
  std::vector<Corner> corners;
  for (const ServiceSummary &point : frontier.points)
    if (const ServicePlan *plan = point.best())
      corners.emplace_back(point.goal.tpot.of<double>(plan->times.tpot),
                           plan->tokensPerDevice);
  return corners;
}

} // namespace

TEST(ServiceFrontier, IsThatOfAllServices) {
  int cases = numServiceCases(6);
  std::string machine = smallMachine(3.3);
  int points = 0;
  for (int seed = 5000; seed < 5000 + cases; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ServiceCase one(seed);
    one.request.load[RequestField::Rate] = std::nullopt;
    if (one.pick({0, 1}) && !one.request.load[RequestField::TpotPercentile])
      one.request.load[RequestField::TpotMs] = 1e9;
    auto scenario = scenarioOn(machine, one.config, cost::Phase::Decode);
    auto frontier = serviceFrontier(scenario, one.request, /*step=*/0);
    ASSERT_TRUE(frontier) << frontier.error().message;
    auto asked = service::summaryOf(scenario, one.request);
    ASSERT_TRUE(asked);
    auto sides = service::sidesOf(*asked);
    ASSERT_TRUE(sides);
    LatencyLimit limit = asked->goal.tpot;
    std::vector<Corner> all;
    Enumeration enumeration(*asked, *sides, [&](const Offer &offer) {
      all.emplace_back(limit.of<double>(offer.times.tpot),
                       offer.tokensPerDevice);
    });
    enumeration.run(ServiceMode::Aggregated);
    enumeration.run(ServiceMode::Disaggregated);
    // Points that differ in rounding alone are one.
    std::vector<Corner> wanted = undominated(all), found = cornersOf(*frontier);
    auto isCovered = [](const Corner &one, const std::vector<Corner> &by) {
      return std::any_of(by.begin(), by.end(), [&](const Corner &other) {
        return other.first <= one.first * (1 + 1e-9) &&
               other.second >= one.second * (1 - 1e-9);
      });
    };
    for (const Corner &corner : wanted)
      EXPECT_TRUE(isCovered(corner, found))
          << corner.first << " ms, " << corner.second;
    for (const Corner &corner : found)
      EXPECT_TRUE(isCovered(corner, wanted))
          << corner.first << " ms, " << corner.second;
    EXPECT_EQ(undominated(found), found);
    points += int(found.size());
  }
  EXPECT_GT(points, 3 * cases);
}

TEST(ServiceFrontier, StepsThinItOut) {
  ServiceRequest request = requestOf(2000, 300, 50, 2000, 8);
  auto scenario = scenarioOn("h100_sxm", llama70B(), cost::Phase::Decode);
  auto frontier = serviceFrontier(scenario, request, 0.25);
  ASSERT_TRUE(frontier) << frontier.error().message;
  std::vector<Corner> corners = cornersOf(*frontier);
  ASSERT_GT(corners.size(), 2u);
  for (size_t i = 1; i < corners.size(); ++i) {
    EXPECT_LE(corners[i].first, corners[i - 1].first / 1.25);
    EXPECT_LT(corners[i].second, corners[i - 1].second);
  }
  // Each is the plan of all that have at most its TPOT.
  request.load[RequestField::TpotMs] = corners[1].first;
  auto plan = planService(scenario, request);
  ASSERT_TRUE(plan && plan->best());
  EXPECT_NEAR(plan->best()->tokensPerDevice, corners[1].second,
              1e-3 * corners[1].second);
}

/// What earlier points have shown of layouts makes later ones no harder.
TEST(ServiceFrontier, TriesNoMorePairsThanItsPointsAlone) {
  auto scenario = scenarioOn("h200_sxm", deepSeekV3(), cost::Phase::Decode);
  ServiceRequest request = requestOf(4000, 1000, 50, 3000, 32);
  request.engine = "sglang";
  request.load[RequestField::DraftTokens] = 2;
  request.load[RequestField::AcceptedTokens] = 1.4;
  ErrorOr<ServiceFrontier> frontier = serviceFrontier(scenario, request, 0.1);
  ASSERT_TRUE(frontier) << frontier.error().message;
  EXPECT_GE(frontier->points.size(), 10u);
  int64_t alone = 0;
  for (const ServiceSummary &point : frontier->points) {
    request.load[RequestField::TpotMs] = point.goal.tpot.ms;
    auto one = planService(scenario, request);
    ASSERT_TRUE(one) << one.error().message;
    EXPECT_NEAR(one->best()->tokensPerDevice, point.best()->tokensPerDevice,
                2e-3 * point.best()->tokensPerDevice);
    alone += one->proof.pairs;
  }
  EXPECT_LE(frontier->proof.pairs, alone);
}

TEST(ServiceFrontier, AtARateFasterServicesTakeMoreGpus) {
  ServiceRequest request = requestOf(2000, 300, 50, 2000, 8);
  request.load[RequestField::Rate] = 3;
  auto scenario = scenarioOn("h100_sxm", llama70B(), cost::Phase::Decode);
  auto frontier = serviceFrontier(scenario, request, 0.1);
  ASSERT_TRUE(frontier) << frontier.error().message;
  ASSERT_GT(frontier->points.size(), 1u);
  const ServicePlan *before = nullptr;
  for (const ServiceSummary &point : frontier->points) {
    const ServicePlan *plan = point.best();
    ASSERT_TRUE(plan);
    EXPECT_GE(plan->requestsPerSecond, 3 * (1 - 1e-9));
    if (before) {
      EXPECT_LE(plan->times.tpot.ms, before->times.tpot.ms / 1.1);
      EXPECT_GT(plan->usedDevices(), before->usedDevices());
    }
    before = plan;
  }
}

TEST(ServiceFrontier, SaysWhatIsNoFrontier) {
  auto scenario = scenarioOn("h100_sxm", llama70B(), cost::Phase::Decode);
  ServiceRequest request = requestOf(2000, 300, 50, 2000, 8);
  auto errorOf = [&](double step) {
    auto frontier = serviceFrontier(scenario, request, step);
    return frontier ? "" : frontier.error().message;
  };
  EXPECT_EQ(errorOf(-1), "the step of a frontier is -1, expected a number of "
                         "at least 0");
}
