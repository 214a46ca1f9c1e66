//===- ExpertOrdersTest.cpp - Orders by hand meet their formulas ----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/ExpertOrders.h"
#include "shardopt/Solvers/Schedule/Validate.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace shardopt;
using namespace shardopt::schedule;

namespace {

struct Measured {
  std::optional<int64_t> published;
  int64_t replayed, replayedPeak, retimed, retimedPeak;
};

} // namespace

static Measured measure(ExpertOrder order, int32_t devices,
                        int32_t microbatches, TrainTimes times = {}) {
  Pipeline pipeline{placementOf(order), devices, std::nullopt};
  int32_t copies = microbatches / pipeline.directions();
  Instance instance =
      *Instance::expand(makeTrainGraph(pipeline, times, copies), copies);
  auto blocks = makeBlocks(order, devices, microbatches);
  EXPECT_TRUE(blocks.has_value());
  PipelineTimes own{{blockTimes(times)}, 0};
  BlockReplay replayed = replay(*blocks, pipeline, own);
  ErrorOr<Verdict> published =
      validate(instance, scheduleOf(instance, *blocks, replayed, own));
  EXPECT_TRUE(published) << published.error().message;
  EXPECT_EQ(published->makespan, replayed.makespan);
  std::optional<Schedule> schedule = retimeBlocks(instance, *blocks);
  EXPECT_TRUE(schedule.has_value());
  ErrorOr<Verdict> verdict = validate(instance, *schedule);
  EXPECT_TRUE(verdict) << verdict.error().message;
  int64_t work = verdict->makespan - verdict->bubble();
  return {publishedBubble(order, devices, microbatches, own.chunks[0]),
          replayed.makespan - work,
          *std::max_element(replayed.peaks.begin(), replayed.peaks.end()),
          verdict->bubble(), verdict->peakMemory()};
}

TEST(ExpertOrders, DualPipeMeetsItsFormula) {
  for (auto [devices, microbatches, bubble] :
       {std::tuple(4, 8, 2), std::tuple(4, 12, 2), std::tuple(8, 16, 6),
        std::tuple(8, 20, 6), std::tuple(8, 40, 6), std::tuple(16, 40, 14)}) {
    Measured found = measure(ExpertOrder::DualPipe, devices, microbatches);
    EXPECT_EQ(found.published, bubble);
    EXPECT_EQ(found.replayed, bubble);
    EXPECT_EQ(found.replayedPeak, devices + 1);
    // Without blocks that hold back what they computed.
    EXPECT_EQ(found.retimed, bubble / 2);
    EXPECT_EQ(found.retimedPeak, devices + 1);
  }
}

TEST(ExpertOrders, DualPipeWithUnequalTimes) {
  for (auto [times, replayed, retimed] :
       {std::tuple(TrainTimes{10, 10, 8}, 66, 36),
        std::tuple(TrainTimes{10, 12, 10}, 66, 36),
        std::tuple(TrainTimes{297, 294, 199}, 2067, 1176),
        std::tuple(TrainTimes{185, 181, 93}, 1374, 819),
        std::tuple(TrainTimes{104, 102, 77}, 699, 387)}) {
    Measured found = measure(ExpertOrder::DualPipe, 8, 20, times);
    EXPECT_EQ(found.replayed, replayed);
    EXPECT_EQ(found.retimed, retimed);
  }
}

TEST(ExpertOrders, FoldedDualPipe) {
  Measured found = measure(ExpertOrder::DualPipeV, 4, 10);
  EXPECT_EQ(found.published, 6);
  EXPECT_EQ(found.replayed, 6);
  EXPECT_EQ(found.retimed, 3);
}

TEST(ExpertOrders, LinearOrdersMeetTheirFormulas) {
  for (auto [devices, microbatches] :
       {std::pair(4, 8), std::pair(8, 20), std::pair(16, 40)}) {
    Measured plain = measure(ExpertOrder::OneFOneB, devices, microbatches);
    EXPECT_EQ(plain.published, 3 * (devices - 1));
    EXPECT_EQ(plain.replayed, plain.published);
    EXPECT_EQ(plain.replayedPeak, devices);
    Measured zero = measure(ExpertOrder::ZeroBubbleH1, devices, microbatches);
    EXPECT_EQ(zero.published, devices - 1);
    EXPECT_EQ(zero.replayed, zero.published);
    EXPECT_EQ(zero.replayedPeak, devices);
  }
}

