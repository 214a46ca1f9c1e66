//===- ServingTest.cpp - Properties of predicted serving runs -------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ServingSetups.h"
#include "TestModels.h"
#include "shardopt/Cost/ServingRows.h"

#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::calibrated;
using namespace shardopt::cost::test;

namespace {

const char *const engines[] = {"trtllm", "vllm", "sglang"};

/// The last field but those behind it, of the only row of a prediction.
std::string lastField(const std::string &text) {
  return text.substr(text.rfind(',') + 1);
}

} // namespace

TEST(Serving, VersionsInOrder) {
  EXPECT_TRUE(isOlder("0.12.0", "0.14"));
  EXPECT_TRUE(isOlder("1.0.0rc3", "1.1"));
  EXPECT_TRUE(isOlder("v0.9", "0.10"));
  EXPECT_FALSE(isOlder("1.1.0rc2.post2", "1.1"));
  EXPECT_FALSE(isOlder("", "1.1"));
  EXPECT_FALSE(isOlder("nightly-dev", "1.1"));
  EXPECT_FALSE(isOlder("99999999999999999999", "1.1"));
}

TEST(Serving, StepsTakeLongerForMoreTokens) {
  for (const char *machine : {"h100_sxm", "h200_sxm", "b200_sxm"}) {
    const CalibratedKernels kernels = kernelsOf(machine);
    for (const char *name : engines)
      for (const ServingSetup &setup :
           {denseSetup(1), denseSetup(8), expertSetup()}) {
        SCOPED_TRACE(std::string(machine) + " " + name);
        const ServingEngine engine = engineOf(name);
        auto step = ServingStep::create(kernels, setup, engine);
        ASSERT_TRUE(step) << step.error().message;
        double before = 0;
        for (double sequences : {1, 2, 7, 16, 50, 128, 500}) {
          const double now = step->terms({sequences, 2000, 0, 0}).sum();
          EXPECT_GT(now, before) << sequences;
          EXPECT_GE(step->terms({sequences, 3000, 0, 0}).sum(), now);
          EXPECT_GT(step->terms({sequences, 2000, 512, 512}).sum(), now);
          before = now;
        }
        EXPECT_LT(before, 1e6);
      }
  }
}

TEST(Serving, FasterDevicesNeverRaiseATime) {
  const ServingLoad load = {1000, 500, 64};
  for (const ServingSetup &setup : {denseSetup(4), expertSetup()})
    for (const char *name : engines)
      for (double Device::*rate :
           {&Device::flops, &Device::bandwidth, &Device::link}) {
        CalibratedKernels kernels = kernelsOf("h200_sxm");
        const ServingEngine engine = engineOf(name);
        auto slow = serveAggregated(kernels, setup, engine, load);
        kernels.device.*rate *= 1.5;
        auto fast = serveAggregated(kernels, setup, engine, load);
        ASSERT_TRUE(slow && fast);
        EXPECT_LE(fast->tpot.ms, slow->tpot.ms);
        EXPECT_LE(fast->ttft.ms, slow->ttft.ms);
      }
}

TEST(Serving, LoadRaisesBothTimes) {
  const CalibratedKernels kernels = kernelsOf("h100_sxm");
  for (const char *name : engines)
    for (bool isTuned : {false, true}) {
      double tpot = 0, ttft = 0;
      for (double concurrency : {1, 2, 8, 32, 128, 512, 2048}) {
        auto times =
            serveAggregated(kernels, denseSetup(2), engineOf(name, isTuned),
                            {2048, 512, concurrency});
        ASSERT_TRUE(times) << times.error().message;
        EXPECT_GT(times->tpot.ms, tpot * 0.999) << concurrency;
        EXPECT_GT(times->ttft.ms, ttft) << concurrency;
        EXPECT_LE(times->tpot.low, times->tpot.ms);
        EXPECT_GE(times->tpot.high, times->tpot.ms);
        EXPECT_LE(times->admitted, concurrency);
        tpot = times->tpot.ms;
        ttft = times->ttft.ms;
      }
    }
}

