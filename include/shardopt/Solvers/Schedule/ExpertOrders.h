//===- ExpertOrders.h - Orders of pipelines made by hand --------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What schedules are compared with. Each is an order of blocks on each device.
// As published, a block is atomic: what it computes leaves at its end.
// Re-timed, its operators stand in the same order, and each starts as early as
// it can.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SCHEDULE_EXPERTORDERS_H
#define SHARDOPT_SOLVERS_SCHEDULE_EXPERTORDERS_H

#include "shardopt/Solvers/Schedule/MachineOrders.h"
#include "shardopt/Solvers/Schedule/Patterns.h"

namespace shardopt::schedule {

enum class ExpertOrder : uint8_t {
  OneFOneB,     ///< linear; a forward and a full backward pass in turn
  ZeroBubbleH1, ///< linear; the same with weight gradients put off
  DualPipe,     ///< bidirectional
  DualPipeV,    ///< v
  ZeroBubbleV,  ///< v; memory as in 1F1B
  VHalf,        ///< v; half of it, and some of the bubble of 1F1B
  VMin,         ///< v; a third of it
  Chimera,      ///< bidirectional; full backward passes
  Hanayo        ///< wave; full backward passes
};

constexpr ExpertOrder expertOrders[] = {
    ExpertOrder::OneFOneB,  ExpertOrder::ZeroBubbleH1, ExpertOrder::DualPipe,
    ExpertOrder::DualPipeV, ExpertOrder::ZeroBubbleV,  ExpertOrder::VHalf,
    ExpertOrder::VMin,      ExpertOrder::Chimera,      ExpertOrder::Hanayo};

/// A chunk's pass, or two passes that overlap.
struct Block {
  /// The micro-batch of a direction, and the chunk that it is at.
  struct Pass {
    int32_t direction = 0, chunk = 0, microbatch = -1;
    bool exists() const { return microbatch >= 0; }
  };
  Pass forward;
  Pass backward; ///< the input gradient
  Pass weight;   ///< the weight gradient; with `backward`, a full backward pass
};

/// How long the passes of a chunk take as blocks.
struct BlockTimes {
  int64_t forward, inputGradient, weightGradient;
  int64_t full; ///< both gradients
  /// What a forward and a full backward pass save where they overlap.
  int64_t hidden;
  int64_t overlapped() const { return forward + full - hidden; }
};

/// How long blocks take, and what a chunk sends to one of another device.
struct PipelineTimes {
  std::vector<BlockTimes> chunks; ///< of each; or one, if all are alike
  int64_t send = 0;
  int64_t of(const Block &block) const;
  bool isUniform() const { return chunks.size() == 1 && !send; }

private:
  const BlockTimes &at(const Block::Pass &pass) const {
    return chunks[chunks.size() == 1 ? 0 : size_t(pass.chunk)];
  }
};

BlockTimes blockTimes(const TrainTimes &times);
PipelineTimes pipelineTimes(const TrainChunks &train);
/// Operators in a row; of a full backward pass WE hides under D', and of two
/// passes all communication under computation, or the other way round.
BlockTimes blockTimes(const ExpertTimes &times);

/// The blocks of each device. `microbatches` of all directions together.
/// Nothing where the order is not defined: an odd number of devices or
/// micro-batches in two directions, fewer micro-batches than it needs to fill
/// the pipeline, or, of V-Half and V-Min, more than 4096 of all devices
/// together.
std::optional<std::vector<std::vector<Block>>>
makeBlocks(ExpertOrder order, int32_t devices, int32_t microbatches);

/// The placement of an order.
Placement placementOf(ExpertOrder order);

struct BlockReplay {
  int64_t makespan = 0;
  std::vector<int32_t> peaks;             ///< of each device: activations
  std::vector<std::vector<int64_t>> ends; ///< of the blocks of each device
};

/// The order as published.
BlockReplay replay(const std::vector<std::vector<Block>> &blocks,
                   const Pipeline &pipeline, const PipelineTimes &times);

/// The order as published, as a schedule of chunks: the passes of a block one
/// after the other. `instance` is of the same pipeline.
Schedule scheduleOf(const Instance &instance,
                    const std::vector<std::vector<Block>> &blocks,
                    const BlockReplay &replay, const PipelineTimes &times);

/// The order re-timed for operators; `instance` is of the same pipeline.
std::optional<Schedule>
retimeBlocks(const Instance &instance,
             const std::vector<std::vector<Block>> &blocks);

/// The bubble of an order by its published formula, where there is one for so
/// many micro-batches.
std::optional<int64_t> publishedBubble(ExpertOrder order, int32_t devices,
                                       int32_t microbatches,
                                       const BlockTimes &times);

} // namespace shardopt::schedule

#endif // SHARDOPT_SOLVERS_SCHEDULE_EXPERTORDERS_H
