//===- ExpertOrders.cpp - Orders of pipelines made by hand ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/ExpertOrders.h"

#include <algorithm>
#include <deque>

using namespace shardopt;
using namespace shardopt::schedule;

int64_t BlockTimes::of(const Block &block) const {
  if (block.forward.exists() && block.backward.exists())
    return overlapped;
  if (block.forward.exists())
    return forward;
  if (block.backward.exists())
    return block.weight.exists() ? full : inputGradient;
  return weightGradient;
}

BlockTimes schedule::blockTimes(const TrainTimes &times) {
  int64_t full = times.inputGradient + times.weightGradient;
  return {times.forward, times.inputGradient, times.weightGradient, full,
          times.forward + full};
}

BlockTimes schedule::blockTimes(const ExpertTimes &times) {
  int64_t compute = times.attention + times.experts;
  int64_t comm = times.dispatch + times.combine;
  int64_t full = times.combine + times.experts +
                 std::max(times.dispatch, times.experts) + 2 * times.attention;
  return {compute + comm, compute + comm, compute, full,
          std::max(3 * compute, 2 * comm)};
}

Placement schedule::placementOf(ExpertOrder order) {
  switch (order) {
  case ExpertOrder::DualPipe:
    return Placement::Bidirectional;
  case ExpertOrder::DualPipeV:
    return Placement::V;
  default:
    return Placement::Linear;
  }
}

int64_t schedule::publishedBubble(ExpertOrder order, int32_t devices,
                                  const BlockTimes &times) {
  switch (order) {
  case ExpertOrder::OneFOneB:
    return (devices - 1) * (times.forward + times.full);
  case ExpertOrder::ZeroBubbleH1:
    return (devices - 1) *
           (times.forward + times.full - 2 * times.weightGradient);
  case ExpertOrder::DualPipe:
    return (devices / 2 - 1) *
           (times.overlapped + times.full - 3 * times.weightGradient);
  case ExpertOrder::DualPipeV:
    return (devices - 1) *
           (times.overlapped + times.full - 3 * times.weightGradient);
  }
  return 0;
}

namespace {

/// The blocks of one device, whose chunks are `near` ("0", nearer the start)
/// and `far` ("1"). Micro-batches of each go in order; weight gradients that
/// were put off are done oldest first.
class BlockWriter {
public:
  BlockWriter(Block::Pass near, Block::Pass far) : chunks{near, far} {}

  void forward(int which) {
    Block block;
    block.forward = nextForward(which);
    blocks.push_back(block);
  }
  void backward(int which, bool withWeight) {
    Block block;
    block.backward = nextBackward(which, withWeight);
    if (withWeight)
      block.weight = block.backward;
    blocks.push_back(block);
  }
  void weight() {
    Block block;
    block.weight = pending.front();
    pending.pop_front();
    blocks.push_back(block);
  }
  void overlapped(int forwardOf, int backwardOf) {
    Block block;
    block.forward = nextForward(forwardOf);
    block.backward = block.weight = nextBackward(backwardOf, true);
    blocks.push_back(block);
  }
  size_t numPending() const { return pending.size(); }

  std::vector<Block> blocks;

private:
  Block::Pass nextForward(int which) {
    Block::Pass pass = chunks[which];
    pass.microbatch = numForward[which]++;
    return pass;
  }
  Block::Pass nextBackward(int which, bool withWeight) {
    Block::Pass pass = chunks[which];
    pass.microbatch = numBackward[which]++;
    if (!withWeight)
      pending.push_back(pass);
    return pass;
  }

  Block::Pass chunks[2];
  int32_t numForward[2] = {}, numBackward[2] = {};
  std::deque<Block::Pass> pending;
};

} // namespace

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

std::optional<std::vector<std::vector<Block>>>
schedule::makeBlocks(ExpertOrder order, int32_t devices, int32_t microbatches) {
  std::vector<std::vector<Block>> result;
  bool isFolded = order == ExpertOrder::DualPipeV;
  bool isDual = isFolded || order == ExpertOrder::DualPipe;
  int32_t half = isFolded ? devices : devices / 2;
  int32_t each = isFolded ? microbatches : microbatches / 2;
  if (isDual && !isFolded && (devices % 2 || microbatches % 2))
    return std::nullopt;
  if (isDual && each < 2 * half)
    return std::nullopt;
  for (int32_t d = 0; d < devices; ++d) {
    if (!isDual) {
      BlockWriter writer({0, d, -1}, {0, d, -1});
      writeOneFOneB(writer, devices, d, microbatches,
                    order == ExpertOrder::OneFOneB ? -1 : d);
      result.push_back(std::move(writer.blocks));
      continue;
    }
    int32_t r = isFolded ? d : std::min(d, devices - 1 - d);
    int32_t nearer = !isFolded && d >= half;
    BlockWriter writer({nearer, r, -1},
                       {isFolded ? 0 : 1 - nearer, 2 * half - 1 - r, -1});
    writeDualPipe(writer, half, r, each);
    result.push_back(std::move(writer.blocks));
  }
  return result;
}

BlockReplay schedule::replay(const std::vector<std::vector<Block>> &blocks,
                             int32_t chunks, const BlockTimes &times) {
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
  Ends forwards{chunks, {}}, backwards{chunks, {}};
  BlockReplay result;
  result.ends.resize(blocks.size());
  std::vector<size_t> next(blocks.size(), 0);
  std::vector<int64_t> idle(blocks.size(), 0);
  /// When what a block needs is there; -1 if it is not yet known.
  auto readyAt = [&](const Block &block) {
    int64_t ready = 0;
    if (block.forward.exists() && block.forward.chunk)
      ready = forwards.of(block.forward, block.forward.chunk - 1);
    if (block.backward.exists() && ready >= 0) {
      int32_t chunk = block.backward.chunk;
      int64_t other = chunk + 1 == chunks
                          ? forwards.of(block.backward, chunk)
                          : backwards.of(block.backward, chunk + 1);
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