/// Peaks are activations of a chunk, of which 1F1B keeps `devices` of one or
/// two chunks, or two or four times as many halves or quarters.
TEST(ExpertOrders, FoldedOrdersTradeMemoryForTime) {
  for (auto [devices, microbatches] :
       {std::pair(4, 8), std::pair(6, 16), std::pair(8, 20)}) {
    int64_t whole = 2 * devices;
    Measured all = measure(ExpertOrder::ZeroBubbleV, devices, microbatches);
    Measured half = measure(ExpertOrder::VHalf, devices, microbatches);
    Measured third = measure(ExpertOrder::VMin, devices, microbatches);
    EXPECT_EQ(all.replayedPeak, whole);
    EXPECT_EQ(all.replayed, devices - 1); // half chunks: no device idles inside
    EXPECT_LE(half.replayedPeak, whole / 2 + 2);
    EXPECT_LE(third.replayedPeak, (whole + 2) / 3 + 2);
    EXPECT_LE(all.replayed, half.replayed);
    EXPECT_LE(half.replayed, third.replayed);
    Measured plain = measure(ExpertOrder::OneFOneB, devices, microbatches);
    EXPECT_LT(half.replayed, 2 * plain.replayed);
    // Nothing but single passes: there is nothing to re-time.
    EXPECT_EQ(third.retimed, third.replayed);
  }
}

TEST(ExpertOrders, ChimeraMeetsItsFormula) {
  for (int32_t devices : {4, 8, 16})
    for (TrainTimes times : {TrainTimes{1, 1, 1}, TrainTimes{2, 1, 1}}) {
      Measured found = measure(ExpertOrder::Chimera, devices, devices, times);
      EXPECT_EQ(found.replayed, found.published);
      EXPECT_LE(found.replayedPeak, devices);
    }
  Measured units = measure(ExpertOrder::Chimera, 8, 16);
  EXPECT_FALSE(units.published);
  EXPECT_LE(units.replayedPeak, 8);
  EXPECT_LT(units.replayed, measure(ExpertOrder::OneFOneB, 8, 16).replayed);
}

TEST(ExpertOrders, WavesIdleLessThanLinesAndKeepMore) {
  for (int32_t microbatches : {8, 20}) {
    Measured found = measure(ExpertOrder::Hanayo, 8, microbatches);
    Measured plain = measure(ExpertOrder::OneFOneB, 8, microbatches);
    // Quarters of a chunk.
    EXPECT_LT(found.replayed, 4 * plain.replayed);
    EXPECT_LE(found.replayedPeak, 4 * 12);
  }
}

TEST(ExpertOrders, SingleOperators) {
  for (auto [times, replayed] : {std::pair(ExpertTimes{2, 2, 2, 2}, 104),
                                 std::pair(ExpertTimes{3, 2, 2, 3}, 131),
                                 std::pair(ExpertTimes{2, 1, 2, 1}, 64),
                                 std::pair(ExpertTimes{3, 1, 3, 1}, 76)}) {
    Pipeline pipeline{Placement::Bidirectional, 8, 9};
    Instance instance =
        *Instance::expand(makeExpertTrainGraph(pipeline, times, 10), 10);
    auto blocks = makeBlocks(ExpertOrder::DualPipe, 8, 20);
    int64_t work = 3 * (times.attention + times.experts) * 20;
    EXPECT_EQ(replay(*blocks, pipeline, {{blockTimes(times)}, 0}).makespan -
                  work,
              replayed);
    std::optional<Schedule> schedule = retimeBlocks(instance, *blocks);
    ASSERT_TRUE(schedule.has_value());
    ErrorOr<Verdict> verdict = validate(instance, *schedule);
    ASSERT_TRUE(verdict) << verdict.error().message;
    EXPECT_LT(verdict->bubble(), replayed * 4 / 5);
  }
}

TEST(ExpertOrders, AreNotDefinedEverywhere) {
  EXPECT_FALSE(makeBlocks(ExpertOrder::DualPipe, 7, 20));
  EXPECT_FALSE(makeBlocks(ExpertOrder::DualPipe, 8, 21));
  EXPECT_FALSE(makeBlocks(ExpertOrder::DualPipe, 8, 14));
  EXPECT_FALSE(makeBlocks(ExpertOrder::DualPipeV, 8, 14));
  EXPECT_FALSE(makeBlocks(ExpertOrder::ZeroBubbleV, 8, 14));
  EXPECT_FALSE(makeBlocks(ExpertOrder::Chimera, 8, 7));
  EXPECT_FALSE(makeBlocks(ExpertOrder::VMin, 64, 65));
  EXPECT_TRUE(makeBlocks(ExpertOrder::OneFOneB, 8, 1));
}
