//===- ServingMemory.h - What a device of a replica holds -------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_SERVINGMEMORY_H
#define SHARDOPT_COST_SERVINGMEMORY_H

#include "shardopt/Cost/ServingStep.h"

namespace shardopt::cost {

/// Bytes on the device that holds most, by part. What does not divide is
/// padded: a device has whole heads, experts and columns.
struct ServingMemory {
  double attention = 0;  ///< projections; heads over tp, latent ones repeated
  double dense = 0;      ///< networks of layers without experts
  double shared = 0;     ///< shared experts
  double experts = 0;    ///< routed ones, by the ranks that hold them
  double routers = 0;    ///< on every device
  double norms = 0;      ///< likewise
  double embeddings = 0; ///< table and head, or one for both; rows over tp
  /// Of caches: a token of a sequence where attention reaches all, and the most
  /// that the windows of a sequence hold.
  double cachePerToken = 0, cacheOfWindows = 0;
  double states = 0; ///< of a sequence, however long

  double weights() const {
    return attention + dense + shared + experts + routers + norms + embeddings;
  }
  /// A sequence of `context` tokens.
  double cache(double context) const;

  struct Window {
    double tokens = 0, bytesPerToken = 0;
  };
  std::vector<Window> windows;
};

ServingMemory memoryOf(const ServingSetup &setup);

/// What engines take for activations and workspace.
inline constexpr double workspaceBytes = 2e9;

/// Bytes that a device of `sheetBytes` has for weights and caches: engines take
/// 0.92 of it, and of that their workspace. Sheets say the GiB
/// of a part as 1e9 bytes; of the difference the driver keeps a part.
double usableBytes(double sheetBytes);

} // namespace shardopt::cost

#endif // SHARDOPT_COST_SERVINGMEMORY_H
