//===- ServiceCases.h - Small services at random ----------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_UNITTESTS_PLANNING_SERVICECASES_H
#define SHARDOPT_UNITTESTS_PLANNING_SERVICECASES_H

#include "shardopt/Planning/ServicePlan.h"
#include "shardopt/Planning/ServiceSides.h"

#include "TestModels.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <random>

#include <unistd.h>

namespace shardopt::test {

using namespace shardopt::cost::test;

/// Tokens a second per device of a plan with Megatron's dims, which are those
/// of enumeration.
inline double usualTokens(const ServicePlan &plan) {
  return plan.tokensPerDevice / (plan.ownDims ? 1 + plan.ownDims->gain : 1);
}

/// How many cases a test is to run: SHARDOPT_SERVICE_CASES, or `usual`.
inline int numServiceCases(int usual) {
  const char *wanted = std::getenv("SHARDOPT_SERVICE_CASES");
  return wanted ? std::atoi(wanted) : usual;
}

inline std::shared_ptr<const Scenario> scenarioOn(const std::string &machine,
                                                  const ModelConfig &config,
                                                  cost::Phase phase) {
  ScenarioOptions options;
  options.simulator = "calibrated";
  options.timing.machine = machine;
  auto scenario =
      Scenario::create("test", makeModel(config, {phase, 16}), options);
  EXPECT_TRUE(scenario) << scenario.error().message;
  return *scenario;
}

inline ServiceRequest requestOf(double isl, double osl, double tpot,
                                double ttft, int64_t devices) {
  ServiceRequest request;
  request.load[RequestField::Isl] = isl;
  request.load[RequestField::Osl] = osl;
  request.load[RequestField::TpotMs] = tpot;
  request.load[RequestField::TtftMs] = ttft;
  request.devices = devices;
  return request;
}

/// A machine of little memory, so that few requests are in flight.
inline std::string smallMachine(double gigabytes) {
  std::string path = testing::TempDir() + "small-" + std::to_string(gigabytes) +
                     "-" + std::to_string(getpid()) + ".json";
  std::ofstream(path) << "{\"name\": \"small\", \"like\": \"h100_sxm\", "
                         "\"memory\": {\"capacity_bytes\": "
                      << gigabytes * 1e9 << "}}";
  return path;
}

/// A small model, and requests, at random.
struct ServiceCase {
  explicit ServiceCase(unsigned seed) : random(seed) {
    config.hidden = 1024;
    config.layers = pick({4, 6, 8});
    config.vocab = 4096;
    config.heads = pick({4, 6, 8});
    config.kvHeads = config.heads / pick({1, 2, 4});
    config.headDim = 128;
    config.inner = 2048;
    if (pick({0, 1})) {
      config.experts = pick({4, 6, 8});
      config.topK = 2;
      config.expertInner = 512;
    }
    request = requestOf(pick({8000, 30000, 60000}), pick({50, 300, 1000}),
                        pick({2, 3, 6, 50}), pick({150, 400, 4000}),
                        pick({1, 2, 3, 4, 6}));
    request.engine =
        std::array{"sglang", "vllm", "none"}[size_t(pick({0, 1, 2}))];
    if (pick({0, 1, 2}) == 0) {
      request.load[RequestField::TpotPercentile] = pick({50, 90, 99});
      request.load[RequestField::TtftPercentile] = pick({50, 90, 99});
    }
    if (pick({0, 1, 2}) == 0)
      request.load[RequestField::Rate] = pick({1, 2, 4});
    if (pick({0, 1, 2}) == 0)
      request.lengths = {{4000, 50, 0.5}, {20000, 400, 0.3}, {60000, 900, 0.2}};
  }
  /// Lets some requests draft, and some workers overlap.
  void hasten() {
    if (pick({0, 1, 2}) == 0) {
      request.load[RequestField::DraftTokens] = pick({1, 2, 3});
      request.load[RequestField::AcceptedTokens] = 0.9;
      request.load[pick({0, 1}) ? RequestField::DraftLayers
                                : RequestField::DraftParameters] = 1;
    }
    if (pick({0, 1}))
      request.pins["overlap"] = "off,on";
  }
  int pick(std::vector<int> values) { return values[random() % values.size()]; }

