//===- SearchersTest.cpp - What every searcher promises -------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ToySimulator.h"
#include "shardopt/Search/Driver.h"
#include "shardopt/Search/SearcherRegistry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

using namespace shardopt;
using namespace shardopt::search;

static std::unique_ptr<Searcher> make(const std::string &name,
                                      const SearcherContext &context) {
  auto searcher = SearcherRegistry::builtin().create(name, context);
  EXPECT_TRUE(searcher) << searcher.error().message;
  return std::move(*searcher);
}

/// The strategies that a search asks for, in order.
static std::vector<Strategy> trajectory(const std::string &name,
                                        const SearcherContext &context,
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

/// The same, asking for `size` strategies at a time.
static std::vector<Strategy> batchedTrajectory(const std::string &name,
                                               const SearcherContext &context,
                                               size_t size) {
  auto searcher = make(name, context);
  std::vector<Strategy> asked;
  while (!searcher->done() && asked.size() < context.budget) {
    std::vector<Strategy> strategies =
        searcher->ask(std::min<size_t>(size, context.budget - asked.size()));
    std::vector<Evaluation> evaluations;
    for (const Strategy &strategy : strategies)
      evaluations.push_back(context.simulator.evaluate(strategy));
    searcher->tell(strategies, evaluations);
    asked.insert(asked.end(), strategies.begin(), strategies.end());
  }
  return asked;
}

static SpaceRequest coupledRequest() {
  SpaceRequest request;
  request.maxDevices = 32;
  request.pinnedDims.resize(6);
  request.pinnedDims[2] = Dim::One;
  return request;
}

class EverySearcher : public testing::TestWithParam<std::string> {
protected:
  ToySimulator simulator{6, 5};
  StrategySpace space = makeSpace(6, coupledRequest());
  SearcherContext context{space, simulator, simulator.objective(), 11, 700};
};

/// The searchers whose course depends on a seed.
class SeededSearcher : public EverySearcher {};

static const std::vector<std::string> seeded = {
    "random",        "random-walk", "annealing", "genetic",
    "cross-entropy", "coordinate",  "surrogate"};

static std::string testName(const testing::TestParamInfo<std::string> &info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Builtin, EverySearcher,
                         testing::ValuesIn(SearcherRegistry::builtin().names()),
                         testName);
INSTANTIATE_TEST_SUITE_P(Builtin, SeededSearcher, testing::ValuesIn(seeded),
                         testName);

TEST_P(EverySearcher, StaysInTheSpace) {
  for (const Strategy &strategy : trajectory(GetParam(), context)) {
    ASSERT_TRUE(space.contains(strategy));
    ASSERT_EQ(strategy.dims[2], Dim::One);
  }
}

TEST_P(EverySearcher, StaysOnTheExactNumberOfDevices) {
  SpaceRequest request;
  request.devices = 16;
  StrategySpace exactly = makeSpace(6, request);
  SearcherContext on{exactly, simulator, simulator.objective(), 11, 700};
  for (const Strategy &strategy : trajectory(GetParam(), on))
    ASSERT_TRUE(exactly.contains(strategy));
}

TEST_P(EverySearcher, IsTheSameOnAnyNumberOfThreads) {
  EXPECT_EQ(trajectory(GetParam(), context, 1),
            trajectory(GetParam(), context, 3));
}

TEST_P(EverySearcher, IsTheSameForAnyBatching) {
  std::vector<Strategy> expected = trajectory(GetParam(), context);
  EXPECT_EQ(batchedTrajectory(GetParam(), context, 1), expected);
  EXPECT_EQ(batchedTrajectory(GetParam(), context, 7), expected);
}

TEST_P(EverySearcher, SurvivesASpaceOfOneStrategy) {
  SpaceRequest request;
  request.lists[Degree::Tp] = request.lists[Degree::Ep] =
      request.lists[Degree::Pp] = request.lists[Degree::Batch] = {1};
  request.pinnedDims.assign(6, Dim::Zero);
  StrategySpace single = makeSpace(6, request);
  ToySimulator roomy(6, 5);
  roomy.capacityGb = 1000;
  SearcherContext only{single, roomy, roomy.objective(), 0, 300};
  DriverOptions options;
  options.budget = 300;
  SearchResult result =
      runSearch(*make(GetParam(), only), roomy, roomy.objective(), options);
  ASSERT_TRUE(result.best);
  EXPECT_EQ(result.best->strategy, single.strategyAt(Point(10, 0)));
  EXPECT_EQ(result.distinctEvaluations, 1u);
}

TEST_P(EverySearcher, StopsOnRequest) {
  int polls = 0;
  DriverOptions options;
  options.stopRequested = [&] { return ++polls > 20; };
  SearcherContext stopped = context;
  stopped.stopRequested = options.stopRequested;
  SearchResult result = runSearch(*make(GetParam(), stopped), simulator,
                                  simulator.objective(), options);
  EXPECT_LE(result.evaluations, 21u);
  // Exact search of this space ends in fewer polls.
  if (GetParam() != "exact") {
    EXPECT_EQ(result.stopped, StopReason::Requested);
  }
}

TEST_P(SeededSearcher, SpendsItsBudgetExactly) {
  for (uint64_t budget : {1, 49, 700}) {
    SearcherContext limited = context;
    limited.budget = budget;
    EXPECT_EQ(trajectory(GetParam(), limited).size(), budget);
  }
}

TEST_P(SeededSearcher, FollowsItsSeed) {
  SearcherContext other = context;
  other.seed = 12;
  EXPECT_EQ(trajectory(GetParam(), context), trajectory(GetParam(), context));
  EXPECT_NE(trajectory(GetParam(), context), trajectory(GetParam(), other));
}

TEST_P(SeededSearcher, FindsTheOptimumOfATinySpace) {
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
    SearcherContext on{tiny, toy, toy.objective(), seed, 6000};
    DriverOptions options;
    options.budget = 6000;
    SearchResult result =
        runSearch(*make(GetParam(), on), toy, toy.objective(), options);
    ASSERT_TRUE(result.best);
    EXPECT_EQ(result.best->evaluation.throughput,
              expected->evaluation.throughput)
        << "seed " << seed;
  }
}