TEST(Serving, RequestsWaitForRoomInTheCaches) {
  const CalibratedKernels kernels = kernelsOf("h100_sxm");
  ServingSetup setup = denseSetup(1);
  auto few = serveAggregated(kernels, setup, engineOf("vllm"), {4000, 500, 16});
  auto many =
      serveAggregated(kernels, setup, engineOf("vllm"), {4000, 500, 1024});
  ASSERT_TRUE(few && many);
  EXPECT_EQ(few->admitted, 16);
  EXPECT_LT(many->admitted, 1024);
  EXPECT_GT(many->ttft.ms, 10 * few->ttft.ms);

  setup.model.denseLayers = 400;
  auto none = serveAggregated(kernels, setup, engineOf("vllm"), {1000, 100, 1});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message,
            "the weights leave no memory for the cache of one request");
}

TEST(Serving, HalfAndNineInTenOfTheRequests) {
  const CalibratedKernels kernels = kernelsOf("h100_sxm");
  for (double share : {0.0, 0.05, 0.25, 1.0}) {
    SCOPED_TRACE(share);
    ServingEngine engine = engineOf("vllm");
    engine.burstShare = share;
    auto times =
        serveAggregated(kernels, denseSetup(1), engine, {4000, 500, 8});
    ASSERT_TRUE(times) << times.error().message;
    EXPECT_EQ(times->tpot.p50, times->tpot.ms);
    EXPECT_GT(times->tpot.p90, times->tpot.ms);
    EXPECT_LT(times->tpot.p90, 1.5 * times->tpot.ms);

    // Of eight requests at once the last waits for all; a hundred, of which
    // such a share is in a burst, have this mean and these quantiles.
    engine.burstShare = 0;
    auto apart =
        serveAggregated(kernels, denseSetup(1), engine, {4000, 500, 8});
    const double longest = 2 * (times->ttft.ms - apart->ttft.ms) / share;
    auto waitOf = [&](double part) {
      return share == 0 || part <= 1 - share
                 ? 0
                 : (part - (1 - share)) / share * longest;
    };
    EXPECT_NEAR(times->ttft.p50, apart->ttft.ms + waitOf(0.5), 1e-6);
    EXPECT_NEAR(times->ttft.p90, apart->ttft.ms + waitOf(0.9), 1e-6);
  }
}

TEST(Serving, DecodersApartGiveAllRequestsOneTpot) {
  const CalibratedKernels kernels = kernelsOf("h200_sxm");
  const ServingWorkers workers = {denseSetup(1), 1};
  for (double concurrency : {4, 4096}) {
    auto times = serveDisaggregated(kernels, workers, workers, engineOf("vllm"),
                                    {2000, 500, concurrency});
    ASSERT_TRUE(times) << times.error().message;
    EXPECT_EQ(times->tpot.p50, times->tpot.ms);
    EXPECT_EQ(times->tpot.p90, times->tpot.ms);
    EXPECT_LE(times->ttft.p50, times->ttft.ms);
    EXPECT_GE(times->ttft.p90, times->ttft.p50);
  }
}

TEST(Serving, TheLargestTermDominates) {
  ServingStep::Terms terms;
  terms.gemm = 3;
  terms.experts = 5;
  terms.launch = 5;
  EXPECT_STREQ(terms.dominating().first, "experts");
  EXPECT_EQ(terms.dominating().second, 5);
  double sum = 0;
  for (const auto &[name, us] : terms.named())
    sum += us;
  EXPECT_EQ(sum, terms.sum());
}

/// Weights that a device of the published models holds.
TEST(Serving, BytesOfWeights) {
  EXPECT_NEAR(weightBytes(denseSetup(1)), 16.06e9, 0.01e9);
  EXPECT_NEAR(weightBytes(denseSetup(4)), 16.06e9 / 4, 0.01e9);
  // 671e9 parameters, bf16 embeddings and routers.
  EXPECT_NEAR(weightBytes(expertSetup()) * 8, 671e9, 0.02 * 671e9);
  EXPECT_EQ(cacheBytesPerToken(denseSetup(1)), 2 * 2 * 8 * 128 * 32);
  EXPECT_EQ(cacheBytesPerToken(denseSetup(16)), 2 * 2 * 128 * 32);
  EXPECT_EQ(cacheBytesPerToken(expertSetup()), 576 * 61);
}

