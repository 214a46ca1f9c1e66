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
#include <cfloat>
#include <cmath>
#include <limits>
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

/// The same, asking for `size` strategies at a time.
static std::vector<Strategy> batchedTrajectory(const std::string &name,
                                               const ToyContext &context,
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
  ToyContext context{space, simulator, simulator.objective(), 11, 700};
};

/// The searchers whose course depends on a seed.
class SeededSearcher : public EverySearcher {};

static const std::vector<std::string> seeded = {
    "random",        "random-walk", "annealing", "genetic",
    "cross-entropy", "coordinate",  "surrogate"};

INSTANTIATE_TEST_SUITE_P(Builtin, EverySearcher,
                         testing::ValuesIn(SearcherRegistry::builtin().names()),
                         searcherTestName);
INSTANTIATE_TEST_SUITE_P(Builtin, SeededSearcher, testing::ValuesIn(seeded),
                         searcherTestName);

/// How many dims change at once, at most, from one strategy that annealing asks
/// for to the next.
static size_t mostDimsChanged(ToyContext context, const char *constants) {
  context.options.constants = constants;
  std::vector<Strategy> asked = trajectory("annealing", context);
  size_t most = 0;
  for (size_t i = 1; i < asked.size(); ++i) {
    size_t changed = 0;
    for (size_t j = 0; j < asked[i].dims.size(); ++j)
      changed += asked[i].dims[j] != asked[i - 1].dims[j];
    most = std::max(most, changed);
  }
  return most;
}

TEST(Annealing, TakesEveryMoveWhereItIsHot) {
  ToySimulator simulator{6, 5};
  StrategySpace space = makeSpace(6, SpaceRequest());
  ToyContext context{space, simulator, simulator.objective(), 11, 700};
  // A move that is refused is taken back before the next, so that two dims
  // change at once.
  EXPECT_EQ(mostDimsChanged(context, "raw-energy=true,initial-temperature=0"),
            2u);
  EXPECT_EQ(
      mostDimsChanged(context, "raw-energy=true,initial-temperature=1e12"), 1u);
}

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
  ToyContext on{exactly, simulator, simulator.objective(), 11, 700};
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
  ToyContext only{single, roomy, roomy.objective(), 0, 300};
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
  ToyContext stopped = context;
  stopped.stopRequested = options.stopRequested;
  SearchResult result = runSearch(*make(GetParam(), stopped), simulator,
                                  simulator.objective(), options);
  EXPECT_LE(result.evaluations, 21u);
  // Exact search of this space ends in fewer polls.
  if (GetParam() != "exact") {
    EXPECT_EQ(result.stopped, StopReason::Requested);
  }
}

TEST(SearcherStops, SurrogateProposesNothingMore) {
  ToySimulator simulator{6, 5};
  StrategySpace space = makeSpace(6, coupledRequest());
  ToyContext context{space, simulator, simulator.objective(), 11, 700};
  bool isStopped = false;
  context.stopRequested = [&] { return isStopped; };
  auto searcher = make("surrogate", context);
  for (size_t told = 0; told < 200;) {
    std::vector<Strategy> asked = searcher->ask(8);
    ASSERT_FALSE(asked.empty());
    std::vector<Evaluation> evaluations;
    for (const Strategy &strategy : asked)
      evaluations.push_back(simulator.evaluate(strategy));
    searcher->tell(asked, evaluations);
    told += asked.size();
  }
  isStopped = true;
  EXPECT_TRUE(searcher->ask(8).empty());
  isStopped = false;
  EXPECT_FALSE(searcher->ask(8).empty());
}

//===----------------------------------------------------------------------===//
// Tells
//===----------------------------------------------------------------------===//

/// Asks for 5 at a time and tells them in another order, in two parts, with
/// strategies that nobody asked for among them.
static std::vector<Strategy> scrambledTrajectory(Searcher &searcher,
                                                 const ToyContext &context) {
  std::vector<Strategy> asked;
  while (!searcher.done() && asked.size() < context.budget) {
    std::vector<Strategy> strategies =
        searcher.ask(std::min<size_t>(5, context.budget - asked.size()));
    asked.insert(asked.end(), strategies.begin(), strategies.end());
    size_t half = strategies.size() / 2;
    for (bool isFirst : {true, false}) {
      std::vector<Strategy> told(
          isFirst ? strategies.begin() : strategies.begin() + half,
          isFirst ? strategies.begin() + half : strategies.end());
      std::reverse(told.begin(), told.end());
      told.push_back({{1, 1, 1, 3}, {}});
      std::vector<Evaluation> evaluations;
      for (const Strategy &strategy : told)
        evaluations.push_back(strategy.dims.empty()
                                  ? Evaluation()
                                  : context.simulator.evaluate(strategy));
      searcher.tell(told, evaluations);
    }
    searcher.tell(strategies, std::vector<Evaluation>(strategies.size()));
  }
  return asked;
}

TEST_P(EverySearcher, TakesTellsInAnyOrderAndInPart) {
  EXPECT_EQ(scrambledTrajectory(*make(GetParam(), context), context),
            trajectory(GetParam(), context));
}

