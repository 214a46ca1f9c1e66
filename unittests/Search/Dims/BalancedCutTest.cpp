//===- BalancedCutTest.cpp - Tests of the best division into stages -------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Tables/BalancedCut.h"
#include "shardopt/Cost/Tables/Evaluate.h"
#include "shardopt/Search/Dims/OptimalDims.h"
#include "shardopt/Support/Rng.h"

#include "../../Cost/TestModels.h"

#include <gtest/gtest.h>

#include <functional>

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::test;

namespace {

constexpr DimSet cutDims = 0b111; // but `dimBoth`

/// All ways to divide `numLayers` layers over `pp` stages.
void forAllCuts(int64_t numLayers, int64_t pp,
                const std::function<void(const StageCut &)> &visit) {
  StageCut cut;
  auto extend = [&](auto &self, int64_t left) -> void {
    int64_t stagesLeft = pp - int64_t(cut.layers.size());
    if (stagesLeft == 1) {
      cut.layers.push_back(left);
      visit(cut);
      cut.layers.pop_back();
      return;
    }
    for (int64_t layers = 1; layers <= left - stagesLeft + 1; ++layers) {
      cut.layers.push_back(layers);
      self(self, left - layers);
      cut.layers.pop_back();
    }
  };
  extend(extend, numLayers);
}

Pipeline measure(const LayerChain &chain, const StageCut &cut) {
  Pipeline pipeline;
  size_t layer = 0;
  for (size_t stage = 0; stage < cut.layers.size(); ++stage) {
    double seconds = stage == 0 ? chain.embedSeconds : 0;
    double bytes = stage == 0 ? chain.embedBytes : 0;
    for (int64_t i = 0; i < cut.layers[stage]; ++i, ++layer) {
      seconds += chain.seconds[layer];
      bytes += chain.bytes[layer];
    }
    bool isLast = stage + 1 == cut.layers.size();
    seconds += isLast ? chain.headSeconds : chain.sendSeconds[layer - 1];
    bytes += isLast ? chain.headBytes : 0;
    pipeline.addStages(1, seconds, bytes);
  }
  return pipeline;
}

TEST(BalancedCut, IsTheBestOfAllCuts) {
  Rng rng(5);
  unsigned numMemory = 0, numSlo = 0;
  for (int i = 0; i < 2000; ++i) {
    int64_t numLayers = 2 + int64_t(rng.below(7));
    int64_t pp = 2 + int64_t(rng.below(numLayers - 1));
    LayerChain chain(numLayers);
    bool sendsDiffer = rng.below(2);
    for (int64_t layer = 0; layer < numLayers; ++layer) {
      chain.seconds[layer] = 0.25 * double(1 + rng.below(4));
      chain.bytes[layer] = double(1 + rng.below(4));
      chain.sendSeconds[layer] = 0.125 * double(sendsDiffer ? rng.below(8) : 1);
    }
    chain.embedSeconds = 0.125 * double(rng.below(3));
    chain.headSeconds = 0.5 * double(rng.below(6));
    chain.embedBytes = double(rng.below(3));
    chain.headBytes = double(rng.below(3));
    Workload workload{rng.below(2) ? Phase::Decode : Phase::Prefill, 64};
    Context context = makeContext(
        workload, Degrees(1, 1, pp, 1 + int64_t(rng.below(2 * pp))));
    Limits limits;
    limits.memoryBytes = 2 + double(rng.below(16));
    limits.latencySeconds = 1 + double(rng.below(12));

    std::optional<Evaluation> best;
    double leastBytes = 1e9;
    bool isAnyInMemory = false;
    forAllCuts(numLayers, pp, [&](const StageCut &cut) {
      Pipeline pipeline = measure(chain, cut);
      Evaluation found = judge(pipeline, context, limits);
      leastBytes = std::min(leastBytes, pipeline.maxBytes);
      isAnyInMemory |= found.reason != Reason::Memory;
      if (found.valid && (!best || found.throughput > best->throughput))
        best = found;
    });
    StageCut cut = balancedCut(chain, context, limits);
    ASSERT_EQ(stageCutError(cut, pp, numLayers), std::nullopt);
    Pipeline pipeline = measure(chain, cut);
    Evaluation found = judge(pipeline, context, limits);
    if (best) {
      ASSERT_TRUE(found.valid) << i;
      EXPECT_NEAR(found.throughput, best->throughput, 1e-12 * best->throughput);
    } else if (isAnyInMemory) {
      ++numSlo;
      EXPECT_EQ(found.reason, Reason::Slo);
    } else {
      ++numMemory;
      EXPECT_NEAR(pipeline.maxBytes, leastBytes, 1e-9);
    }
  }
  EXPECT_GT(numMemory, 50u);
  EXPECT_GT(numSlo, 50u);
}

TEST(BalancedCut, WhatIsEvenStaysSo) {
  LayerChain chain(12);
  for (size_t layer = 0; layer < 12; ++layer)
    chain.seconds[layer] = chain.bytes[layer] = 1;
  Limits limits;
  limits.memoryBytes = limits.latencySeconds = 100;
  Context context = makeContext({Phase::Decode, 64}, Degrees(1, 1, 4, 16));
  EXPECT_TRUE(balancedCut(chain, context, limits).isEven());
  // A head of three layers.
  chain.headSeconds = 3;
  EXPECT_EQ(balancedCut(chain, context, limits).layers.back(), 1);
}

/// The same costs with the best cut in the place of even stages.
CostModel balanced(const CostModel &costs, const Machine &machine) {
  auto time = std::make_shared<Roofline>(machine, CommModel::Fast);
  return CostModel(costs.model(), time, machine.expertSkew, costs.limits(),
                   StageDivision::Balanced);
}

void expectBestCut(ModelConfig config, const Workload &workload) {
  config.layers = 7;
  CostModel even = makeCosts(config, workload, h200());
  CostModel costs = balanced(even, h200());
  Rng rng(9);
  for (int i = 0; i < 40; ++i) {
    Degrees degrees(int64_t(1) << rng.below(4), 1, 1 + int64_t(rng.below(5)),
                    int64_t(1) << rng.below(10));
    Strategy s{degrees, {}};
    for (size_t op = 0; op < even.model().numVariables(); ++op)
      s.dims.push_back(static_cast<Dim>(rng.below(3)));
    double best = 0;
    if (degrees.pp == 1)
      best = evaluate(even, s).throughput;
    else
      forAllCuts(7, degrees.pp, [&](const StageCut &cut) {
        Strategy at = s;
        at.degrees.stages = cut;
        Evaluation found = evaluate(even, at);
        if (found.valid)
          best = std::max(best, found.throughput);
      });
    Evaluation found = evaluate(costs, s);
    if (best > 0 || found.valid)
      EXPECT_NEAR(found.throughput, best, 1e-11 * best) << spell(degrees);
    // What it chose costs as much where it is said.
    Strategy said = s;
    said.degrees.stages = chooseStages(costs, s);
    Evaluation again = evaluate(even, said);
    EXPECT_EQ(again.throughput, found.throughput);
    EXPECT_EQ(again.memoryGb, found.memoryGb);
    EXPECT_EQ(again.reason, found.reason);
  }
}

TEST(BalancedCut, CostsAreThoseOfTheBestCut) {
  expectBestCut(llama70B(), {Phase::Decode, 8192});
  expectBestCut(deepSeekV3(), {Phase::Decode, 4096});
  expectBestCut(deepSeekV3(), {Phase::Prefill, 2048});
  expectBestCut(gptOss120B(), {Phase::Decode, 65536});
}

/// Dims and cuts together, against all of both.
TEST(BalancedCut, OptimalDimsAreThoseOfTheBestCuts) {
  Rng rng(13);
  for (const ModelConfig &wide : {deepSeekV3(), gptOss120B(), llama70B()})
    for (Phase phase : {Phase::Decode, Phase::Prefill}) {
      ModelConfig config = wide;
      config.layers = 5;
      config.denseLayers = std::min<int64_t>(config.denseLayers, 2);
      CostModel even = makeCosts(config, {phase, 4096}, h200());
      CostModel costs = balanced(even, h200());
      size_t size = even.model().numVariables();
      for (int i = 0; i < 6; ++i) {
        std::vector<DimSet> domains(size);
        for (DimSet &domain : domains)
          domain = only(static_cast<Dim>(rng.below(3)));
        for (int free = 0; free < 5; ++free)
          domains[rng.below(size)] = cutDims;
        Degrees degrees(int64_t(1) << rng.below(4), 1,
                        2 + int64_t(rng.below(3)), int64_t(1) << rng.below(9));
        double best = 0;
        forAllCuts(5, degrees.pp, [&](const StageCut &cut) {
          Degrees at = degrees;
          at.stages = cut;
          if (auto found =
                  optimalDims(Tables(even, at), domains, Goal::Throughput))
            best = std::max(best, found->evaluation.throughput);
        });
        Tables tables(costs, degrees);
        auto found = optimalDims(tables, domains, Goal::Throughput);
        ASSERT_EQ(found.has_value(), best > 0);
        if (!found)
          continue;
        EXPECT_NEAR(found->evaluation.throughput, best, 1e-11 * best);
        DimsBound bound = boundDims(tables, domains, Goal::Throughput);
        EXPECT_GE(bound.value * (1 + 1e-11), best);
      }
    }
}

} // namespace
