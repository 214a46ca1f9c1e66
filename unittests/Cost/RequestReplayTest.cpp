//===- RequestReplayTest.cpp - Laws of requests served one by one ---------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Serving/RequestReplay.h"
#include "ServingWorkers.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::test;

namespace {

constexpr double input = 2000, output = 200;

/// Workers of each engine: dense, dense with groups, and with experts.
class Workers {
public:
  Workers() {
    for (const char *name : engines)
      for (const auto &[config, degrees] :
           {std::pair(llama70B(), Degrees(8, 1, 1, 1)),
            std::pair(qwen3Moe235B(), Degrees(4, 1, 2, 1)),
            std::pair(deepSeekV3(), experts(2, 4, 8))})
        all.push_back(std::make_unique<Served>(config, name, degrees,
                                               measured("h200_sxm")));
  }
  std::vector<std::unique_ptr<Served>> all;
};

/// Memory for `room` requests in each group.
ServingWorker worker(const Served &served, double room) {
  ServingWorker worker = served.worker();
  for (const StageMemory &stage : served.steps.memory(input + output / 2))
    worker.memoryBytes =
        std::max(worker.memoryBytes, stage.weights + room * stage.cache);
  return worker;
}

/// Without what only formulas have: bursts, and waits for other groups.
ServingEngine plain(const Served &served) {
  ServingEngine engine = served.engine;
  engine.burstShare = engine.balanceSteps = 0;
  engine.isOneBurst = false;
  return engine;
}

std::vector<TracedRequest> equal(size_t count) {
  return std::vector<TracedRequest>(count, {0, input, output, 0});
}

ServingLoad meanLoad() {
  ServingLoad load;
  load.inputTokens = input;
  load.outputTokens = output;
  return load;
}

double ttftMs(const ServedRequest &served) {
  return 1e3 * (served.firstTokenS - served.arrivalS);
}

double tpotMs(const ServedRequest &served, const TracedRequest &request) {
  return 1e3 * (served.endS - served.firstTokenS) / request.outputTokens;
}

TEST(RequestReplay, OneRequestTakesWhatTheFormulasSay) {
  const Workers workers;
  for (const auto &served : workers.all) {
    ServingEngine engine = plain(*served);
    ServingWorker one = worker(*served, 4);
    AggregatedLoop loop(one, engine, meanLoad());
    ServingTimes times = loop.at(one.groups());
    auto found = replayAggregated({one, 1}, engine, equal(1), {});
    ASSERT_TRUE(found);
    EXPECT_NEAR(ttftMs((*found)[0]), times.ttft.ms, 0.01 * times.ttft.ms);
    EXPECT_NEAR(tpotMs((*found)[0], equal(1)[0]), times.tpot.ms,
                0.01 * times.tpot.ms);
    DisaggregatedLoop apart({one, 1}, {one, 1}, engine, meanLoad());
    ServingTimes sent = apart.at(1);
    auto far = replayDisaggregated({one, 1}, {one, 1}, engine, equal(1), {});
    ASSERT_TRUE(far);
    EXPECT_NEAR(ttftMs((*far)[0]), sent.ttft.ms, 0.01 * sent.ttft.ms);
    EXPECT_NEAR(tpotMs((*far)[0], equal(1)[0]), sent.tpot.ms,
                0.01 * sent.tpot.ms);
  }
}

/// Requests a second between the first and the last quarter of those that end.
double steadyRate(const std::vector<ServedRequest> &served) {
  std::vector<double> ends;
  for (const ServedRequest &one : served)
    ends.push_back(one.endS);
  std::sort(ends.begin(), ends.end());
  size_t from = ends.size() / 4, to = ends.size() - from;
  return double(to - from) / (ends[to] - ends[from]);
}

TEST(RequestReplay, AClosedLoopAttainsTheRateOfTheFormulas) {
  const Workers workers;
  for (const auto &served : workers.all)
    for (double each : {4.0, 32.0}) {
      ServingEngine engine = plain(*served);
      ServingWorker one = worker(*served, 64);
      double flying = each * one.groups() * 2;
      ReplayOptions options;
      options.concurrency = flying;
      auto requests = equal(size_t(12 * flying));
      AggregatedLoop loop(one, engine, meanLoad());
      auto found = replayAggregated({one, 2}, engine, requests, options);
      ASSERT_TRUE(found);
      double rate = 2 * loop.at(flying / 2).requestsPerS;
      EXPECT_NEAR(steadyRate(*found) / rate, 1, 0.12) << each;
      DisaggregatedLoop apart({one, 2}, {one, 2}, engine, meanLoad());
      auto far =
          replayDisaggregated({one, 2}, {one, 2}, engine, requests, options);
      ASSERT_TRUE(far);
      EXPECT_NEAR(steadyRate(*far) / apart.at(flying).requestsPerS, 1, 0.1)
          << each;
    }
}

/// The load, below `most`, at which `loop` attains `rate`.
template <typename Loop>
double loadAt(const Loop &loop, double most, double rate) {
  double low = 0, high = most;
  for (int i = 0; i != 60; ++i) {
    double middle = (low + high) / 2;
    (loop.at(middle).requestsPerS < rate ? low : high) = middle;
  }
  return high;
}

/// Requests that come independently of each other, `rate` a second.
std::vector<TracedRequest> poisson(double rate) {
  std::mt19937 random(7);
  std::exponential_distribution<double> gap(rate);
  auto requests = equal(4000);
  double now = 0;
  for (TracedRequest &request : requests)
    request.arrivalS = now += gap(random);
  return requests;
}

/// By how much what formulas say of first tokens is off what is `served`.
std::vector<double> errorsOf(const TimeOf<double> &said,
                             const std::vector<ServedRequest> &served) {
  std::vector<double> ttft, errors;
  for (const ServedRequest &each : served)
    ttft.push_back(ttftMs(each));
  std::sort(ttft.begin(), ttft.end());
  for (auto [part, ms] : {std::pair(0.5, said.p50), std::pair(0.9, said.p90),
                          std::pair(0.99, said.p99)})
    errors.push_back(
        std::abs(ms / ttft[size_t(part * double(ttft.size()))] - 1));
  return errors;
}

/// Compares formulas with the replay at shares of what workers attain, one or
/// more of them: `errorsAt` has the errors of one case.
template <typename ErrorsAt>
void expectSmallErrors(double median, ErrorsAt errorsAt) {
  const Workers workers;
  ServingLoad load = meanLoad();
  load.isOpen = true;
  std::vector<double> errors;
  for (const auto &served : workers.all)
    for (double count : {1.0, 3.0})
      for (double share : {0.5, 0.7, 0.85})
        for (double error : errorsAt(worker(*served, 64), plain(*served), load,
                                     count, share)) {
          EXPECT_LT(error, 0.6) << count << ' ' << share;
          errors.push_back(error);
        }
  std::sort(errors.begin(), errors.end());
  EXPECT_LT(errors[errors.size() / 2], median);
  EXPECT_LT(errors[errors.size() * 9 / 10], 0.25);
}

TEST(RequestReplay, PromptsQueueAsTheFormulasSay) {
  expectSmallErrors(
      0.05, [](const ServingWorker &one, const ServingEngine &engine,
               const ServingLoad &load, double count, double share) {
        ServingPool prefill{one, count}, decode{one, 8 * count};
        DisaggregatedLoop loop(prefill, decode, engine, load);
        double rate = share * loop.prefillRate();
        ServingTimes times = loop.at(loadAt(loop, loop.most(), rate));
        EXPECT_NEAR(times.busy, share, 1e-3);
        auto found =
            replayDisaggregated(prefill, decode, engine, poisson(rate), {});
        EXPECT_TRUE(found);
        return errorsOf(times.ttft, *found);
      });
}

TEST(RequestReplay, PromptsAmongStepsThatDecodeQueueAsTheFormulasSay) {
  expectSmallErrors(
      0.12, [](const ServingWorker &one, const ServingEngine &engine,
               const ServingLoad &load, double count, double share) {
        AggregatedLoop loop(one, engine, load);
        double rate = share * loop.at(loop.room()).requestsPerS;
        ServingTimes times = loop.at(loadAt(loop, loop.room(), rate));
        auto found =
            replayAggregated({one, count}, engine, poisson(count * rate), {});
        EXPECT_TRUE(found);
        return errorsOf(times.ttft, *found);
      });
}

/// Prompts and answers of two lengths each, shuffled: their distribution, and
/// `count` requests with it.
struct Mixed {
  Mixed(size_t count, unsigned seed) {
    std::mt19937 random(seed);
    for (double in : {500.0, 12000.0})
      for (double out : {50.0, 650.0})
        shares.push_back(
            {in, out, (in > 1000 ? 0.2 : 0.8) * (out > 100 ? 0.25 : 0.75)});
    for (const LengthShare &each : shares)
      for (size_t i = 0; double(i) < each.share * double(count); ++i)
        requests.push_back({0, each.inputTokens, each.outputTokens, 0});
    std::shuffle(requests.begin(), requests.end(), random);
    static_cast<RequestLengths &>(load) = RequestLengths(shares);
    means.inputTokens = load.inputTokens;
    means.outputTokens = load.outputTokens;
  }
  std::vector<LengthShare> shares;
  std::vector<TracedRequest> requests;
  ServingLoad load, means; ///< with the distribution, and without
};

TEST(RequestReplay, AClosedLoopOfSeveralLengthsIsNearerToTheirDistribution) {
  const Workers workers;
  double off = 0, offMeans = 0;
  for (const auto &served : workers.all) {
    ServingEngine engine = plain(*served);
    ServingWorker one = worker(*served, 128);
    double flying = 16 * one.groups();
    Mixed mixed(size_t(40 * flying), 5);
    ReplayOptions options;
    options.concurrency = flying;
    auto found = replayAggregated({one, 1}, engine, mixed.requests, options);
    ASSERT_TRUE(found);
    auto rateOf = [&](const ServingLoad &load) {
      return AggregatedLoop(one, engine, load).at(flying).requestsPerS;
    };
    double rate = steadyRate(*found);
    EXPECT_NEAR(rateOf(mixed.load) / rate, 1, 0.15);
    off += std::abs(rateOf(mixed.load) / rate - 1);
    offMeans += std::abs(rateOf(mixed.means) / rate - 1);
  }
  EXPECT_LT(off, offMeans);
}

/// Arrivals and lengths at random, at a share of what formulas attain.
std::vector<TracedRequest> drawn(std::mt19937 &random, size_t count,
                                 double rate) {
  std::exponential_distribution<double> gap(rate);
  std::uniform_real_distribution<double> share(0.2, 1.8);
  std::vector<TracedRequest> requests;
  double now = 0;
  for (size_t i = 0; i != count; ++i) {
    now += gap(random);
    TracedRequest one{now, std::round(input * share(random)),
                      std::round(output * share(random)), 0};
    if (random() % 4 == 0)
      one.cachedTokens = std::floor(one.inputTokens / 2);
    requests.push_back(one);
  }
  return requests;
}

TEST(RequestReplay, EachRequestTakesAtLeastItsTimeAlone) {
  const Workers workers;
  std::mt19937 random(7);
  for (const auto &served : workers.all) {
    ServingEngine engine = plain(*served);
    ServingWorker one = worker(*served, 40);
    AggregatedLoop loop(one, engine, meanLoad());
    double rate = loop.at(8 * one.groups()).requestsPerS;
    auto requests = drawn(random, 60, rate);
    auto found = replayAggregated({one, 1}, engine, requests, {});
    auto again = replayAggregated({one, 1}, engine, requests, {});
    ASSERT_TRUE(found);
    for (size_t i = 0; i != requests.size(); ++i) {
      const ServedRequest &all = (*found)[i];
      TracedRequest same = requests[i];
      same.arrivalS = 0;
      auto alone = replayAggregated({one, 1}, engine, {same}, {});
      EXPECT_EQ(all.arrivalS, requests[i].arrivalS);
      EXPECT_GE(ttftMs(all), ttftMs((*alone)[0]) * (1 - 1e-6));
      EXPECT_GE(tpotMs(all, same), tpotMs((*alone)[0], same) * (1 - 0.02));
      EXPECT_EQ(all.endS, (*again)[i].endS);
    }
  }
}

TEST(RequestReplay, MoreWorkersServeNoLater) {
  const Workers workers;
  std::mt19937 random(11);
  for (const auto &served : workers.all) {
    ServingEngine engine = plain(*served);
    ServingWorker one = worker(*served, 8);
    AggregatedLoop loop(one, engine, meanLoad());
    auto requests =
        drawn(random, 80, 2 * loop.at(8 * one.groups()).requestsPerS);
    double last = HUGE_VAL;
    for (double count : {1.0, 2.0, 4.0, 8.0}) {
      auto found = replayAggregated({one, count}, engine, requests, {});
      ASSERT_TRUE(found);
      double mean = 0;
      for (const ServedRequest &each : *found)
        mean += each.endS - each.arrivalS;
      EXPECT_LE(mean, last * 1.001);
      last = mean;
    }
  }
}

TEST(RequestReplay, ARequestWithoutRoomIsNamed) {
  const Workers workers;
  const Served &served = *workers.all.front();
  auto requests = equal(3);
  requests[1].inputTokens = 1e9;
  auto found =
      replayAggregated({worker(served, 4), 1}, plain(served), requests, {});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().message,
            "request 2 of 1000000000 tokens in and 200 out has no room for its "
            "cache in a worker");
}

} // namespace