  std::mt19937 random;
  ModelConfig config;
  ServiceRequest request;
};

/// One service, and what it attains within the limits.
struct Offer {
  cost::ServingTimes times;
  double requestsPerSecond = 0, tokensPerDevice = 0;
  int64_t devices = 0; ///< at work
  std::string layout;  ///< of the workers of both roles
};

/// Everything that can be, one after the other.
class Enumeration {
public:
  using Visit = std::function<void(const Offer &)>;

  Enumeration(const ServiceSummary &summary, const service::Sides &sides,
              Visit visit)
      : goal(summary.goal), runner(summary.engine), side(*sides.decode),
        engine(sides.engine), facts(side.costs().model()),
        visit(std::move(visit)) {}

  /// Visits all services of `mode` that keep the limits.
  void run(ServiceMode mode) {
    ServiceShortage shortage;
    std::vector<service::WorkerLayout> decodes =
        side.layouts(runner, goal.devices, goal.load.longestContext(),
                     cost::Phase::Decode, shortage, goal.pins.mayOverlap());
    if (mode == ServiceMode::Aggregated) {
      for (const service::WorkerLayout &layout : decodes)
        for (int64_t n = 1; n * layout.devices() <= goal.devices; ++n)
          if (goal.pins.serve.allow(layout.degrees, layout.overlaps) &&
              goal.pins.serve.allowWorkers(n))
            together(layout, n);
      return;
    }
    std::vector<service::WorkerLayout> prefills =
        side.layouts(runner, goal.devices, goal.load.longestInput(),
                     cost::Phase::Prefill, shortage, goal.pins.mayOverlap());
    for (const service::WorkerLayout &p : prefills)
      for (const service::WorkerLayout &d : decodes)
        if (!whyNoTransfer(runner, p.degrees, d.degrees, facts) &&
            goal.pins.prefill.allow(p.degrees, p.overlaps) &&
            goal.pins.decode.allow(d.degrees, d.overlaps))
          apart(p, d);
  }

private:
  void offer(const cost::ServingTimes &times, double concurrency,
             double workers, int64_t devices) {
    double share = goal.isGoodput ? goal.within(times) : 1;
    if (!goal.isGoodput && (goal.tpot.of<double>(times.tpot) > goal.tpot.ms ||
                            goal.ttft.of<double>(times.ttft) > goal.ttft.ms))
      return;
    double rate =
        share * workers * concurrency /
        ((times.ttft.ms + goal.load.outputTokens * times.tpot.ms) / 1e3);
    visit({times, rate,
           rate * goal.load.outputTokens / double(goal.allDevices()), devices,
           layout});
  }
  void together(const service::WorkerLayout &worker, int64_t n) {
    if (!service::havePlaces(n, worker.devices(), 0, 1, goal.devices,
                             side.domainSize()))
      return;
    layout = spell(worker.degrees);
    cost::AggregatedLoop loop(worker.worker, engine, goal.load);
    for (int64_t c = 1; c <= int64_t(loop.room()); ++c)
      offer(loop.at(double(c)), double(c), double(n), n * worker.devices());
  }
  void apart(const service::WorkerLayout &p, const service::WorkerLayout &d) {
    for (int64_t np = 1; np * p.devices() < goal.devices; ++np)
      for (int64_t nd = 1; np * p.devices() + nd * d.devices() <= goal.devices;
           ++nd) {
        if (!service::havePlaces(np, p.devices(), nd, d.devices(), goal.devices,
                                 side.domainSize()) ||
            !goal.pins.prefill.allowWorkers(np) ||
            !goal.pins.decode.allowWorkers(nd))
          continue;
        layout = std::to_string(np) + " x " + spell(p.degrees) + ", " +
                 std::to_string(nd) + " x " + spell(d.degrees);
        cost::DisaggregatedLoop loop({p.worker, double(np)},
                                     {d.worker, double(nd)}, engine, goal.load);
        if (!loop.hasRoom())
          continue;
        for (int64_t c = 1; c <= int64_t(loop.most()); ++c)
          offer(loop.at(double(c)), double(c), 1,
                np * p.devices() + nd * d.devices());
      }
  }

  const ServiceGoal &goal;
  Runner runner;
  const service::Side &side;
  const cost::ServingEngine &engine;
  EngineFacts facts;
  Visit visit;
  std::string layout; ///< that is visited
};

} // namespace shardopt::test

#endif // SHARDOPT_UNITTESTS_PLANNING_SERVICECASES_H
