//===- BlockWriter.h - The blocks of one device -----------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_SOLVERS_SCHEDULE_BLOCKWRITER_H
#define SHARDOPT_LIB_SOLVERS_SCHEDULE_BLOCKWRITER_H

#include "shardopt/Solvers/Schedule/ExpertOrders.h"

#include <algorithm>
#include <deque>

namespace shardopt::schedule {

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
  void weight() { weight(pending.begin()); }
  /// The oldest of one of the chunks.
  void weight(int which) {
    weight(std::find_if(pending.begin(), pending.end(),
                        [&](const Block::Pass &pass) {
                          return pass.chunk == chunks[which].chunk;
                        }));
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
  void weight(std::deque<Block::Pass>::iterator it) {
    Block block;
    block.weight = *it;
    pending.erase(it);
    blocks.push_back(block);
  }
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

/// ZB-V on device `d` ("Zero Bubble Pipeline Parallelism", arXiv 2401.10241).
std::vector<Block> zeroBubbleBlocks(int32_t devices, int32_t d,
                                    int32_t microbatches);

/// V-Half or V-Min ("Pipeline Parallelism with Controllable Memory", arXiv
/// 2405.15362).
std::vector<std::vector<Block>>
makeRepeatedBlocks(ExpertOrder order, int32_t devices, int32_t microbatches);

/// Chimera (arXiv 2107.06925) in units of as many micro-batches as devices, one
/// behind the other. Devices and micro-batches are even.
std::vector<std::vector<Block>> makeChimera(int32_t devices,
                                            int32_t microbatches);

/// Hanayo (arXiv 2308.15762) with two waves: of what is ready, the backward
/// pass first, then the forward pass of the last chunk. At most one and a half
/// micro-batches for each device are on their way.
std::vector<std::vector<Block>> makeHanayo(int32_t devices,
                                           int32_t microbatches);

} // namespace shardopt::schedule

#endif // SHARDOPT_LIB_SOLVERS_SCHEDULE_BLOCKWRITER_H