TEST(Serving, DisaggregatedDecodesWithoutPrompts) {
  const CalibratedKernels kernels = kernelsOf("b200_sxm");
  const ServingWorkers readers = {expertSetup(), 2},
                       decoders = {expertSetup(), 1};
  const ServingEngine engine = engineOf("trtllm");
  auto apart =
      serveDisaggregated(kernels, readers, decoders, engine, {8000, 1000, 64});
  auto together =
      serveAggregated(kernels, expertSetup(), engine, {8000, 1000, 64});
  ASSERT_TRUE(apart && together);
  EXPECT_LT(apart->tpot.ms, together->tpot.ms);
  EXPECT_GT(apart->ttft.ms, 0);
}

TEST(Serving, DisaggregatedRequestsWaitForReadersAndForRoom) {
  const CalibratedKernels kernels = kernelsOf("h200_sxm");
  const ServingWorkers workers = {denseSetup(1), 1};
  for (double input : {200.0, 20000.0}) {
    double ttft = 0;
    for (double concurrency : {1, 16, 256, 4096}) {
      auto times =
          serveDisaggregated(kernels, workers, workers, engineOf("vllm"),
                             {input, 2000, concurrency});
      ASSERT_TRUE(times) << times.error().message;
      EXPECT_GE(times->ttft.ms, ttft);
      EXPECT_LE(times->sequences, times->admitted);
      ttft = times->ttft.ms;
    }
    EXPECT_GT(ttft, 10000);
  }
}

TEST(Serving, RowsSayWhatIsWrong) {
  auto predict = [](const std::string &row) {
    ErrorOr<std::string> text = predictServing(
        "system,backend,model,isl,osl,concurrency\n" + row, "x.csv",
        [](const std::string &) -> ErrorOr<ServedModel> {
          return denseModel();
        });
    return text ? lastField(*text) : text.error().message;
  };
  EXPECT_EQ(predict("h100_sxm,vllm,m,1000,100,8\n"), "extrapolated: model\n");
  EXPECT_EQ(predict("h100_sxm,vllm,m,1000,100,\n"),
            "concurrency is '' and not a number of at least 1\n");
  EXPECT_EQ(predict("h100_sxm,vllm,m,1000,100\n"),
            "x.csv:2: 5 fields, expected the 6 of line 1");
}

//===----------------------------------------------------------------------===//
// What users know of their requests
//===----------------------------------------------------------------------===//

TEST(Serving, DraftsCostLessThanTheyGain) {
  const CalibratedKernels kernels = kernelsOf("h200_sxm");
  for (const ServingSetup &setup : {denseSetup(4), expertSetup()})
    for (const char *name : engines) {
      const ServingEngine engine = engineOf(name);
      ServingLoad load = {1000, 500, 8};
      auto plain = serveAggregated(kernels, setup, engine, load);
      load.traits.drafts = 3;
      auto rejected = serveAggregated(kernels, setup, engine, load);
      load.traits.accepted = 2;
      auto accepted = serveAggregated(kernels, setup, engine, load);
      ASSERT_TRUE(plain && rejected && accepted);
      EXPECT_GT(rejected->tpot.ms, plain->tpot.ms);
      EXPECT_LT(accepted->tpot.ms, plain->tpot.ms);
      EXPECT_GT(accepted->tpot.ms, plain->tpot.ms / 3);
    }
}

TEST(Serving, WhatACacheHasIsNotRead) {
  const CalibratedKernels kernels = kernelsOf("h200_sxm");
  for (const ServingSetup &setup : {denseSetup(4), expertSetup()}) {
    const ServingEngine engine = engineOf("vllm");
    double ttft = 1e9, tpot = 1e9;
    for (double found : {0., 0.2, 0.5, 0.9, 0.999}) {
      ServingLoad load = {8000, 500, 32};
      load.traits.found = found;
      auto times = serveAggregated(kernels, setup, engine, load);
      auto apart =
          serveDisaggregated(kernels, {setup, 2}, {setup, 2}, engine, load);
      ASSERT_TRUE(times && apart);
      EXPECT_LT(times->ttft.ms, ttft);
      EXPECT_LT(times->tpot.ms, tpot);
      ttft = times->ttft.ms;
      tpot = times->tpot.ms;
    }
  }
}