/// Keeps up to 40 pending, tells some of them from anywhere, and never tells
/// every seventh.
static std::vector<Strategy> aheadTrajectory(Searcher &searcher,
                                             const ToyContext &context) {
  Rng rng(4);
  std::vector<Strategy> asked, pending;
  for (int round = 0; round < 400 && !searcher.done(); ++round) {
    for (const Strategy &strategy : searcher.ask(1 + rng.below(6))) {
      asked.push_back(strategy);
      if (asked.size() % 7)
        pending.push_back(strategy);
    }
    rng.shuffle(pending);
    size_t kept = std::min<size_t>(40, rng.below(pending.size() + 1));
    std::vector<Strategy> told(pending.begin() + kept, pending.end());
    pending.resize(kept);
    std::vector<Evaluation> evaluations;
    for (const Strategy &strategy : told)
      evaluations.push_back(context.simulator.evaluate(strategy));
    searcher.tell(told, evaluations);
  }
  return asked;
}

TEST_P(EverySearcher, CanBeAskedWhileStrategiesArePending) {
  std::vector<Strategy> asked =
      aheadTrajectory(*make(GetParam(), context), context);
  EXPECT_FALSE(asked.empty());
  for (const Strategy &strategy : asked)
    ASSERT_TRUE(space.contains(strategy));
  EXPECT_EQ(aheadTrajectory(*make(GetParam(), context), context), asked);
}

/// Told of the first answer before the second is asked for, and so on, it gives
/// as many more as it is asked for.
TEST_P(SeededSearcher, ProposesAheadOfWhatItKnows) {
  auto searcher = make(GetParam(), context);
  std::vector<Strategy> asked;
  for (int i = 0; i < 300 && asked.size() < 100; ++i)
    for (Strategy &strategy : searcher->ask(1))
      asked.push_back(std::move(strategy));
  EXPECT_EQ(asked.size(), 100u);
}

/// What a caller without a simulator has: a space that the searcher shares, and
/// answers from elsewhere.
TEST_P(EverySearcher, NeedsNoSimulator) {
  SearcherContext shared;
  shared.space = std::make_shared<StrategySpace>(space);
  if (GetParam() == "exact")
    shared.decomposition = std::make_shared<ToySimulator>(simulator);
  shared.objective = simulator.objective();
  shared.seed = 11;
  shared.budget = 700;
  auto searcher = make(GetParam(), shared);
  shared = {};
  std::vector<Strategy> asked;
  while (!searcher->done() && asked.size() < 100)
    for (const Strategy &strategy : searcher->ask(1)) {
      asked.push_back(strategy);
      searcher->tell({strategy}, {simulator.evaluate(strategy)});
    }
  std::vector<Strategy> expected = trajectory(GetParam(), context);
  expected.resize(std::min<size_t>(expected.size(), 100));
  EXPECT_EQ(asked, expected);
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

namespace {
/// Answers every third strategy with extreme numbers, a combination each.
class Absurd : public Simulator {
public:
  explicit Absurd(const Simulator &inner) : inner(inner) {}
  Evaluation evaluate(const Strategy &strategy) const override {
    constexpr double extremes[] = {
        0,        5e-324,    2.3e-308,
        1e308,    DBL_MAX,   -1,
        INFINITY, -INFINITY, std::numeric_limits<double>::quiet_NaN()};
    Evaluation evaluation = inner.evaluate(strategy);
    uint64_t call = calls++;
    if (call % 3)
      return evaluation;
    Rng rng(call);
    evaluation.valid = rng.below(2);
    evaluation.reason = evaluation.valid ? Reason::None : Reason::Slo;
    for (double *metric :
         {&evaluation.throughput, &evaluation.latencyMs, &evaluation.memoryGb})
      if (rng.below(2))
        *metric = extremes[rng.below(std::size(extremes))];
    return evaluation;
  }

private:
  const Simulator &inner;
  mutable uint64_t calls = 0;
};
} // namespace

TEST_P(EverySearcher, SurvivesAnyAnswer) {
  for (Goal goal : {Goal::Throughput, Goal::Latency})
    for (double limit : {0., 6000., 1e308}) {
      Absurd absurd(simulator);
      SearcherContext box{unowned(&space), nullptr, {goal, limit, limit}, 11};
      if (GetParam() == "exact")
        box.decomposition = unowned(simulator.decomposition());
      box.freeModel = unowned<Simulator>(&simulator);
      DriverOptions options;
      options.budget = 300;
      SearchResult result =
          runSearch(*make(GetParam(), box), absurd, box.objective, options);
      EXPECT_GE(result.evaluations, GetParam() == "exact" ? 1u : 300u);
      if (result.best) {
        EXPECT_TRUE(std::isfinite(result.best->evaluation.throughput));
      }
    }
}

TEST_P(SeededSearcher, SpendsItsBudgetExactly) {
  for (uint64_t budget : {1, 49, 700}) {
    ToyContext limited = context;
    limited.budget = budget;
    EXPECT_EQ(trajectory(GetParam(), limited).size(), budget);
  }
}

TEST_P(SeededSearcher, FollowsItsSeed) {
  ToyContext other = context;
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
    ToyContext on{tiny, toy, toy.objective(), seed, 6000};
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
  ToyContext context{space, simulator, simulator.objective(), 0, 100000};
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
  ToyContext context{space, simulator, simulator.objective(), 0, 4000};
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
    ToyContext context{space, simulator, simulator.objective(), seed, 4000};
    DriverOptions options;
    SearchResult result = runSearch(*make("coordinate", context), simulator,
                                    simulator.objective(), options);
    certify(result, space, simulator, simulator.objective(), options);
    ASSERT_TRUE(result.best && result.bound);
    EXPECT_LT(*gap(result, simulator.objective()), 0.02) << "seed " << seed;
  }
}
