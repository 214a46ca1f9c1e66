//===- FullBackwardOrders.cpp - Orders that split no backward pass --------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockWriter.h"

#include <tuple>

using namespace shardopt;
using namespace shardopt::schedule;

//===----------------------------------------------------------------------===//
// Chimera
//===----------------------------------------------------------------------===//

namespace {

/// A block of one pass, and when it ends where every pass takes one slot.
struct Slot {
  int64_t end;
  int32_t direction;
  Block block;

  /// Of two in one slot the backward pass comes first, of two forward passes
  /// that of the later chunk.
  std::tuple<int64_t, bool, int32_t, int32_t> rank() const {
    bool isForward = block.forward.exists();
    const Block::Pass &pass = isForward ? block.forward : block.backward;
    return {end, isForward, -pass.chunk, direction};
  }
};

} // namespace

std::vector<std::vector<Block>> schedule::makeChimera(int32_t devices,
                                                      int32_t microbatches) {
  std::vector<std::vector<Slot>> slots(devices);
  PipelineTimes one{{{1, 1, 0, 1, 0}}};
  Pipeline line{Placement::Linear, devices, std::nullopt};
  for (int32_t done = 0; done < microbatches; done += devices) {
    int32_t each = std::min(devices, microbatches - done) / 2;
    auto unit = *makeBlocks(ExpertOrder::OneFOneB, devices, each);
    std::vector<std::vector<int64_t>> ends = replay(unit, line, one).ends;
    for (int32_t s = 0; s < devices; ++s)
      for (size_t k = 0; k < unit[s].size(); ++k)
        for (int32_t direction : {0, 1}) {
          Block block = unit[s][k];
          for (Block::Pass *pass :
               {&block.forward, &block.backward, &block.weight}) {
            if (!pass->exists())
              continue;
            pass->direction = direction;
            pass->microbatch += done / 2;
          }
          // A unit takes two slots of a device for each of its micro-batches.
          slots[direction ? devices - 1 - s : s].push_back(
              {ends[s][k] + 2 * done, direction, block});
        }
  }
  std::vector<std::vector<Block>> result(devices);
  for (int32_t d = 0; d < devices; ++d) {
    std::sort(slots[d].begin(), slots[d].end(),
              [](const Slot &a, const Slot &b) { return a.rank() < b.rank(); });
    for (const Slot &slot : slots[d])
      result[d].push_back(slot.block);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Hanayo
//===----------------------------------------------------------------------===//

namespace {

/// A run of the rule, with times of 1 for a forward and 2 for a full backward
/// pass of a chunk.
class WaveRun {
public:
  WaveRun(int32_t devices, int32_t microbatches)
      : devices(devices), microbatches(microbatches),
        forwards(pipeline.chunks()), backwards(pipeline.chunks()),
        chunksOf(devices), idle(devices, 0), result(devices) {
    for (int32_t chunk = 0; chunk < pipeline.chunks(); ++chunk)
      chunksOf[pipeline.deviceOf(0, chunk)].push_back(chunk);
  }

  std::vector<std::vector<Block>> run();

private:
  static constexpr int64_t forwardTime = 1, backwardTime = 2;

  /// When passes of a chunk ended: of the micro-batches in their order.
  using Ends = std::vector<int64_t>;

  /// Whether the next micro-batch of a chunk can pass it at `now`.
  bool canForward(int32_t chunk, int64_t now) const;
  bool canBackward(int32_t chunk, int64_t now) const;
  bool start(int32_t device, int64_t now);

  int32_t devices, microbatches;
  Pipeline pipeline{Placement::Wave, devices, std::nullopt};
  std::vector<Ends> forwards, backwards;      ///< by chunk
  std::vector<std::vector<int32_t>> chunksOf; ///< by device
  std::vector<int64_t> idle;                  ///< of devices: from when on
  std::vector<std::vector<Block>> result;
};

} // namespace

bool WaveRun::canForward(int32_t chunk, int64_t now) const {
  size_t next = forwards[chunk].size();
  if (next == size_t(microbatches))
    return false;
  if (chunk)
    return next < forwards[chunk - 1].size() &&
           forwards[chunk - 1][next] <= now;
  const Ends &left = backwards[0];
  auto gone = std::upper_bound(left.begin(), left.end(), now) - left.begin();
  return next - size_t(gone) < size_t(devices + devices / 2);
}

bool WaveRun::canBackward(int32_t chunk, int64_t now) const {
  size_t next = backwards[chunk].size();
  bool isLast = chunk + 1 == pipeline.chunks();
  const Ends &before = isLast ? forwards[chunk] : backwards[chunk + 1];
  return next < before.size() && before[next] <= now;
}

bool WaveRun::start(int32_t device, int64_t now) {
  std::tuple<bool, int32_t, int32_t> best; ///< backward, its order, chunk
  bool found = false;
  for (int32_t chunk : chunksOf[device]) {
    // The oldest micro-batch backward, the last chunk forward.
    if (canBackward(chunk, now)) {
      auto rank =
          std::make_tuple(true, -int32_t(backwards[chunk].size()), -chunk);
      if (!found || rank > best)
        best = rank;
      found = true;
    }
    if (canForward(chunk, now)) {
      auto rank = std::make_tuple(false, chunk, -chunk);
      if (!found || rank > best)
        best = rank;
      found = true;
    }
  }
  if (!found)
    return false;
  auto [isBackward, order, negative] = best;
  int32_t chunk = -negative;
  Ends &ends = (isBackward ? backwards : forwards)[chunk];
  Block block;
  Block::Pass pass{0, chunk, int32_t(ends.size())};
  if (isBackward)
    block.backward = block.weight = pass;
  else
    block.forward = pass;
  idle[device] = now + (isBackward ? backwardTime : forwardTime);
  ends.push_back(idle[device]);
  result[device].push_back(block);
  return true;
}

std::vector<std::vector<Block>> WaveRun::run() {
  size_t left = 2 * size_t(pipeline.chunks()) * size_t(microbatches);
  for (int64_t now = 0; left; ++now)
    for (int32_t d = 0; d < devices; ++d)
      if (idle[d] <= now && start(d, now))
        --left;
  return std::move(result);
}

std::vector<std::vector<Block>> schedule::makeHanayo(int32_t devices,
                                                     int32_t microbatches) {
  return WaveRun(devices, microbatches).run();
}