TEST(Serving, SkewSlowsGroupsOfExpertsAlone) {
  const CalibratedKernels kernels = kernelsOf("h200_sxm");
  const ServingEngine engine = engineOf("sglang");
  ServingLoad load = {1000, 500, 512};
  ServingSetup setup = expertSetup();
  auto cut = serveAggregated(kernels, setup, engine, load);
  load.traits.skew = 1;
  auto skewed = serveAggregated(kernels, setup, engine, load);
  ASSERT_TRUE(cut && skewed);
  EXPECT_EQ(cut->tpot.ms, skewed->tpot.ms);
  std::swap(setup.expertTp, setup.expertEp);
  skewed = serveAggregated(kernels, setup, engine, load);
  load.traits.skew = 0;
  auto even = serveAggregated(kernels, setup, engine, load);
  ASSERT_TRUE(skewed && even);
  EXPECT_GT(skewed->tpot.ms, even->tpot.ms);
}

TEST(Serving, FirstTokensAreHeldForSteps) {
  const CalibratedKernels kernels = kernelsOf("h100_sxm");
  const ServingWorkers workers = {denseSetup(1), 1};
  const ServingLoad load = {1000, 500, 16};
  ServingEngine engine = engineOf("trtllm");
  auto both = [&] {
    return std::pair(
        *serveAggregated(kernels, denseSetup(1), engine, load),
        *serveDisaggregated(kernels, workers, workers, engine, load));
  };
  auto [together, apart] = both();
  engine.heldSteps = 19;
  auto [laterTogether, laterApart] = both();
  for (auto [now, later] :
       {std::pair(together, laterTogether), std::pair(apart, laterApart)}) {
    EXPECT_EQ(later.tpot.ms, now.tpot.ms);
    EXPECT_NEAR(later.ttft.ms - now.ttft.ms, 19 * now.tpot.ms, 1e-6);
    EXPECT_NEAR(later.ttft.p50 - now.ttft.p50, 19 * now.tpot.ms, 1e-6);
  }
}

TEST(Serving, PromptsOfAStepAreReadTogether) {
  const CalibratedKernels kernels = kernelsOf("h200_sxm");
  ServingEngine engine = engineOf("sglang", false);
  EXPECT_TRUE(engine.readsApart);
  EXPECT_TRUE(engine.hasEqualLengths);
  EXPECT_FALSE(engineOf("sglang").hasEqualLengths);
  EXPECT_FALSE(engineOf("vllm", false).readsApart);
  auto tpot = [&](double concurrency, bool isApart, bool isEqual) {
    engine.readsApart = isApart;
    engine.hasEqualLengths = isEqual;
    auto times = serveAggregated(kernels, denseSetup(4), engine,
                                 {1000, 100, concurrency});
    EXPECT_TRUE(times) << times.error().message;
    return times->tpot.ms;
  };
  // Of one request there are no others whose prompts could be read.
  EXPECT_EQ(tpot(1, true, true), tpot(1, false, false));
  for (double concurrency : {4, 32, 256}) {
    SCOPED_TRACE(concurrency);
    // A step of their own reads the weights again, and a large one is cheaper
    // than several small ones.
    EXPECT_GT(tpot(concurrency, true, false), tpot(concurrency, false, false));
    EXPECT_LT(tpot(concurrency, true, true), tpot(concurrency, true, false));
    // Where prompts ride on steps that decode, requests do not end together.
    EXPECT_EQ(tpot(concurrency, false, true), tpot(concurrency, false, false));
  }
  // Those that are read together do not wait for each other's prompts.
  EXPECT_LT(tpot(8, true, true), 1.1 * tpot(1, true, true));
  EXPECT_GT(tpot(32, true, true), 1.1 * tpot(8, true, true));
}

