//===- ExpertOrders.cpp - Orders of pipelines made by hand ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockWriter.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::schedule;

int64_t PipelineTimes::of(const Block &block) const {
  int64_t time = 0;
  if (block.forward.exists())
    time += at(block.forward).forward;
  if (block.backward.exists())
    time += block.weight.exists() ? at(block.backward).full
                                  : at(block.backward).inputGradient;
  else if (block.weight.exists())
    time += at(block.weight).weightGradient;
  if (block.forward.exists() && block.backward.exists())
    time -= std::min(at(block.forward).hidden, at(block.backward).hidden);
  return time;
}

BlockTimes schedule::blockTimes(const TrainTimes &times) {
  int64_t full = times.inputGradient + times.weightGradient;
  return {times.forward, times.inputGradient, times.weightGradient, full, 0};
}

PipelineTimes schedule::pipelineTimes(const TrainChunks &train) {
  PipelineTimes times{{}, train.send};
  for (const TrainChunks::Chunk &chunk : train.chunks)
    times.chunks.push_back(blockTimes(chunk.times));
  bool isUniform = std::all_of(
      times.chunks.begin(), times.chunks.end(), [&](const BlockTimes &own) {
        const BlockTimes &first = times.chunks[0];
        return own.forward == first.forward &&
               own.inputGradient == first.inputGradient &&
               own.weightGradient == first.weightGradient;
      });
  if (isUniform)
    times.chunks.resize(1);
  return times;
}

BlockTimes schedule::blockTimes(const ExpertTimes &times) {
  int64_t compute = times.attention + times.experts;
  int64_t comm = times.dispatch + times.combine;
  int64_t full = times.combine + times.experts +
                 std::max(times.dispatch, times.experts) + 2 * times.attention;
  int64_t overlapped = std::max(3 * compute, 2 * comm);
  return {compute + comm, compute + comm, compute, full,
          compute + comm + full - overlapped};
}

Placement schedule::placementOf(ExpertOrder order) {
  switch (order) {
  case ExpertOrder::OneFOneB:
  case ExpertOrder::ZeroBubbleH1:
    return Placement::Linear;
  case ExpertOrder::DualPipe:
  case ExpertOrder::Chimera:
    return Placement::Bidirectional;
  case ExpertOrder::DualPipeV:
  case ExpertOrder::ZeroBubbleV:
  case ExpertOrder::VHalf:
  case ExpertOrder::VMin:
    return Placement::V;
  case ExpertOrder::Hanayo:
    break;
  }
  return Placement::Wave;
}

std::optional<int64_t> schedule::publishedBubble(ExpertOrder order,
                                                 int32_t devices,
                                                 int32_t microbatches,
                                                 const BlockTimes &times) {
  switch (order) {
  case ExpertOrder::OneFOneB:
    return (devices - 1) * (times.forward + times.full);
  case ExpertOrder::ZeroBubbleH1:
    return (devices - 1) *
           (times.forward + times.full - 2 * times.weightGradient);
  case ExpertOrder::DualPipe:
    return (devices / 2 - 1) *
           (times.overlapped() + times.full - 3 * times.weightGradient);
  case ExpertOrder::DualPipeV:
    return (devices - 1) *
           (times.overlapped() + times.full - 3 * times.weightGradient);
  case ExpertOrder::Chimera:
    if (microbatches == devices)
      return (devices - 2) * times.full;
    break;
  default:
    break;
  }
  return std::nullopt;
}