TEST(MegatronSearcher, TriesEveryDegreeTupleOnce) {
  ToySimulator simulator(6, 5);
  StrategySpace space = makeSpace(6, coupledRequest());
  SearcherContext context{space, simulator, simulator.objective(), 0, 100000};
  std::vector<Strategy> asked = trajectory("megatron-sp", context);
  std::vector<Degrees> tuples;
  for (const Strategy &strategy : asked) {
    tuples.push_back(strategy.degrees);
    EXPECT_EQ(strategy.dims, asked.front().dims);
  }
  EXPECT_EQ(tuples, space.degreeTuples());
}

/// Moves of single degrees do not connect grids of exactly 16 devices; the
/// others of tp, ep, pp have to follow.
TEST(RandomWalk, ReachesEveryGridOfAnExactNumberOfDevices) {
  ToySimulator simulator(2, 0);
  SpaceRequest request;
  request.devices = 16;
  request.lists[Degree::Batch] = {1};
  StrategySpace space = makeSpace(2, request);
  SearcherContext context{space, simulator, simulator.objective(), 0, 4000};
  std::set<Degrees> visited;
  for (const Strategy &strategy : trajectory("random-walk", context))
    visited.insert(strategy.degrees);
  EXPECT_EQ(visited.size(), space.degreeTuples().size());
}

/// Coupled degrees: what pair moves are for.
TEST(Coordinate, FindsTheOptimumOfCoupledDegrees) {
  StrategySpace space = makeSpace(6, {});
  for (uint64_t seed = 0; seed < 5; ++seed) {
    ToySimulator simulator(6, seed);
    SearcherContext context{space, simulator, simulator.objective(), seed,
                            4000};
    DriverOptions options;
    SearchResult result = runSearch(*make("coordinate", context), simulator,
                                    simulator.objective(), options);
    certify(result, space, simulator, simulator.objective(), options);
    ASSERT_TRUE(result.best && result.bound);
    EXPECT_LT(*gap(result, simulator.objective()), 0.02) << "seed " << seed;
  }
}
