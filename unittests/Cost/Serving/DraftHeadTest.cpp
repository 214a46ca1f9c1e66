//===- DraftHeadTest.cpp - What drafts cost -------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../ServingWorkers.h"

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::test;

namespace {

/// Steps of DeepSeek-V3 with more layers or none, under a head.
class Heads {
public:
  explicit Heads(int64_t more = 0)
      : engine(engineOf("sglang")),
        costs(makeModel(longer(more), {Phase::Decode, 1024}), clock(),
              std::nullopt, Limits()) {}

  StepTimes steps(const DraftHead &drafter,
                  const Degrees &degrees = experts(8, 1, 8)) const {
    return StepTimes(costs, megatron(costs.model(), degrees), std::nullopt,
                     engine.expertReach, 0, drafter);
  }

private:
  static ModelConfig longer(int64_t more) {
    ModelConfig config = deepSeekV3();
    config.layers += more;
    return config;
  }
  std::shared_ptr<const EngineClock> clock() const {
    auto found = EngineClock::create(measured("h200_sxm"), engine);
    EXPECT_TRUE(found);
    return *found;
  }

  ServingEngine engine;
  CostModel costs;
};

StepMix mixOf(double sequences, double drafts) {
  StepMix mix;
  mix.sequences = sequences;
  mix.context = 4096;
  mix.drafts = drafts;
  return mix;
}

const DraftHead mtp{/*layers=*/1, /*parameters=*/0};

TEST(DraftHead, HoldsALayerOnce) {
  Heads model, longer(1);
  StageMemory drafted = model.steps(mtp).memory(4096)[0],
              layer = longer.steps({}).memory(4096)[0];
  constexpr double projection = 2.0 * 7168 * 7168 * 2;
  EXPECT_NEAR(drafted.weights, layer.weights + projection, 1);
  EXPECT_NEAR(drafted.cache, layer.cache, 1e-6);
}

TEST(DraftHead, TakesAPassOfALayerForEachDraft) {
  Heads model, longer(1);
  StepTimes steps = model.steps(mtp), plain = model.steps({});
  double before = 0;
  for (double drafts : {1, 2, 3, 4}) {
    StepMix mix = mixOf(64, drafts);
    double head = steps.seconds(mix) - plain.seconds(mix);
    double layer =
        longer.steps({}).seconds(mixOf(64, 0)) - plain.seconds(mixOf(64, 0));
    EXPECT_GT(head, before + layer) << drafts;
    EXPECT_LT(head, 0.2 * plain.seconds(mix)) << drafts;
    before = head;
  }
  StepMix none = mixOf(64, 0);
  EXPECT_EQ(steps.seconds(none), plain.seconds(none));
}

TEST(DraftHead, LargerOnesTakeMore) {
  Heads model;
  double before = model.steps({}).seconds(mixOf(64, 3));
  double held = model.steps({}).memory(4096)[0].weights;
  for (double parameters : {5e8, 1e9, 4e9}) {
    StepTimes steps = model.steps({0, parameters});
    EXPECT_GT(steps.seconds(mixOf(64, 3)), before);
    EXPECT_NEAR(steps.memory(4096)[0].weights - held, parameters * 2 / 8, 1);
    before = steps.seconds(mixOf(64, 3));
  }
}

TEST(DraftHead, PaysInSmallBatches) {
  // With all heads on a device, attention multiplies as long as it reads.
  Heads model;
  StepTimes steps = model.steps(mtp, experts(1, 8, 8));
  auto gain = [&](double sequences) {
    constexpr double accepted = 0.6;
    return (1 + accepted) * steps.seconds(mixOf(sequences, 0)) /
           steps.seconds(mixOf(sequences, 1));
  };
  EXPECT_GT(gain(4), 1.2);
  EXPECT_LT(gain(1024), 1);
}

} // namespace