/// The eight steps of DualPipe on the device that is `r` from the end, of a
/// pipeline of `half` such; `each` micro-batches from each end.
static void writeDualPipe(BlockWriter &writer, int32_t half, int32_t r,
                          int32_t each) {
  for (int32_t i = 0; i < 2 * (half - r - 1); ++i)
    writer.forward(0);
  for (int32_t i = 0; i < r + 1; ++i) {
    writer.forward(0);
    writer.forward(1);
  }
  for (int32_t i = 0; i < half - r - 1; ++i) {
    writer.backward(1, false);
    writer.weight();
    writer.forward(1);
  }
  for (int32_t i = 0; i < each - 2 * half + r + 1; ++i) {
    if (i == 0 && r == half - 1) {
      writer.forward(0);
      writer.backward(1, true);
    } else {
      writer.overlapped(0, 1);
    }
    writer.overlapped(1, 0);
  }
  for (int32_t i = 0; i < half - r - 1; ++i) {
    writer.backward(1, true);
    writer.overlapped(1, 0);
  }
  int32_t middle = (r + 1) / 2;
  for (int32_t i = 0; i < r + 1; ++i) {
    writer.backward(1, i < middle || (i == middle && r % 2 == 0));
    writer.backward(0, i < middle);
  }
  for (int32_t i = 0; i < half - r - 1; ++i) {
    writer.weight();
    writer.backward(0, false);
  }
  for (int32_t i = 0; i < r + 1; ++i)
    writer.weight();
}

/// Device `r` of `devices`. Weight gradients lag `lag` micro-batches behind;
/// -1: they are done with the input gradients.
static void writeOneFOneB(BlockWriter &writer, int32_t devices, int32_t r,
                          int32_t microbatches, int32_t lag) {
  int32_t ahead = std::min(microbatches, devices - r - 1);
  for (int32_t i = 0; i < ahead; ++i)
    writer.forward(0);
  for (int32_t i = 0; i < microbatches; ++i) {
    if (i + ahead < microbatches)
      writer.forward(0);
    writer.backward(0, lag < 0);
    bool isLast = i + ahead >= microbatches;
    if (lag >= 0 && (int32_t(writer.numPending()) > lag || isLast))
      writer.weight();
  }
  while (writer.numPending())
    writer.weight();
}

/// 1F1B and ZB-H1 on device `d`.
static std::vector<Block> linearBlocks(ExpertOrder order, int32_t devices,
                                       int32_t d, int32_t microbatches) {
  BlockWriter writer({0, d, -1}, {0, d, -1});
  writeOneFOneB(writer, devices, d, microbatches,
                order == ExpertOrder::OneFOneB ? -1 : d);
  return std::move(writer.blocks);
}

/// DualPipe and DualPipeV on device `d`.
static std::vector<Block> dualPipeBlocks(ExpertOrder order, int32_t devices,
                                         int32_t d, int32_t microbatches) {
  bool isFolded = order == ExpertOrder::DualPipeV;
  int32_t half = isFolded ? devices : devices / 2;
  int32_t r = isFolded ? d : std::min(d, devices - 1 - d);
  int32_t nearer = !isFolded && d >= half;
  BlockWriter writer({nearer, r, -1},
                     {isFolded ? 0 : 1 - nearer, 2 * half - 1 - r, -1});
  writeDualPipe(writer, half, r, isFolded ? microbatches : microbatches / 2);
  return std::move(writer.blocks);
}

/// Whether there is an order of so many devices and micro-batches.
static bool isDefined(ExpertOrder order, int32_t devices,
                      int32_t microbatches) {
  bool isBidirectional = placementOf(order) == Placement::Bidirectional;
  if (isBidirectional && (devices % 2 || microbatches % 2))
    return false;
  switch (order) {
  case ExpertOrder::DualPipe:
    return microbatches >= 2 * devices;
  case ExpertOrder::DualPipeV:
    return microbatches >= 2 * devices;
  case ExpertOrder::ZeroBubbleV:
    return microbatches >= 2 * devices - 1;
  case ExpertOrder::VHalf:
  case ExpertOrder::VMin: {
    // Their passes move one by one, in a time that grows with the square.
    constexpr int64_t most = 4096;
    return int64_t(devices) * microbatches <= most;
  }
  default:
    return true;
  }
}

