//===- DriverTest.cpp - Budget, cache, trace and proof --------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Driver.h"
#include "ToySimulator.h"
#include "shardopt/Search/SearcherRegistry.h"

#include <gtest/gtest.h>

#include <atomic>

using namespace shardopt;
using namespace shardopt::search;

namespace {

/// Asks for a fixed list.
class Scripted : public Searcher {
public:
  explicit Scripted(std::vector<Strategy> strategies)
      : strategies(std::move(strategies)) {}
  std::vector<Strategy> ask(size_t n) override {
    std::vector<Strategy> some;
    for (; some.size() < n && next < strategies.size(); ++next)
      some.push_back(strategies[next]);
    return some;
  }
  void tell(const std::vector<Strategy> &of,
            const std::vector<Evaluation> &evaluations) override {
    told.insert(told.end(), evaluations.begin(), evaluations.end());
  }
  bool done() const override { return next == strategies.size(); }
  uint64_t rejected() const override { return 3; }

  std::vector<Evaluation> told;

private:
  std::vector<Strategy> strategies;
  size_t next = 0;
};

/// Throughput is the batch; invalid where the batch is odd. Counts its calls.
class Counting : public Simulator {
public:
  Evaluation evaluate(const Strategy &strategy) const override {
    ++calls;
    Evaluation evaluation;
    evaluation.throughput = strategy.degrees.batch;
    evaluation.latencyMs = 1;
    evaluation.memoryGb = strategy.degrees.batch;
    evaluation.valid = strategy.degrees.batch % 2 == 0;
    evaluation.reason = evaluation.valid ? Reason::None : Reason::Memory;
    return evaluation;
  }
  mutable std::atomic<int> calls{0};
};

} // namespace

static std::vector<Strategy> withBatches(const std::vector<int64_t> &batches) {
  std::vector<Strategy> strategies;
  for (int64_t batch : batches)
    strategies.push_back({{1, 1, 1, batch}, {}});
  return strategies;
}

TEST(Driver, CountsInvalidAndRepeatedEvaluationsButSimulatesOnce) {
  for (unsigned threads : {1u, 4u}) {
    Scripted searcher(withBatches({2, 3, 2, 2, 8, 3}));
    Counting simulator;
    DriverOptions options;
    options.threads = threads;
    SearchResult result = runSearch(searcher, simulator, {}, options);
    EXPECT_EQ(result.evaluations, 6u);
    EXPECT_EQ(result.distinctEvaluations, 3u);
    EXPECT_EQ(result.rejected, 3u);
    EXPECT_EQ(simulator.calls, 3);
    EXPECT_EQ(searcher.told.size(), 6u);
    EXPECT_EQ(result.best->strategy.degrees.batch, 8);
    EXPECT_EQ(result.stopped, StopReason::Done);
    EXPECT_FALSE(result.leastViolating);
    EXPECT_FALSE(result.proved);
  }
}

TEST(Driver, NeverExceedsItsBudget) {
  std::vector<int64_t> batches(1000, 2);
  for (uint64_t budget : {0, 1, 63, 64, 65, 999}) {
    Scripted searcher(withBatches(batches));
    DriverOptions options;
    options.budget = budget;
    SearchResult result = runSearch(searcher, Counting(), {}, options);
    EXPECT_EQ(result.evaluations, budget);
    EXPECT_EQ(result.stopped, StopReason::Budget);
  }
}

TEST(Driver, TracesEveryEvaluationInOrder) {
  for (unsigned threads : {1u, 4u}) {
    Scripted searcher(withBatches({3, 4, 2, 3, 6}));
    std::vector<int64_t> batches;
    std::vector<bool> repeated;
    std::vector<double> best;
    DriverOptions options;
    options.threads = threads;
    options.trace = [&](const TraceEntry &entry) {
      EXPECT_EQ(entry.index, batches.size());
      batches.push_back(entry.strategy.degrees.batch);
      repeated.push_back(entry.repeated);
      best.push_back(entry.best ? entry.best->throughput : 0);
    };
    runSearch(searcher, Counting(), {}, options);
    EXPECT_EQ(batches, (std::vector<int64_t>{3, 4, 2, 3, 6}));
    EXPECT_EQ(repeated, (std::vector<bool>{0, 0, 0, 1, 0}));
    EXPECT_EQ(best, (std::vector<double>{0, 4, 4, 4, 6}));
  }
}