TEST(Serving, CachesGoOverTheSlowerNetwork) {
  const CalibratedKernels slow = kernelsOf("l40s"),
                          fast = kernelsOf("b200_sxm");
  ASSERT_LT(slow.device.network, fast.device.network);
  const ServingWorkers workers = {denseSetup(1), 1};
  const ServingEngine engine = engineOf("vllm");
  const ServingLoad load = {2000, 200, 8};
  auto sent = [&](const CalibratedKernels &decoding,
                  const CalibratedKernels *reading) {
    auto times =
        serveDisaggregated(decoding, workers, workers, engine, load, reading);
    EXPECT_TRUE(times) << times.error().message;
    return times ? times->sentUs : 0;
  };
  EXPECT_EQ(sent(slow, nullptr), sent(slow, &fast));
  EXPECT_EQ(sent(slow, nullptr), sent(fast, &slow));
  EXPECT_LT(sent(fast, nullptr), sent(fast, &slow));
  EXPECT_EQ(sent(fast, nullptr), sent(fast, &fast));
}

TEST(Serving, StatesTakeTimeWhateverTheContext) {
  const CalibratedKernels kernels = kernelsOf("h100_sxm");
  auto served =
      servedModelOf(makeModel(qwen35Dense27B(), {Phase::Decode, 8192}));
  ASSERT_TRUE(served) << served.error().message;
  ServingSetup setup = setupOf(*served);
  setup.tp = 4;
  const ServingEngine engine = engineOf("sglang");
  auto attentionUs = [&](const ServedModel &model, double context) {
    ServingSetup of = setup;
    of.model = model;
    auto step = ServingStep::create(kernels, of, engine);
    EXPECT_TRUE(step) << step.error().message;
    return step->terms({64, context, 0, 0}).attention;
  };
  // The nets are three of four layers: they read and write states of 3 MB.
  const double shortContext = attentionUs(*served, 1000);
  const double longContext = attentionUs(*served, 101000);
  ServedModel whole = *served;
  whole.net.layers = 0;
  whole.spans = {{0, 64}};
  EXPECT_NEAR(longContext - shortContext,
              (attentionUs(whole, 101000) - attentionUs(whole, 1000)) / 4,
              1e-6 * longContext);
  const double state = 48 * 64 * 12 * 128 * 128 * 4 * 2 / 3.35e6;
  EXPECT_GT(shortContext, state);
}

TEST(ServedProgram, SizesAreThoseOfTheOps) {
  auto served = servedModelOf(makeModel(llama70B(), {Phase::Decode, 8192}));
  ASSERT_TRUE(served) << served.error().message;
  EXPECT_EQ(served->denseInner, 28672);
  EXPECT_EQ(served->sharedInner, 0);
  EXPECT_EQ(served->denseLayers, 80);
  EXPECT_EQ(served->kvHeads, 8);
  EXPECT_EQ(served->vocab, 128256);
  served = servedModelOf(makeModel(deepSeekV3(), {Phase::Decode, 8192}));
  ASSERT_TRUE(served) << served.error().message;
  const ServedModel known = expertModel();
  EXPECT_EQ(served->queryRank, known.queryRank);
  EXPECT_EQ(served->latentRank, known.latentRank);
  EXPECT_EQ(served->denseInner, known.denseInner);
  EXPECT_EQ(served->sharedInner, known.sharedInner);
  EXPECT_EQ(served->expertInner, known.expertInner);
  EXPECT_EQ(served->expertLayers, known.expertLayers);
  EXPECT_EQ(served->topk, known.topk);
  served = servedModelOf(makeModel(qwen35Dense27B(), {Phase::Decode, 8192}));
  ASSERT_TRUE(served) << served.error().message;
  EXPECT_EQ(served->net.layers, 48);
  EXPECT_EQ(served->attentionLayers(), 16);
  EXPECT_EQ(served->spans.size(), 1u);
  EXPECT_TRUE(served->isGated);
}
