//===- ServiceLawsTest.cpp - Laws that every planned service keeps --------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ServiceCases.h"

#include "shardopt/Cost/Serving/EngineClock.h"
#include "shardopt/Cost/Tables/Evaluate.h"

using namespace shardopt;
using namespace shardopt::test;

namespace {

/// A role as a phase has it.
Strategy strategyOf(const ServiceRole &role, Runner runner,
                    const cost::Model &model, int64_t sequences) {
  Strategy strategy{role.degrees, role.dims};
  strategy.degrees.batch = sequences * role.degrees.dp * role.degrees.pp;
  if (strategy.dims.empty())
    strategy.dims = engineDims(runner, role.degrees, EngineFacts(model));
  return strategy;
}

} // namespace

TEST(ServiceLaws, RolesAreEvaluatedAgainAsPhases) {
  std::string machine = smallMachine(3.3);
  int compared = 0;
  for (int seed = 2000; seed < 2040; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ServiceCase one(seed);
    auto scenario = scenarioOn(machine, one.config, cost::Phase::Decode);
    auto summary = planService(scenario, one.request);
    ASSERT_TRUE(summary) << summary.error().message;
    auto sides = service::sidesOf(*summary);
    ASSERT_TRUE(sides);
    auto clock = cost::EngineClock::create(scenario->machine(), sides->engine);
    ASSERT_TRUE(clock);
    double context = std::round(summary->goal.load.context());
    for (const auto *plan : {&summary->aggregated, &summary->disaggregated}) {
      if (!*plan)
        continue;
      const ServiceRole &role = (*plan)->decode;
      auto groups = double(role.degrees.dp);
      auto admitted = int64_t(role.inFlight / groups);
      if (admitted < 1)
        continue;
      cost::CostModel costs(
          makeModel(one.config, {cost::Phase::Decode, int64_t(context)}),
          *clock, std::nullopt, cost::Limits());
      int64_t pp = role.degrees.pp;
      Strategy strategy =
          strategyOf(role, summary->engine, costs.model(), admitted);
      Evaluation phase = cost::evaluate(costs, strategy);
      ASSERT_NE(phase.reason, Reason::Structural);
      cost::StepTimes steps(costs, strategy, std::nullopt, /*reach=*/1);
      cost::StepMix mix;
      mix.sequences = double(admitted);
      mix.context = double(int64_t(context));
      EXPECT_NEAR(steps.seconds(mix) * 1e3, phase.latencyMs,
                  1e-9 * phase.latencyMs)
          << spell(role.degrees);
      // A micro-batch of as many as there are in flight, for each stage.
      EXPECT_NEAR((role.weightBytes + role.cacheBytes * double(admitted * pp) /
                                          (role.inFlight / groups)) /
                      1e9,
                  phase.memoryGb, 1e-9 * phase.memoryGb)
          << spell(role.degrees);
      // Experts that tokens reach together are fewer than those of a phase,
      // with as much more in the fullest group.
      cost::StepTimes spread(costs, strategy, std::nullopt, /*reach=*/1,
                             sides->engine.expertSpread);
      auto layout = sides->decode->layout(summary->engine, role.degrees,
                                          cost::Phase::Decode);
      ASSERT_TRUE(layout);
      if (one.config.experts)
        EXPECT_LE(layout->steps->seconds(mix),
                  spread.seconds(mix) * (1 + 1e-9));
      else
        EXPECT_NEAR(layout->steps->seconds(mix), steps.seconds(mix),
                    1e-9 * steps.seconds(mix));
      ++compared;
    }
  }
  EXPECT_GT(compared, 20);
}

TEST(ServiceLaws, MoreIsAskedForNoLess) {
  // At a higher rate a service takes no fewer devices, and with more devices
  // at hand no more.
  std::string machine = smallMachine(3.3);
  int cases = numServiceCases(20), compared = 0;
  for (int seed = 3000; seed < 3000 + cases; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ServiceCase one(seed);
    one.request.load[RequestField::Rate] = 0.5 * one.pick({1, 2, 3, 4});
    auto scenario = scenarioOn(machine, one.config, cost::Phase::Decode);
    auto devices = [&](double rate, int64_t more, double limits) {
      ServiceRequest request = one.request;
      *request.load[RequestField::Rate] *= rate;
      *request.load[RequestField::TpotMs] *= limits;
      *request.load[RequestField::TtftMs] *= limits;
      request.devices += more;
      auto summary = planService(scenario, request);
      EXPECT_TRUE(summary) << summary.error().message;
      constexpr int64_t none = 1 << 20;
      return summary->best() ? summary->best()->usedDevices() : none;
    };
    int64_t asked = devices(1, 0, 1);
    EXPECT_LE(asked, devices(1.7, 0, 1));
    EXPECT_LE(asked, devices(1, 0, 0.7));
    EXPECT_GE(asked, devices(1, 2, 1));
    compared += asked < 1 << 20;
  }
  EXPECT_GT(compared, cases / 4);
}