TEST(Driver, StopsBetweenEvaluationsAndTellsThoseMade) {
  Scripted searcher(withBatches(std::vector<int64_t>(500, 2)));
  bool stop = false;
  DriverOptions options;
  options.stopRequested = [&] { return stop; };
  options.trace = [&](const TraceEntry &entry) { stop = entry.index == 99; };
  SearchResult result = runSearch(searcher, Counting(), {}, options);
  EXPECT_EQ(result.evaluations, 100u);
  EXPECT_EQ(searcher.told.size(), 100u);
  EXPECT_EQ(result.stopped, StopReason::Requested);
  EXPECT_TRUE(result.best);
}

TEST(Driver, ForgetsWhatAStopInterrupted) {
  /// Fails from the fourth call on, when a stop is requested.
  class Interrupted : public Counting {
  public:
    explicit Interrupted(std::atomic<bool> &stop) : stop(stop) {}
    Evaluation evaluate(const Strategy &strategy) const override {
      Evaluation evaluation = Counting::evaluate(strategy);
      if (strategy.degrees.batch < 8)
        return evaluation;
      stop = true;
      evaluation = {};
      evaluation.reason = Reason::Failed;
      return evaluation;
    }

  private:
    std::atomic<bool> &stop;
  };
  for (unsigned threads : {1u, 3u}) {
    Scripted searcher(withBatches({2, 4, 6, 8, 10}));
    std::atomic<bool> stop = false;
    DriverOptions options;
    options.threads = threads;
    options.stopRequested = [&] { return stop.load(); };
    SearchResult result = runSearch(searcher, Interrupted(stop), {}, options);
    EXPECT_LE(result.evaluations, 3u);
    EXPECT_EQ(searcher.told.size(), result.evaluations);
    for (const Evaluation &evaluation : searcher.told)
      EXPECT_TRUE(evaluation.valid);
    EXPECT_EQ(result.stopped, StopReason::Requested);
  }
}

TEST(Driver, KeepsTheLeastViolatingWhereNothingIsValid) {
  Scripted searcher(withBatches({9, 5, 7}));
  Objective objective{Goal::Throughput, 0, 4};
  SearchResult result = runSearch(searcher, Counting(), objective, {});
  EXPECT_FALSE(result.best);
  ASSERT_TRUE(result.leastViolating);
  EXPECT_EQ(result.leastViolating->strategy.degrees.batch, 5);
  EXPECT_FALSE(gap(result, objective));
}

//===----------------------------------------------------------------------===//
// Accounting
//===----------------------------------------------------------------------===//

namespace {

/// Asks for batches 2, 4, 6, …, after three rejected draws each.
class Rejecting : public Searcher {
public:
  std::vector<Strategy> ask(size_t n) override {
    std::vector<Strategy> some;
    for (; some.size() < n; draws += 3)
      some.push_back({{1, 1, 1, 2 * int64_t(++asked)}, {}});
    return some;
  }
  void tell(const std::vector<Strategy> &of,
            const std::vector<Evaluation> &) override {
    told += of.size();
  }
  uint64_t rejected() const override { return draws; }

  uint64_t asked = 0, draws = 0, told = 0;
};

} // namespace

TEST(Accounting, AskedChargesEverything) {
  Scripted searcher(withBatches({2, 3, 2, 2, 8, 3}));
  DriverOptions options;
  options.isHopeless = [](const Degrees &degrees) { return degrees.batch > 5; };
  SearchResult result = runSearch(searcher, Counting(), {}, options);
  EXPECT_EQ(result.charged, 6u);
  EXPECT_EQ(result.hopelessEvaluations, 1u);
}

