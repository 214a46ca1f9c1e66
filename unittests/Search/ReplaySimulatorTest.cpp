//===- ReplaySimulatorTest.cpp - Searches that stop and go on -------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/ReplaySimulator.h"
#include "../Support/TemporaryFolder.h"
#include "ToySimulator.h"
#include "shardopt/Search/Driver.h"
#include "shardopt/Search/SearcherRegistry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <limits>

using namespace shardopt;
using namespace shardopt::search;

namespace {

constexpr size_t numOps = 4;
constexpr size_t never = std::numeric_limits<size_t>::max();

/// Counts the calls of a simulator.
class Counted : public Simulator {
public:
  explicit Counted(const Simulator &inner) : inner(inner) {}
  Evaluation evaluate(const Strategy &strategy) const override {
    ++calls;
    return inner.evaluate(strategy);
  }
  const Decomposition *decomposition() const override {
    return inner.decomposition();
  }
  mutable std::atomic<size_t> calls{0};

private:
  const Simulator &inner;
};

/// Never gives the same answer twice.
class Noisy : public Counted {
public:
  using Counted::Counted;
  Evaluation evaluate(const Strategy &strategy) const override {
    Evaluation evaluation = Counted::evaluate(strategy);
    evaluation.throughput *= 1 + double(calls) / 1e3;
    return evaluation;
  }
};

/// All that a search says of itself.
struct Course {
  std::string trace, result;
  size_t evaluations = 0;

  friend bool operator==(const Course &a, const Course &b) {
    return a.trace == b.trace && a.result == b.result;
  }
};

class Resume : public testing::TestWithParam<std::string> {
protected:
  /// Runs the search over its log until `stopAfter` evaluations are made.
  Course run(const Simulator &inner, size_t stopAfter = never,
             unsigned threads = 1, unsigned workers = 1) {
    auto log = EvaluationLog::open(path, {{"searcher", GetParam()}},
                                   {space.ops(), LatencyKey::Tpot});
    EXPECT_TRUE(log) << log.error().message;
    ReplaySimulator simulator(inner, std::move(*log), {});
    return search(simulator, stopAfter, threads, workers);
  }

  Course search(const Simulator &simulator, size_t stopAfter = never,
                unsigned threads = 1, unsigned workers = 1) {
    ToyContext context{space, simulator, toy.objective(), 3, budget};
    auto searcher = SearcherRegistry::builtin().create(GetParam(), context);
    EXPECT_TRUE(searcher) << searcher.error().message;
    Course course;
    DriverOptions options;
    options.budget = budget;
    options.threads = threads;
    options.workers = workers;
    options.stopRequested = [&] { return course.evaluations >= stopAfter; };
    options.trace = [&](const TraceEntry &entry) {
      ++course.evaluations;
      course.trace += strategyToJson(entry.strategy, space.ops()) + " " +
                      std::to_string(entry.evaluation.throughput) + " " +
                      std::to_string(entry.charged) + " " +
                      std::to_string(entry.rejected) + "\n";
    };
    SearchResult result =
        runSearch(**searcher, simulator, toy.objective(), options);
    course.result = std::string(spell(result.stopped)) + " " +
                    std::to_string(result.distinctEvaluations);
    if (result.best)
      course.result += strategyToJson(result.best->strategy, space.ops());
    return course;
  }

  /// As a process leaves its log that is killed while it writes.
  void cutLog(double share) {
    auto size = double(std::filesystem::file_size(path));
    std::filesystem::resize_file(path, static_cast<uintmax_t>(share * size));
  }

  ToySimulator toy{numOps, 5};
  StrategySpace space = makeSpace(numOps, {});
  uint64_t budget = 160;
  TemporaryFolder folder;
  std::string path = folder.path("log");
};

INSTANTIATE_TEST_SUITE_P(Builtin, Resume,
                         testing::ValuesIn(SearcherRegistry::builtin().names()),
                         searcherTestName);

} // namespace

TEST_P(Resume, ALogChangesNothing) {
  EXPECT_EQ(run(toy).trace, search(toy).trace);
}

TEST_P(Resume, AStoppedSearchGoesOnAsIfItHadNotStopped) {
  Course whole = search(toy);
  for (size_t stopAfter : {1, 2, 63, 64, 65, 159}) {
    for (unsigned threads : {1u, 3u}) {
      std::filesystem::remove(path);
      run(toy, stopAfter, threads);
      EXPECT_EQ(run(toy, never, threads), whole) << stopAfter;
    }
  }
}

TEST_P(Resume, AKilledSearchGoesOnAsIfItHadNotStopped) {
  Course whole = search(toy);
  for (double share : {0., .001, .3, .5, .9, .999}) {
    std::filesystem::remove(path);
    run(toy);
    cutLog(share);
    EXPECT_EQ(run(toy), whole) << share;
  }
}

TEST_P(Resume, MayStopManyTimes) {
  Course whole = search(toy);
  for (size_t stopAfter = 1; stopAfter < budget; stopAfter += 50)
    run(toy, stopAfter);
  EXPECT_EQ(run(toy), whole);
}

/// What was in flight when it stopped is in the log, and was never told.
TEST_P(Resume, AStoppedSearchWithWorkersGoesOnAsIfItHadNotStopped) {
  Course whole = search(toy, never, 1, 4);
  for (size_t stopAfter : {1, 40, 100}) {
    std::filesystem::remove(path);
    run(toy, stopAfter, 1, 4);
    EXPECT_EQ(run(toy, never, 2, 4), whole) << stopAfter;
  }
}

TEST_P(Resume, CallsTheSimulatorForNothingThatIsLogged) {
  Counted all(toy), first(toy), second(toy);
  search(all);
  run(first, 40);
  run(second);
  EXPECT_EQ(first.calls + second.calls, all.calls);
  Counted third(toy);
  run(third);
  EXPECT_EQ(third.calls, 0u);
}

TEST_P(Resume, ReplaysASimulatorThatIsNotDeterministic) {
  Noisy noisy(toy);
  Course whole = run(noisy);
  EXPECT_EQ(run(noisy), whole);
}

//===----------------------------------------------------------------------===//
// Simulators that fail
//===----------------------------------------------------------------------===//

namespace {

/// Gives no answer.
class Failing : public Simulator {
public:
  Evaluation evaluate(const Strategy &) const override {
    Evaluation evaluation;
    evaluation.reason = Reason::Failed;
    return evaluation;
  }
};

class ReplayFailures : public testing::Test {
protected:
  std::unique_ptr<EvaluationLog> open() {
    auto log = EvaluationLog::open(folder.path("log"), {}, {});
    EXPECT_TRUE(log) << log.error().message;
    return std::move(*log);
  }
  TemporaryFolder folder;
  Strategy strategy;
  Failing failing;
};

} // namespace

TEST_F(ReplayFailures, AreLoggedLikeOtherEvaluations) {
  ReplaySimulator(failing, open(), {}).evaluate(strategy);
  auto log = open();
  ASSERT_EQ(log->resumed().size(), 1u);
  EXPECT_EQ(log->resumed()[0].evaluation.reason, Reason::Failed);
}

TEST_F(ReplayFailures, AreNotLoggedWhenAStopMayBeTheCause) {
  ReplaySimulator::Hooks hooks;
  hooks.isStopping = [] { return true; };
  ReplaySimulator(failing, open(), hooks).evaluate(strategy);
  EXPECT_TRUE(open()->resumed().empty());
}
