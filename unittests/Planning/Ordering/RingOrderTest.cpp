//===- RingOrderTest.cpp - Decoding without an end ------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/Ordering/RingOrder.h"
#include "shardopt/Cost/Roofline.h"
#include "shardopt/Cost/Tables/Evaluate.h"
#include "shardopt/Planning/Ordering/Replay.h"
#include "shardopt/Solvers/Schedule/Validate.h"

#include "TestModels.h"

#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::test;
using namespace shardopt::ordering;

namespace {

const Workload tokens{Phase::Decode, 4096};

ModelConfig withLayers(ModelConfig config, int64_t layers) {
  config.layers = layers;
  return config;
}

/// Attention by heads, experts and all else as they are cut by default.
Strategy plain(const CostModel &costs, const Degrees &degrees) {
  return strategy(degrees, std::string(costs.model().numVariables(), '0'));
}

RingOptions lists(std::vector<int64_t> inFlight, std::vector<int64_t> chunks) {
  RingOptions options;
  options.solver.timeLimit = 0;
  options.solver.rounds = 4;
  options.solver.backend = "rules";
  options.inFlight = std::move(inFlight);
  options.chunks = std::move(chunks);
  return options;
}

/// With nothing beside anything within a stage, and as many micro-batches as
/// the cost model has, its time per token is that of the ring.
TEST(RingOrder, ASerialRingIsTheCostModel) {
  for (const ModelConfig &config :
       {withLayers(deepSeekV3(), 5), withLayers(llama70B(), 7)})
    for (Degrees degrees : {Degrees{2, 1, 3, 48}, Degrees{4, 1, 2, 7},
                            Degrees{2, 1, 4, 2}, Degrees{8, 1, 1, 16}}) {
      CostModel costs = makeCosts(config, tokens, h100());
      Strategy any = plain(costs, degrees);
      int64_t inFlight = costs.context(degrees).microBatches;
      auto rings = orderRings(costs, any, lists({inFlight}, {1}));
      ASSERT_TRUE(rings) << rings.error().message;
      const OrderedRing &ring = rings->front();
      EXPECT_NEAR(double(ring.serial) / 1e6, evaluate(costs, any).latencyMs,
                  1e-6 * ring.frame.instance.numOps());
      EXPECT_LE(ring.programOrder, ring.serial);
      EXPECT_LE(ring.turn.period, ring.programOrder);
      EXPECT_LE(ring.bound, ring.turn.period);
    }
}

TEST(RingOrder, TheEventSimulatorReplaysTurns) {
  CostModel costs = makeCosts(withLayers(deepSeekV3(), 5), tokens, h100());
  for (Degrees degrees : {Degrees{2, 4, 3, 192}, Degrees{1, 8, 1, 512}})
    for (bool reorders : {false, true}) {
      RingOptions options = lists({1, 2, 3, 5}, {1, 2});
      options.reorders = reorders;
      options.prunes = false;
      auto rings = orderRings(costs, plain(costs, degrees), options);
      ASSERT_TRUE(rings) << rings.error().message;
      EXPECT_EQ(rings->size(), 8u);
      for (const OrderedRing &ring : *rings) {
        EXPECT_EQ(ring.replayed, ring.turn.period);
        Replay again = replayTurn(ring.frame, ring.turn, 0);
        schedule::Schedule planned{ring.frame.instance.placement(),
                                   ring.turn.starts};
        for (int32_t op = 0; op < ring.frame.instance.numOps(); ++op)
          ASSERT_EQ(again.ends[op],
                    double(planned.end(ring.frame.instance, op)));
        // A turn is a schedule of its graph, too.
        EXPECT_TRUE(validate(ring.frame.instance, planned));
        EXPECT_GE(ring.contended, double(ring.turn.period) - 1);
      }
    }
}

struct Choice {
  int64_t inFlight = 0, chunks = 0;
  double gain = 0; ///< of the turn, beside that without the option
};

Choice choose(const CostModel &costs, const Degrees &degrees,
              const RingOptions &options) {
  auto rings = orderRings(costs, plain(costs, degrees), options);
  EXPECT_TRUE(rings) << rings.error().message;
  const OrderedRing &best = (*rings)[fastest(*rings)];
  return {best.inFlight, best.step.chunks,
          1 - double(best.turn.period) / double(rings->front().turn.period)};
}

TEST(RingOrder, TwoBatchesOverlapWhereThatPays) {
  RingOptions halves = lists({1}, {1, 2});
  halves.prunes = false;
  CostModel costs = makeCosts(withLayers(deepSeekV3(), 6), tokens, h100());
  // As much to send as to compute: one half sends while the other computes.
  Choice large = choose(costs, {1, 16, 1, 16384}, halves);
  EXPECT_EQ(large.chunks, 2);
  EXPECT_GT(large.gain, 0.2);
  // Both halves would read all experts.
  EXPECT_EQ(choose(costs, {1, 16, 1, 64}, halves).chunks, 1);
  // Nothing to send.
  CostModel dense = makeCosts(withLayers(llama70B(), 3), tokens, h100());
  EXPECT_EQ(choose(dense, {1, 1, 1, 4096}, halves).chunks, 1);
}

TEST(RingOrder, AsManyMicroBatchesAsPay) {
  RingOptions options = lists({1, 2, 3, 4}, {1});
  options.prunes = false;
  CostModel dense = makeCosts(withLayers(llama70B(), 3), tokens, h100());
  // One for each stage, which the head makes uneven: the third would wait.
  EXPECT_EQ(choose(dense, {4, 1, 3, 8}, options).inFlight, 2);
  EXPECT_EQ(choose(dense, {4, 1, 2, 8}, options).inFlight, 2);
  // Many sequences: a micro-batch more than stages hides what is sent.
  EXPECT_EQ(choose(dense, {4, 1, 2, 512}, options).inFlight, 3);
  // Few of them: two micro-batches would read all weights twice.
  CostModel moe = makeCosts(withLayers(gptMoe(6), 6), tokens, h100());
  EXPECT_EQ(choose(moe, {4, 4, 2, 16}, options).inFlight, 1);
}

/// What bounds leave out is never what all of them would have chosen.
TEST(RingOrder, ChoosesWhatEnumerationDoes) {
  int64_t leftOut = 0;
  for (const ModelConfig &config :
       {withLayers(deepSeekV3(), 2), withLayers(llama70B(), 3)})
    for (int64_t pp : {1, 2})
      for (int64_t batch : {8, 1536}) {
        Degrees degrees = {2, config.experts ? 4 : 1, pp, batch};
        CostModel costs = makeCosts(config, tokens, h100());
        RingOptions options = lists({1, 2, 3, 4}, {1, 2});
        auto some = orderRings(costs, plain(costs, degrees), options);
        options.prunes = false;
        auto all = orderRings(costs, plain(costs, degrees), options);
        ASSERT_TRUE(some && all);
        const OrderedRing &chosen = (*some)[fastest(*some)],
                          &best = (*all)[fastest(*all)];
        EXPECT_EQ(chosen.turn.period, best.turn.period);
        EXPECT_EQ(chosen.inFlight, best.inFlight);
        EXPECT_EQ(chosen.step.chunks, best.step.chunks);
        leftOut += int64_t(all->size() - some->size());
      }
  EXPECT_GT(leftOut, 0);
}

TEST(RingOrder, AStopLeavesAnAnswer) {
  CostModel costs = makeCosts(withLayers(deepSeekV3(), 5), tokens, h100());
  StopToken stop;
  stop.request(15);
  RingOptions options = lists({2, 3, 5}, {1, 2});
  options.prunes = false;
  options.solver.stop = &stop;
  auto rings = orderRings(costs, plain(costs, {2, 4, 3, 192}), options);
  ASSERT_TRUE(rings) << rings.error().message;
  ASSERT_EQ(rings->size(), 1u);
  EXPECT_EQ(rings->front().finder, "program_order");
  EXPECT_EQ(rings->front().replayed, rings->front().turn.period);
}

TEST(RingOrder, SaysWhatIsNoRing) {
  Degrees degrees = {2, 1, 2, 3};
  CostModel costs = makeCosts(withLayers(llama70B(), 4), tokens, h100());
  auto many = orderRings(costs, plain(costs, degrees), lists({4}, {1}));
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().message,
            "a data-parallel rank has 3 sequences, expected at most as many "
            "micro-batches, found 4");
  CostModel prompts =
      makeCosts(withLayers(llama70B(), 4), {Phase::Prefill, 2048}, h100());
  auto none = orderRings(prompts, plain(prompts, degrees), lists({1}, {1}));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "a ring is of decode, found prefill");
}

} // namespace
