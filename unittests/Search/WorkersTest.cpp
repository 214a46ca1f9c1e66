//===- WorkersTest.cpp - Simulators that evaluate several at once ---------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ToySimulator.h"
#include "shardopt/Search/Driver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <sstream>
#include <thread>

using namespace shardopt;
using namespace shardopt::search;

namespace {

/// Waits until as many calls are in flight as were ever wanted, once.
class Meeting : public BlackBox {
public:
  Meeting(const Simulator &inner, unsigned wanted)
      : BlackBox(inner), wanted(wanted) {}
  Evaluation evaluate(const Strategy &strategy) const override {
    {
      std::unique_lock lock(mutex);
      most = std::max(most, ++inFlight);
      isMet |= inFlight == wanted;
      wasMet.notify_all();
      wasMet.wait_for(lock, std::chrono::seconds(20), [&] { return isMet; });
      --inFlight;
    }
    return BlackBox::evaluate(strategy);
  }
  mutable unsigned most = 0;

private:
  const unsigned wanted;
  mutable std::mutex mutex;
  mutable std::condition_variable wasMet;
  mutable unsigned inFlight = 0;
  mutable bool isMet = false;
};

/// Takes its time for some strategies.
class Uneven : public BlackBox {
public:
  using BlackBox::BlackBox;
  Evaluation evaluate(const Strategy &strategy) const override {
    if (strategy.degrees.tp == 2)
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
    else if (strategy.degrees.batch % 4 == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    return BlackBox::evaluate(strategy);
  }
};

class WithWorkers : public testing::TestWithParam<std::string> {
protected:
  /// The whole trace, as text.
  std::string trace(const Simulator &of, unsigned workers, unsigned threads,
                    Accounting accounting = Accounting::Asked,
                    uint64_t budget = 200) {
    ToyContext context{space, of, simulator.objective(), 11, budget};
    auto searcher = SearcherRegistry::builtin().create(GetParam(), context);
    EXPECT_TRUE(searcher) << searcher.error().message;
    DriverOptions options;
    options.budget = budget;
    options.accounting = accounting;
    options.workers = workers;
    options.threads = threads;
    std::ostringstream text;
    options.trace = [&](const TraceEntry &entry) {
      text << entry.index << ' ' << space.pointOf(entry.strategy).has_value()
           << ' ' << entry.evaluation.throughput << ' ' << entry.repeated << ' '
           << entry.charged << ' ' << entry.rejected << '\n';
    };
    result = runSearch(**searcher, of, context.objective, options);
    return text.str();
  }

  ToySimulator simulator{6, 5};
  BlackBox box{simulator};
  StrategySpace space = makeSpace(6, {});
  SearchResult result;
};

INSTANTIATE_TEST_SUITE_P(Builtin, WithWorkers,
                         testing::Values("megatron-sp", "random", "random-walk",
                                         "annealing", "genetic",
                                         "cross-entropy", "coordinate",
                                         "surrogate"),
                         searcherTestName);

TEST_P(WithWorkers, UsesAllOfThem) {
  for (unsigned workers : {2u, 4u}) {
    Meeting meeting(simulator, workers);
    trace(meeting, workers, 1);
    EXPECT_EQ(meeting.most, workers);
  }
}

TEST_P(WithWorkers, IsTheSameHoweverLongAnEvaluationTakes) {
  Uneven uneven(simulator);
  for (unsigned workers : {1u, 2u, 4u}) {
    std::string expected = trace(box, workers, 1);
    EXPECT_EQ(trace(box, workers, 3), expected);
    EXPECT_EQ(trace(uneven, workers, 1), expected);
    EXPECT_EQ(trace(uneven, workers, 8), expected);
  }
}

TEST_P(WithWorkers, SpendsItsBudgetExactly) {
  for (Accounting accounting :
       {Accounting::Asked, Accounting::New, Accounting::Draws})
    for (uint64_t budget : {1, 3, 120}) {
      trace(box, 4, 1, accounting, budget);
      EXPECT_EQ(result.charged, budget);
      EXPECT_EQ(result.stopped, StopReason::Budget);
    }
}

} // namespace

/// Nothing is asked for twice, though it is proposed before it is known.
TEST(Workers, SurrogateSuppressesWhatIsPending) {
  ToySimulator simulator(6, 5);
  StrategySpace space = makeSpace(6, {});
  ToyContext context{space, simulator, simulator.objective(), 3, 400};
  auto searcher = SearcherRegistry::builtin().create("surrogate", context);
  ASSERT_TRUE(searcher);
  DriverOptions options;
  options.budget = 400;
  options.workers = 16;
  SearchResult result =
      runSearch(**searcher, simulator, context.objective, options);
  EXPECT_EQ(result.distinctEvaluations, 400u);
}

TEST(Workers, AreStoppedWithEvaluationsInFlight) {
  ToySimulator simulator(6, 5);
  StrategySpace space = makeSpace(6, {});
  ToyContext context{space, simulator, simulator.objective(), 3};
  auto searcher = SearcherRegistry::builtin().create("annealing", context);
  ASSERT_TRUE(searcher);
  DriverOptions options;
  options.workers = 4;
  uint64_t evaluated = 0;
  options.trace = [&](const TraceEntry &) { ++evaluated; };
  options.stopRequested = [&] { return evaluated >= 10; };
  SearchResult result =
      runSearch(**searcher, simulator, context.objective, options);
  EXPECT_EQ(result.stopped, StopReason::Requested);
  EXPECT_EQ(result.evaluations, 10u);
}
