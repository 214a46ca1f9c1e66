//===- ServiceLoopTest.cpp - Laws of requests that circulate --------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ServingWorkers.h"

#include <cmath>
#include <memory>
#include <random>

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::test;

namespace {

/// Workers, engines and requests at random.
class Draws {
public:
  explicit Draws(unsigned seed) : random(seed) {
    for (const char *name : engines)
      for (const auto &[config, degrees] :
           {std::pair(llama70B(), Degrees(8, 1, 1, 1)),
            std::pair(qwen3Moe235B(), Degrees(4, 1, 2, 1)),
            std::pair(deepSeekV3(), experts(2, 8, 16))})
        all.push_back(std::make_unique<Served>(config, name, degrees,
                                               measured("h200_sxm")));
  }
  double share() {
    return std::uniform_real_distribution<double>(0, 1)(random);
  }
  /// From `low` to `high`, as many in each octave.
  double spread(double low, double high) {
    return low * std::pow(high / low, share());
  }
  const Served &served() { return *all[random() % all.size()]; }
  /// With room for some requests, or for many.
  ServingWorker worker(const Served &served, const ServingLoad &load) {
    ServingWorker worker = served.worker();
    double context = load.inputTokens + load.outputTokens / 2;
    for (const StageMemory &stage : served.steps.memory(context))
      worker.memoryBytes = std::max(
          worker.memoryBytes, stage.weights + spread(1, 2000) * stage.cache);
    return worker;
  }
  ServingEngine engine(const Served &served) {
    ServingEngine engine = served.engine;
    engine.burstShare = share();
    engine.firstTokenMs = 200 * share();
    engine.heldSteps = random() % 3;
    engine.readsApart = random() % 2;
    engine.hasEqualLengths = random() % 2;
    return engine;
  }
  ServingLoad load() {
    ServingLoad load;
    load.inputTokens = spread(1, 30000);
    load.outputTokens = std::round(spread(1, 3000));
    if (random() % 3 == 0)
      load.traits.found = 0.9 * share();
    load.isOpen = random() % 3 == 0;
    if (random() % 3 == 0) {
      load.traits.drafts = 1 + random() % 4;
      load.traits.accepted = load.traits.drafts * share();
    }
    return load;
  }

private:
  std::mt19937 random;
  std::vector<std::unique_ptr<Served>> all;
};

/// Those in flight are the rate times what each of them takes.
void holdsLittlesLaw(double concurrency, const ServingTimes &times,
                     const ServingLoad &load) {
  double seconds = (times.ttft.ms + load.outputTokens * times.tpot.ms) / 1e3;
  EXPECT_NEAR(times.requestsPerS * seconds, concurrency, 1e-9 * concurrency);
}

/// Of a worker, in any load: of steps that read prompts alone, and of steps
/// that decode alone beside any number of sequences that there is room for.
struct Capacity {
  Capacity(const ServingWorker &worker, const ServingEngine &engine,
           const ServingLoad &load) {
    double read = std::max(std::min(1.0, load.inputTokens),
                           load.inputTokens * (1 - load.traits.found));
    double chunk = std::min(read, engine.chunkTokens);
    StepMix mix;
    mix.prompt = load.inputTokens;
    mix.cached = load.traits.found;
    double together = std::max(1.0, engine.chunkTokens / chunk);
    mix.tokens = chunk * together;
    double groups = worker.groups();
    prefill = groups * together * chunk / read /
              (worker.steps->seconds(mix) + engine.launchUs * 1e-6);
    mix = {};
    mix.context = load.inputTokens + load.outputTokens / 2;
    mix.drafts = load.traits.drafts;
    double steps =
        std::max(1.0, load.outputTokens / (1 + load.traits.accepted));
    double room = std::max(1.0, worker.room(mix.context));
    for (double sequences = 1; sequences <= room; sequences *= near) {
      mix.sequences = sequences / double(worker.steps->degrees().pp);
      double seconds =
          worker.steps->seconds(mix) +
          (engine.launchUs + hostMicroseconds(engine, sequences)) * 1e-6;
      decode = std::max(decode, groups * std::min(sequences * near, room) /
                                    (steps * seconds));
    }
  }
  static constexpr double near = 1.005;
  double prefill = 0, decode = 0; ///< requests a second
};

TEST(ServiceLoop, RequestsInFlightAreTheRateTimesTheirTime) {
  Draws draws(17);
  for (int i = 0; i < 400; ++i) {
    const Served &served = draws.served();
    ServingLoad load = draws.load();
    ServingEngine engine = draws.engine(served);
    ServingWorker worker = draws.worker(served, load);
    SCOPED_TRACE(i);
    AggregatedLoop together(worker, engine, load);
    DisaggregatedLoop apart({worker, 1 + std::floor(4 * draws.share())},
                            {worker, 1 + std::floor(4 * draws.share())}, engine,
                            load);
    if (together.room() > 0) {
      double concurrency = draws.spread(1, 3 * together.room() + 2);
      holdsLittlesLaw(concurrency, together.at(concurrency), load);
    }
    if (apart.hasRoom()) {
      double concurrency = draws.spread(1, 3 * apart.most());
      holdsLittlesLaw(concurrency, apart.at(concurrency), load);
    }
  }
}

TEST(ServiceLoop, NoLoadIsServedAboveTheCapacity) {
  Draws draws(19);
  for (int i = 0; i < 150; ++i) {
    const Served &served = draws.served();
    ServingLoad load = draws.load();
    ServingEngine engine = draws.engine(served);
    ServingWorker worker = draws.worker(served, load);
    Capacity capacity(worker, engine, load);
    SCOPED_TRACE(i);
    AggregatedLoop together(worker, engine, load);
    double p = 1 + std::floor(4 * draws.share()),
           d = 1 + std::floor(4 * draws.share());
    DisaggregatedLoop apart({worker, p}, {worker, d}, engine, load);
    for (int j = 0; together.room() > 0 && j < 8; ++j) {
      ServingTimes times =
          together.at(draws.spread(1, 3 * together.room() + 2));
      EXPECT_LE(times.requestsPerS, capacity.prefill * (1 + 1e-9));
      EXPECT_LE(times.requestsPerS, capacity.decode * (1 + 1e-9));
    }
    for (int j = 0; apart.hasRoom() && j < 8; ++j) {
      ServingTimes times = apart.at(draws.spread(1, 3 * apart.most()));
      EXPECT_LE(times.requestsPerS, apart.prefillRate() * (1 + 1e-9));
      EXPECT_LE(times.requestsPerS, d * capacity.decode * (1 + 1e-9));
    }
  }
}

TEST(ServiceLoop, WhatWaitsRaisesNoRate) {
  Draws draws(23);
  for (int i = 0; i < 150; ++i) {
    const Served &served = draws.served();
    ServingLoad load = draws.load();
    ServingEngine engine = draws.engine(served);
    ServingWorker worker = draws.worker(served, load);
    SCOPED_TRACE(i);
    AggregatedLoop together(worker, engine, load);
    DisaggregatedLoop apart({worker, 2}, {worker, 3}, engine, load);
    auto compare = [&](const auto &loop, double most) {
      ServingTimes full = loop.at(most);
      for (double more : {1.001, 1.3, 20.0}) {
        ServingTimes times = loop.at(most * more);
        EXPECT_NEAR(times.requestsPerS, full.requestsPerS,
                    1e-9 * full.requestsPerS);
        EXPECT_GT(times.ttft.ms, full.ttft.ms);
        EXPECT_NEAR(times.tpot.ms, full.tpot.ms, 1e-9 * full.tpot.ms);
      }
    };
    if (together.room() > 0)
      compare(together, together.room());
    if (apart.hasRoom())
      compare(apart, apart.most());
  }
}

void contains(Interval bound, double value) {
  EXPECT_LE(bound.low, value * (1 + 1e-9));
  EXPECT_GE(bound.high, value * (1 - 1e-9));
}

void contains(const ServingBounds &bounds, const ServingTimes &times) {
  contains(bounds.requestsPerS, times.requestsPerS);
  for (const auto &[bound, time] : {std::pair(&bounds.tpot, &times.tpot),
                                    std::pair(&bounds.ttft, &times.ttft)}) {
    contains(bound->ms, time->ms);
    contains(bound->p50, time->p50);
    contains(bound->p90, time->p90);
    contains(bound->p99, time->p99);
  }
}

TEST(ServiceLoop, IntervalsContainAllOfTheirLoads) {
  Draws draws(13);
  for (int i = 0; i < 400; ++i) {
    const Served &served = draws.served();
    ServingLoad load = draws.load();
    ServingEngine engine = draws.engine(served);
    ServingWorker worker = draws.worker(served, load);
    SCOPED_TRACE(i);
    AggregatedLoop together(worker, engine, load);
    DisaggregatedLoop apart({worker, 2}, {worker, 3}, engine, load);
    auto compare = [&](const auto &loop, double most) {
      double low = draws.spread(1, 2 * most + 2),
             high = low * (1 + draws.share());
      ServingBounds bounds = loop.within({low, high});
      for (double inside : {low, low + (high - low) * draws.share(), high})
        contains(bounds, loop.at(inside));
    };
    if (together.room() > 0)
      compare(together, together.room());
    if (apart.hasRoom())
      compare(apart, apart.most());
  }
}

TEST(ServiceLoop, LongAnswersTakeTheStepAndTheHost) {
  Draws draws(29);
  for (int i = 0; i < 100; ++i) {
    const Served &served = draws.served();
    ServingEngine engine = draws.engine(served);
    ServingLoad load;
    load.inputTokens = 1;
    load.outputTokens = 1e6;
    ServingWorker worker = draws.worker(served, load);
    SCOPED_TRACE(i);
    double groups = worker.groups(),
           room = worker.room(load.inputTokens + load.outputTokens / 2);
    ASSERT_GE(room, 1);
    double sequences = draws.spread(1, std::min(room, 64.0));
    StepMix mix;
    mix.sequences = sequences / double(served.steps.degrees().pp);
    mix.context = load.inputTokens + load.outputTokens / 2;
    double ms = served.steps.seconds(mix) * 1e3 +
                (engine.launchUs + hostMicroseconds(engine, sequences)) / 1e3;
    ServingPool pool{worker, 1};
    for (const ServingTimes &times :
         {AggregatedLoop(worker, engine, load).at(sequences * groups),
          DisaggregatedLoop(pool, pool, engine, load).at(sequences * groups)})
      EXPECT_NEAR(times.tpot.ms, ms, 2e-3 * ms);
  }
}

TEST(ServiceLoop, AnswersOfOneTokenTakeThePrefill) {
  Draws draws(31);
  for (int i = 0; i < 100; ++i) {
    const Served &served = draws.served();
    ServingEngine engine = draws.engine(served);
    engine.burstShare = engine.heldSteps = 0;
    engine.eagerLayerUs = 0;
    ServingLoad load;
    load.inputTokens = draws.spread(100, 30000);
    load.outputTokens = 1;
    ServingWorker worker = draws.worker(served, load);
    SCOPED_TRACE(i);
    StepMix mix;
    mix.tokens = std::min(load.inputTokens, engine.chunkTokens);
    mix.prompt = load.inputTokens;
    double prefill = load.inputTokens / mix.tokens *
                     (served.steps.seconds(mix) * 1e3 + engine.launchUs / 1e3);
    AggregatedLoop together(worker, engine, load);
    ServingTimes alone = together.at(1);
    mix = {};
    mix.sequences = 1 / double(served.steps.degrees().pp);
    mix.context = load.inputTokens + load.outputTokens / 2;
    EXPECT_NEAR(alone.ttft.ms - engine.firstTokenMs,
                prefill + served.steps.seconds(mix) * 1e3 +
                    engine.launchUs / 1e3,
                1e-6 * alone.ttft.ms);
    DisaggregatedLoop apart({worker, 1}, {worker, 100}, engine, load);
    ServingTimes first = apart.at(1);
    EXPECT_NEAR(first.ttft.ms - engine.firstTokenMs - first.sentUs / 1e3,
                prefill + first.tpot.ms, 1e-6 * first.ttft.ms);
    // Many in flight are served as fast as prompts are computed.
    EXPECT_NEAR(apart.prefillRate(), worker.groups() / prefill * 1e3,
                1e-9 * apart.prefillRate());
    EXPECT_NEAR(apart.at(apart.most()).requestsPerS, apart.prefillRate(),
                1e-9 * apart.prefillRate());
  }
}

TEST(ServiceLoop, RequestsWaitForRoomInTheCaches) {
  Served served(llama70B(), "vllm", Degrees(8, 1, 1, 1));
  ServingLoad load;
  load.inputTokens = 30000;
  load.outputTokens = 1000;
  ServingWorker worker = served.worker();
  double room = worker.room(30500);
  ASSERT_GT(room, 1);
  load.concurrency = 3 * room;
  auto crowded = serveAggregated(worker, served.engine, load);
  ASSERT_TRUE(crowded);
  EXPECT_NEAR(crowded->admitted, room, 1e-9 * room);
  load.concurrency = room;
  auto full = serveAggregated(worker, served.engine, load);
  ASSERT_TRUE(full);
  EXPECT_GT(crowded->ttft.ms, full->ttft.ms);
  EXPECT_NEAR(crowded->tpot.ms, full->tpot.ms, 1e-9 * full->tpot.ms);
  worker.memoryBytes = 10e9;
  EXPECT_FALSE(serveAggregated(worker, served.engine, load));
}

TEST(ServiceLoop, SharesWithinALimitAreThoseOfPercentiles) {
  Draws draws(37);
  for (int i = 0; i < 60; ++i) {
    const Served &served = draws.served();
    ServingEngine engine = draws.engine(served);
    ServingLoad load = draws.load();
    ServingWorker worker = draws.worker(served, load);
    SCOPED_TRACE(i);
    AggregatedLoop loop(worker, engine, load);
    for (double flying : {1.0, 3.0, 20.0, 100.0}) {
      ServingTimes times = loop.at(flying);
      // Without a bell all are within what the last takes.
      for (const TimeOf<double> *time : {&times.tpot, &times.ttft}) {
        bool isBell = time->deviation > 0;
        if (isBell && time->burst > 0)
          continue;
        EXPECT_NEAR(time->within(time->p99 * (1 + 1e-9)),
                    isBell || time->burst > 0.01 ? 0.99 : 1, 1e-3);
        EXPECT_NEAR(time->within(time->p90 * (1 + 1e-9)),
                    isBell || time->burst > 0.1 ? 0.9 : 1 - time->burst, 1e-3);
      }
      ServingBounds all = loop.within({flying / 2, 2 * flying});
      for (double share : {0.5, 0.9, 1.0, 1.1, 2.0}) {
        EXPECT_LE(times.tpot.within(share * times.tpot.ms),
                  all.tpot.within(share * times.tpot.ms) + 1e-12);
        EXPECT_LE(times.ttft.within(share * times.ttft.ms),
                  all.ttft.within(share * times.ttft.ms) + 1e-12);
      }
    }
  }
}

TEST(ServiceLoop, TraitsHaveTheirSigns) {
  Served served(llama70B(), "vllm", Degrees(8, 1, 1, 1));
  ServingLoad load;
  load.inputTokens = 4000;
  load.outputTokens = 500;
  load.concurrency = 16;
  auto timesOf = [&](const ServingTraits &traits) {
    ServingLoad other = load;
    other.traits = traits;
    auto times = serveAggregated(served.worker(), served.engine, other);
    EXPECT_TRUE(times);
    return *times;
  };
  ServingTimes plain = timesOf({});
  ServingTraits drafts, found;
  drafts.drafts = 3;
  drafts.accepted = 2;
  found.found = 0.5;
  EXPECT_LT(timesOf(drafts).tpot.ms, plain.tpot.ms);
  EXPECT_GT(timesOf(drafts).tpot.ms, plain.tpot.ms / 3);
  EXPECT_LT(timesOf(found).ttft.ms, plain.ttft.ms);
  EXPECT_LT(timesOf(found).tpot.ms, plain.tpot.ms);
}

} // namespace