TEST(Accounting, NewChargesNeitherRepeatedNorHopelessOnes) {
  for (unsigned threads : {1u, 4u}) {
    Scripted searcher(withBatches({2, 3, 2, 9, 9, 8, 4, 5}));
    std::vector<uint64_t> charged;
    std::vector<bool> hopeless;
    DriverOptions options;
    options.budget = 3;
    options.threads = threads;
    options.accounting = Accounting::New;
    options.isHopeless = [](const Degrees &of) { return of.batch > 5; };
    options.trace = [&](const TraceEntry &entry) {
      charged.push_back(entry.charged);
      hopeless.push_back(entry.hopeless);
    };
    SearchResult result = runSearch(searcher, Counting(), {}, options);
    EXPECT_EQ(charged, (std::vector<uint64_t>{1, 2, 2, 2, 2, 2, 3}));
    EXPECT_EQ(hopeless, (std::vector<bool>{0, 0, 0, 1, 1, 1, 0}));
    EXPECT_EQ(result.charged, 3u);
    EXPECT_EQ(result.evaluations, 7u);
    EXPECT_EQ(result.hopelessEvaluations, 3u);
    EXPECT_EQ(result.stopped, StopReason::Budget);
  }
}

TEST(Accounting, NewEndsASearcherThatHasCollapsed) {
  Scripted searcher(withBatches(std::vector<int64_t>(10000, 2)));
  DriverOptions options;
  options.budget = 20;
  options.accounting = Accounting::New;
  SearchResult result = runSearch(searcher, Counting(), {}, options);
  EXPECT_EQ(result.charged, 1u);
  EXPECT_EQ(result.evaluations, 500u);
  EXPECT_EQ(result.stopped, StopReason::Budget);
}

TEST(Accounting, DrawsChargesRejectedOnesToo) {
  for (unsigned threads : {1u, 4u}) {
    Rejecting searcher;
    std::vector<uint64_t> charged, rejected;
    DriverOptions options;
    options.budget = 10;
    options.threads = threads;
    options.accounting = Accounting::Draws;
    options.trace = [&](const TraceEntry &entry) {
      charged.push_back(entry.charged);
      rejected.push_back(entry.rejected);
    };
    SearchResult result = runSearch(searcher, Counting(), {}, options);
    EXPECT_EQ(charged, (std::vector<uint64_t>{4, 8}));
    EXPECT_EQ(rejected, (std::vector<uint64_t>{3, 6}));
    // The tenth draw was a rejected one, so that the third is not evaluated.
    EXPECT_EQ(searcher.asked, 3u);
    EXPECT_EQ(searcher.told, 2u);
    EXPECT_EQ(result.evaluations, 2u);
    EXPECT_EQ(result.charged, 10u);
    EXPECT_EQ(result.rejected, 9u);
    EXPECT_EQ(result.stopped, StopReason::Budget);
  }
}

TEST(Accounting, TheTraceDoesNotDependOnThreads) {
  std::vector<uint64_t> rejected[2];
  for (unsigned threads : {1u, 8u}) {
    Rejecting searcher;
    DriverOptions options;
    options.budget = 1000;
    options.threads = threads;
    options.trace = [&](const TraceEntry &entry) {
      rejected[threads > 1].push_back(entry.rejected);
    };
    runSearch(searcher, Counting(), {}, options);
  }
  EXPECT_EQ(rejected[0], rejected[1]);
}

//===----------------------------------------------------------------------===//
// Proofs
//===----------------------------------------------------------------------===//

static SearchResult run(const std::string &name, const StrategySpace &space,
                        const Simulator &simulator, const Objective &objective,
                        uint64_t budget = 200) {
  ToyContext context{space, simulator, objective, 0, budget};
  auto searcher = SearcherRegistry::builtin().create(name, context);
  EXPECT_TRUE(searcher) << searcher.error().message;
  DriverOptions options;
  options.budget = budget;
  SearchResult result = runSearch(**searcher, simulator, objective, options);
  certify(result, space, simulator, objective, options);
  return result;
}

