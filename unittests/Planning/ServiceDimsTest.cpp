//===- ServiceDimsTest.cpp - Services with dims of their own --------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/OpCuts.h"
#include "shardopt/Planning/ServiceEvaluation.h"

#include "ServiceCases.h"

using namespace shardopt;
using namespace shardopt::test;

namespace {

/// Small services of any layout, without a rate.
ServiceCase freeCase(unsigned seed) {
  ServiceCase one(seed);
  one.request.engine = "none";
  one.request.load[RequestField::Rate] = std::nullopt;
  return one;
}

/// What `given` attains; 0 where it breaks something.
double served(const ServiceSummary &asked, const service::Sides &sides,
              const GivenService &given) {
  ServiceSummary summary = asked;
  service::judgeService(summary, sides, given);
  return summary.best() && summary.breaches->empty()
             ? summary.best()->tokensPerDevice
             : 0;
}

/// The most that the workers of `plan` attain with any dims, those of embedding
/// and head as they are `found`.
double mostOfAll(const ServiceSummary &summary, const service::Sides &sides,
                 const ServicePlan &plan, const std::vector<Dim> &found) {
  GivenService given = givenBy(plan);
  given.concurrency = 0;
  auto nodes = sides.decode->costs().model().nodesByVariable();
  std::vector<Dim> dims = found;
  double most = 0;
  std::function<void(size_t)> choose = [&](size_t op) {
    if (op + 1 == nodes.size()) {
      given.decode.dims = dims;
      most = std::max(most, served(summary, sides, given));
      return;
    }
    for (const cost::DimChoice &choice : nodes[op]->op->choices()) {
      dims[op] = choice.dim;
      choose(op + 1);
    }
  };
  choose(1);
  return most;
}

/// The dims of the workers that decode.
std::vector<Dim> dimsOf(const ServiceRole &role, const service::Sides &sides) {
  return role.dims.empty() ? sides.decode->usualDims(role.degrees) : role.dims;
}

/// How many ops of `role` are not as Megatron has them.
size_t countChanged(const ServiceRole &role, const service::Sides &sides) {
  std::vector<Dim> usual = sides.decode->usualDims(role.degrees),
                   dims = dimsOf(role, sides);
  size_t count = 0;
  for (size_t op = 0; op < dims.size(); ++op)
    count += dims[op] != usual[op];
  return count;
}

/// Dims of `plan` are those that it tells, and gain what it says.
void expectGain(const ServiceSummary &summary, const service::Sides &sides,
                const ServicePlan &plan) {
  GivenService usual = givenBy(plan);
  usual.concurrency = 0;
  usual.decode.dims.clear();
  if (usual.prefill)
    usual.prefill->dims.clear();
  EXPECT_NEAR(plan.tokensPerDevice,
              served(summary, sides, usual) * (1 + plan.ownDims->gain),
              1e-9 * plan.tokensPerDevice);
  EXPECT_GT(plan.ownDims->gain, service::usualTie);
  EXPECT_EQ(plan.ownDims->changed.size(),
            countChanged(plan.decode, sides) +
                (plan.prefill ? countChanged(*plan.prefill, sides) : 0));
}

} // namespace

TEST(ServiceDims, NoRandomDimsServeMore) {
  std::string machine = smallMachine(3.3);
  int gaining = 0, legal = 0;
  for (int seed = 4000; seed < 4040; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ServiceCase one = freeCase(seed);
    // Of few requests in flight, one more or less decides what a queue allows:
    // slower workers may come closer to it.
    one.request.load[RequestField::TtftPercentile] = std::nullopt;
    auto summary = planService(
        scenarioOn(machine, one.config, cost::Phase::Decode), one.request);
    ASSERT_TRUE(summary) << summary.error().message;
    if (!summary->best())
      continue;
    auto sides = service::sidesOf(*summary);
    ASSERT_TRUE(sides);
    double best = summary->best()->tokensPerDevice;
    if (summary->best()->ownDims) {
      ++gaining;
      expectGain(*summary, *sides, *summary->best());
      EXPECT_NE(freeOptimum(*summary), "");
    }
    GivenService given = givenBy(*summary->best());
    given.concurrency = 0;
    auto nodes = sides->decode->costs().model().nodesByVariable();
    for (int i = 0; i < 60; ++i) {
      for (GivenRole *role :
           {&given.decode, given.prefill ? &*given.prefill : nullptr}) {
        if (!role)
          continue;
        role->dims = sides->decode->usualDims(role->degrees);
        for (size_t op = 0; op < nodes.size(); ++op)
          if (one.pick({0, 1, 2}) == 0) {
            auto choices = nodes[op]->op->choices();
            role->dims[op] = choices[one.random() % choices.size()].dim;
          }
      }
      double other = served(*summary, *sides, given);
      legal += other > 0;
      EXPECT_LE(other, best * (1 + 2e-3));
    }
  }
  EXPECT_GT(gaining, 0);
  EXPECT_GT(legal, 100);
}

TEST(ServiceDims, AreWhatEnumerationFinds) {
  std::string machine = smallMachine(3.3);
  int compared = 0;
  for (int seed = 4100; seed < 4106; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    ServiceCase one = freeCase(seed);
    one.config.experts = 0;
    one.config.layers = 4;
    one.request.mode = ServiceMode::Aggregated;
    one.request.pins = {{"tp", "2"}};
    auto summary = planService(
        scenarioOn(machine, one.config, cost::Phase::Decode), one.request);
    if (!summary || !summary->best())
      continue;
    auto sides = service::sidesOf(*summary);
    ASSERT_TRUE(sides);
    double found = summary->best()->tokensPerDevice;
    double most = mostOfAll(*summary, *sides, *summary->best(),
                            dimsOf(summary->best()->decode, *sides));
    EXPECT_LE(most, found * (1 + service::usualTie));
    EXPECT_GE(most, found * (1 - 1e-9));
    ++compared;
  }
  EXPECT_GT(compared, 3);
}
