//===- OverlapTest.cpp - Steps on two micro-batches -----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../ServingWorkers.h"

#include <random>

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::test;

namespace {

/// Workers of `tp` 1 that exchange the rows of their experts.
Degrees wide(int64_t devices) {
  Degrees degrees(1, devices, 1, 1);
  degrees.dp = devices;
  return degrees;
}

/// Layers of a model on machines with NVLink domains of 8.
struct Wide {
  Wide(const ModelConfig &config, int64_t devices)
      : served(config, "sglang", wide(devices), measured("h100_sxm")),
        degrees(wide(devices)),
        layers(std::make_shared<const LayerTimes>(
            served.costs, megatron(served.costs.model(), degrees), std::nullopt,
            served.engine.expertReach, 0)) {}

  StepTimes steps(Overlap overlap) const { return {layers, degrees, overlap}; }

  Served served;
  Degrees degrees;
  std::shared_ptr<const LayerTimes> layers;
};

StepMix decodeOf(double sequences) {
  StepMix mix;
  mix.sequences = sequences;
  mix.context = 2000;
  return mix;
}

StepMix promptsOf(double tokens) {
  StepMix mix;
  mix.tokens = tokens;
  mix.prompt = 4096;
  return mix;
}

/// Seconds of the layers of `model` where halves hand over at each exchange,
/// one phase after the other.
double scheduled(const Wide &model, const StepMix &mix, double share) {
  StepMix half = mix;
  half.sequences /= 2;
  half.tokens /= 2;
  LayerTimes::Step step = model.layers->at(half);
  auto both = [&](double compute, double exchange) {
    return std::max(exchange, compute + share * exchange);
  };
  const LayerIndex &index = model.served.costs.layers();
  double sum = 0, returning = 0; // what the second half still waits for
  for (int64_t i = 0; i < index.numLayers(); ++i) {
    unsigned kind = index.kindNumberOfLayer(i);
    const LayerTimes::Exchange &sent = step.exchanges[kind];
    double front =
        step.kinds[kind].sum() - sent.dispatch - sent.experts - sent.combine;
    sum += both(front, returning);     // a, while rows of b come back
    sum += both(front, sent.dispatch); // b, while a sends
    sum += both(sent.experts, sent.dispatch);
    sum += both(sent.experts, sent.combine);
    returning = sent.combine;
  }
  return sum + returning;
}

/// Of what is around the layers.
double outside(const Wide &model, const StepMix &mix) {
  const LayerTimes::Step &step = model.layers->at(mix);
  StepTerms terms;
  LayerTimes::add(step.embed, terms);
  LayerTimes::add(step.head, terms);
  return terms.sum();
}

TEST(Overlap, IsTheScheduleOfItsPhases) {
  Wide model(qwen3Moe235B(), 16);
  StepTimes steps = model.steps(Overlap::Always);
  for (double count : {2, 16, 64, 256, 1000}) {
    StepMix mix = decodeOf(count);
    double wanted =
        scheduled(model, mix, decodeExchangeShare) + outside(model, mix);
    EXPECT_NEAR(steps.seconds(mix), wanted, 1e-9 * wanted) << count;
    mix = promptsOf(64 * count);
    wanted = scheduled(model, mix, promptExchangeShare) + outside(model, mix);
    EXPECT_NEAR(steps.seconds(mix), wanted, 1e-9 * wanted) << count;
  }
}

TEST(Overlap, LosesInSmallBatchesAndPaysInLargeOnes) {
  Wide model(deepSeekV3(), 64);
  StepTimes once = model.steps(Overlap::Never),
            always = model.steps(Overlap::Always),
            faster = model.steps(Overlap::Faster);
  EXPECT_GT(always.seconds(decodeOf(16)), once.seconds(decodeOf(16)));
  EXPECT_LT(always.seconds(decodeOf(512)), once.seconds(decodeOf(512)));
  EXPECT_LT(always.seconds(promptsOf(8192)), once.seconds(promptsOf(8192)));
  for (double count : {1, 4, 16, 64, 256, 1024}) {
    double least = std::min(once.seconds(decodeOf(count)),
                            always.seconds(decodeOf(count)));
    EXPECT_LE(faster.seconds(decodeOf(count)), least * (1 + 1e-12)) << count;
    EXPECT_NEAR(faster.terms(decodeOf(count)).sum(),
                faster.seconds(decodeOf(count)), 1e-12);
  }
}

TEST(Overlap, MoreTakesNoLessTime) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> share(0, 1);
  for (const ModelConfig &config : {deepSeekV3(), qwen3Moe235B()}) {
    Wide model(config, 16);
    for (Overlap overlap : {Overlap::Faster, Overlap::Always}) {
      StepTimes steps = model.steps(overlap);
      for (int i = 0; i < 60; ++i) {
        StepMix low = decodeOf(random() % 4 ? 300 * share(random) : 0);
        low.sequences *= share(random);
        low.tokens = random() % 2 ? 0 : 9000 * share(random);
        low.prompt = 1 + 4000 * share(random);
        StepMix high = low;
        high.sequences *= 1 + share(random);
        high.tokens *= 1 + share(random);
        EXPECT_LE(steps.seconds(low), steps.seconds(high) * (1 + 1e-12))
            << low.sequences << " " << low.tokens;
      }
    }
  }
}

} // namespace