std::optional<std::vector<std::vector<Block>>>
schedule::makeBlocks(ExpertOrder order, int32_t devices, int32_t microbatches) {
  if (!isDefined(order, devices, microbatches))
    return std::nullopt;
  switch (order) {
  case ExpertOrder::VHalf:
  case ExpertOrder::VMin:
    return makeRepeatedBlocks(order, devices, microbatches);
  case ExpertOrder::Chimera:
    return makeChimera(devices, microbatches);
  case ExpertOrder::Hanayo:
    return makeHanayo(devices, microbatches);
  default:
    break;
  }
  std::vector<std::vector<Block>> result;
  for (int32_t d = 0; d < devices; ++d)
    if (placementOf(order) == Placement::Linear)
      result.push_back(linearBlocks(order, devices, d, microbatches));
    else if (order == ExpertOrder::ZeroBubbleV)
      result.push_back(zeroBubbleBlocks(devices, d, microbatches));
    else
      result.push_back(dualPipeBlocks(order, devices, d, microbatches));
  return result;
}

BlockReplay schedule::replay(const std::vector<std::vector<Block>> &blocks,
                             const Pipeline &pipeline,
                             const PipelineTimes &times) {
  /// When passes ended: of each direction, micro-batch and chunk.
  struct Ends {
    int32_t chunks;
    std::vector<int64_t> ends[2];
    int64_t &of(const Block::Pass &pass, int32_t chunk) {
      std::vector<int64_t> &row = ends[pass.direction];
      size_t index = size_t(pass.microbatch) * chunks + chunk;
      if (row.size() <= index)
        row.resize(index + 1, -1);
      return row[index];
    }
  };
  int32_t chunks = pipeline.chunks();
  Ends forwards{chunks, {}}, backwards{chunks, {}};
  BlockReplay result;
  result.ends.resize(blocks.size());
  std::vector<size_t> next(blocks.size(), 0);
  std::vector<int64_t> idle(blocks.size(), 0);
  /// When what `pass` takes from another one is there, which ended at `end`
  /// for chunk `from`; -1 if it is not yet known.
  auto arrival = [&](const Block::Pass &pass, int64_t end, int32_t from) {
    bool isLocal = pipeline.deviceOf(pass.direction, pass.chunk) ==
                   pipeline.deviceOf(pass.direction, from);
    return end < 0 || isLocal ? end : end + times.send;
  };
  auto readyAt = [&](const Block &block) {
    int64_t ready = 0;
    if (const Block::Pass &pass = block.forward; pass.exists() && pass.chunk)
      ready = arrival(pass, forwards.of(pass, pass.chunk - 1), pass.chunk - 1);
    if (const Block::Pass &pass = block.backward; pass.exists() && ready >= 0) {
      int32_t chunk = pass.chunk;
      int64_t other =
          chunk + 1 == chunks
              ? forwards.of(pass, chunk)
              : arrival(pass, backwards.of(pass, chunk + 1), chunk + 1);
      ready = other < 0 ? other : std::max(ready, other);
    }
    return ready;
  };
  for (bool moved = true; moved;) {
    moved = false;
    for (size_t d = 0; d < blocks.size(); ++d)
      for (; next[d] < blocks[d].size(); ++next[d], moved = true) {
        const Block &block = blocks[d][next[d]];
        int64_t ready = readyAt(block);
        if (ready < 0)
          break;
        idle[d] = std::max(idle[d], ready) + times.of(block);
        result.ends[d].push_back(idle[d]);
        if (block.forward.exists())
          forwards.of(block.forward, block.forward.chunk) = idle[d];
        if (block.backward.exists())
          backwards.of(block.backward, block.backward.chunk) = idle[d];
      }
  }
  for (size_t d = 0; d < blocks.size(); ++d) {
    result.makespan = std::max(result.makespan, idle[d]);
    int32_t live = 0, peak = 0;
    for (const Block &block : blocks[d]) {
      live += block.forward.exists();
      peak = std::max(peak, live);
      live -= block.weight.exists();
    }
    result.peaks.push_back(peak);
  }
  return result;
}
