//===- LearnedSearchersTest.cpp - What a learned searcher promises --------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ToySimulator.h"
#include "shardopt/Model/StageGrid.h"
#include "shardopt/Search/Agent/Registration.h"
#include "shardopt/Search/Driver.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace shardopt;
using namespace shardopt::search;

static std::unique_ptr<Searcher> make(const std::string &name,
                                      const ToyContext &context) {
  SearcherRegistry registry;
  agent::addAgentSearchers(registry);
  auto searcher = registry.create(name, context);
  EXPECT_TRUE(searcher) << searcher.error().message;
  return std::move(*searcher);
}

static std::vector<Strategy> trajectory(const std::string &name,
                                        const ToyContext &context,
                                        unsigned threads = 1) {
  std::vector<Strategy> asked;
  DriverOptions options;
  options.budget = context.budget;
  options.threads = threads;
  options.trace = [&](const TraceEntry &entry) {
    asked.push_back(entry.strategy);
  };
  runSearch(*make(name, context), context.simulator, context.objective,
            options);
  return asked;
}

class LearnedSearcher : public testing::TestWithParam<std::string> {
protected:
  static SpaceRequest request() {
    SpaceRequest request;
    request.maxDevices = 32;
    request.pinnedDims.resize(6);
    request.pinnedDims[2] = Dim::One;
    return request;
  }

  ToySimulator simulator{6, 5};
  StrategySpace space = makeSpace(6, request());
  ToyContext context{space, simulator, simulator.objective(), 11, 200};

  void SetUp() override { context.options.constants = smallNetwork(); }

  /// What a searcher promises, it does with a network of any size.
  static std::string smallNetwork() {
    return GetParam() == "ppo-paper"
               ? "width=16,attention-heads=2,feed-forward=16,hidden=16"
               : "";
  }
};

INSTANTIATE_TEST_SUITE_P(, LearnedSearcher, testing::Values("ppo", "ppo-paper"),
                         [](const testing::TestParamInfo<std::string> &info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(LearnedSearcher, StaysInTheSpace) {
  std::vector<Strategy> asked = trajectory(GetParam(), context);
  EXPECT_EQ(asked.size(), 200u);
  for (const Strategy &strategy : asked) {
    ASSERT_TRUE(space.contains(strategy));
    ASSERT_EQ(strategy.dims[2], Dim::One);
  }
}

TEST_P(LearnedSearcher, AsksOverDegreesOfEnginesForWhatIsLegal) {
  SpaceRequest open = request();
  open.kind = SpaceKind::Serving;
  open.mostSequences = 32;
  StrategySpace serving = makeSpace(6, open);
  ToyContext over{serving, simulator, simulator.objective(), 11, 200};
  over.options = context.options;
  std::vector<Strategy> asked = trajectory(GetParam(), over);
  EXPECT_EQ(asked.size(), 200u);
  auto isWide = [](const Strategy &strategy) {
    return strategy.degrees.dp != strategy.degrees.ep;
  };
  EXPECT_TRUE(std::any_of(asked.begin(), asked.end(), isWide));
  for (const Strategy &strategy : asked) {
    ASSERT_TRUE(serving.contains(strategy)) << spell(strategy.degrees);
    ASSERT_TRUE(hasGrid(strategy.degrees, true)) << spell(strategy.degrees);
    ASSERT_LE(strategy.degrees.devices(), 32) << spell(strategy.degrees);
  }
}

TEST_P(LearnedSearcher, FollowsItsSeed) {
  std::vector<Strategy> asked = trajectory(GetParam(), context);
  EXPECT_EQ(trajectory(GetParam(), context), asked);
  EXPECT_EQ(trajectory(GetParam(), context, /*threads=*/3), asked);
  context.seed = 12;
  EXPECT_NE(trajectory(GetParam(), context), asked);
}

TEST_P(LearnedSearcher, SurvivesASpaceOfOneStrategy) {
  SpaceRequest request;
  request.lists[Degree::Tp] = request.lists[Degree::Ep] =
      request.lists[Degree::Pp] = request.lists[Degree::Batch] = {1};
  request.pinnedDims.assign(6, Dim::Zero);
  StrategySpace single = makeSpace(6, request);
  ToySimulator roomy(6, 5);
  roomy.capacityGb = 1000;
  ToyContext only{single, roomy, roomy.objective(), 0, 30};
  only.options = context.options;
  DriverOptions options;
  options.budget = 30;
  SearchResult result =
      runSearch(*make(GetParam(), only), roomy, roomy.objective(), options);
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.distinctEvaluations, 1u);
}

TEST_P(LearnedSearcher, FindsTheOptimumOfATinySpace) {
  SpaceRequest request;
  request.lists[Degree::Tp] = {1, 2, 4};
  request.lists[Degree::Ep] = {1, 2};
  request.lists[Degree::Pp] = {1, 2};
  request.lists[Degree::Batch] = {1, 16, 64};
  StrategySpace tiny = makeSpace(2, request);
  for (uint64_t seed = 0; seed < 10; ++seed) {
    ToySimulator toy(2, seed);
    auto expected = bruteForce(tiny, toy, toy.objective());
    ASSERT_TRUE(expected);
    ToyContext on{tiny, toy, toy.objective(), seed, 3000};
    on.options = context.options;
    DriverOptions options;
    options.budget = on.budget;
    bool isFound = false; // no need to go on
    options.trace = [&](const TraceEntry &entry) {
      isFound = entry.best &&
                entry.best->throughput == expected->evaluation.throughput;
    };
    options.stopRequested = [&] { return isFound; };
    SearchResult result =
        runSearch(*make(GetParam(), on), toy, toy.objective(), options);
    ASSERT_TRUE(result.best);
    EXPECT_EQ(result.best->evaluation.throughput,
              expected->evaluation.throughput)
        << "seed " << seed;
  }
}

TEST_P(LearnedSearcher, RefusesWhatItDoesNotKnow) {
  SearcherRegistry registry;
  agent::addAgentSearchers(registry);
  context.options.constants = "learning-rat=1";
  auto constant = registry.create(GetParam(), context);
  ASSERT_FALSE(constant);
  EXPECT_NE(constant.error().message.find("no constant 'learning-rat'"),
            std::string::npos);
}