TEST(Driver, ExactNeedsOneEvaluationAndProvesItsAnswer) {
  ToySimulator simulator(5, 2);
  StrategySpace space = makeSpace(5, {});
  SearchResult result = run("exact", space, simulator, simulator.objective());
  EXPECT_EQ(result.evaluations, 1u);
  EXPECT_TRUE(result.proved);
  EXPECT_EQ(result.stopped, StopReason::Done);
  EXPECT_EQ(*gap(result, simulator.objective()), 0);
}

TEST(Driver, ExactProvesThatNothingIsFeasible) {
  ToySimulator simulator(5, 2);
  simulator.sloMs = 1;
  StrategySpace space = makeSpace(5, {});
  SearchResult result = run("exact", space, simulator, simulator.objective());
  EXPECT_FALSE(result.best);
  EXPECT_TRUE(result.proved);
  EXPECT_EQ(result.evaluations, 0u);
}

TEST(Driver, ExactWritesItsBestWhenStopped) {
  ToySimulator simulator(5, 2);
  simulator.looseness = 100;
  StrategySpace space = makeSpace(5, {});
  int polls = 0;
  DriverOptions options;
  // Enough for all bounds and a few solves; the driver polls once before.
  options.stopRequested = [&] { return ++polls > 20; };
  ToyContext context{space, simulator, simulator.objective()};
  context.stopRequested = options.stopRequested;
  auto searcher = SearcherRegistry::builtin().create("exact", context);
  ASSERT_TRUE(searcher);
  SearchResult result =
      runSearch(**searcher, simulator, simulator.objective(), options);
  EXPECT_EQ(result.stopped, StopReason::Requested);
  EXPECT_EQ(result.evaluations, 1u);
  EXPECT_TRUE(result.best);
  EXPECT_FALSE(result.proved);
  ASSERT_TRUE(result.bound);
  EXPECT_GE(*gap(result, simulator.objective()), 0);
}

namespace {
/// Evaluates worse than its decomposition claims.
class Boastful : public ToySimulator {
public:
  using ToySimulator::ToySimulator;
  Evaluation evaluate(const Strategy &strategy) const override {
    Evaluation evaluation = ToySimulator::evaluate(strategy);
    evaluation.throughput *= 0.5;
    return evaluation;
  }
};
} // namespace

TEST(Driver, ExactProvesNothingWhereTheSimulatorDisagrees) {
  Boastful simulator(5, 2);
  StrategySpace space = makeSpace(5, {});
  ToyContext context{space, simulator, simulator.objective()};
  auto searcher = SearcherRegistry::builtin().create("exact", context);
  ASSERT_TRUE(searcher);
  SearchResult result =
      runSearch(**searcher, simulator, simulator.objective(), {});
  EXPECT_TRUE(result.best);
  EXPECT_FALSE(result.proved);
  EXPECT_FALSE(result.bound);
}

TEST(Driver, CertifyGivesTheDistanceToTheOptimum) {
  ToySimulator simulator(5, 2);
  StrategySpace space = makeSpace(5, {});
  Objective objective = simulator.objective();
  SearchResult result = run("random", space, simulator, objective);
  ASSERT_TRUE(result.best && result.bound);
  EXPECT_GT(*gap(result, objective), 0);
  EXPECT_FALSE(result.proved);
  EXPECT_EQ(
      *result.bound,
      run("exact", space, simulator, objective).best->evaluation.throughput);

  SearchResult blind = run("random", space, BlackBox(simulator), objective);
  EXPECT_FALSE(blind.bound);
}

TEST(Driver, CertifyProvesASearchThatFoundTheOptimum) {
  ToySimulator simulator(2, 2);
  SpaceRequest request;
  request.lists[Degree::Tp] = {1, 2};
  request.lists[Degree::Ep] = {1};
  request.lists[Degree::Pp] = {1, 2};
  request.lists[Degree::Batch] = {4};
  StrategySpace space = makeSpace(2, request);
  SearchResult result =
      run("random", space, simulator, simulator.objective(), 2000);
  ASSERT_TRUE(result.best);
  EXPECT_TRUE(result.proved);
}
