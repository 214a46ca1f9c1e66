//===- BalancedCut.h - The best division of layers into stages --*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_TABLES_BALANCEDCUT_H
#define SHARDOPT_COST_TABLES_BALANCEDCUT_H

#include "shardopt/Cost/Pipeline.h"

#include <vector>

namespace shardopt::cost {

/// What the parts of a pipeline take for one micro-batch, and hold. A stage has
/// consecutive layers, the first stage also the embedding, the last also the
/// head; all but the last send.
struct LayerChain {
  std::vector<double> seconds, bytes; ///< of layers
  std::vector<double> sendSeconds;    ///< of a stage that ends with layer i
  double embedSeconds = 0, embedBytes = 0;
  double headSeconds = 0, headBytes = 0;

  /// Without layers.
  explicit LayerChain(size_t numLayers)
      : seconds(numLayers), bytes(numLayers), sendSeconds(numLayers) {}
};

/// The layers of each of the pp stages of `context`, at least one, so that the
/// throughput under `limits` is the highest, but for rounding (1e-12 of
/// itself). In decode this is the lowest latency, too. Where no division fits
/// into memory, the one whose fullest stage holds the least; where none meets
/// the SLO, the one of least latency. The chain has at least pp layers.
StageCut balancedCut(const LayerChain &chain, const Context &context,
                     const Limits &limits);

} // namespace shardopt::cost

#endif // SHARDOPT_COST_TABLES_BALANCEDCUT_H
