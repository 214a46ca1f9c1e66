//===- Heads.h - How heads divide over a TP group ---------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_HEADS_H
#define SHARDOPT_MODEL_HEADS_H

#include <cstdint>

namespace shardopt::cost {

/// Query heads of a rank: ceil(heads / tp).
int64_t localHeads(int64_t heads, int64_t tp);

/// Key and value heads of a rank: the most that the query heads of any rank
/// read, where rank j has query heads [j * c, min((j + 1) * c, heads)) with
/// c = ceil(heads / tp), and query head i reads kv head i / (heads / kvHeads).
int64_t localKvHeads(int64_t heads, int64_t kvHeads, int64_t tp);

/// Heads of the cp neighbouring ranks that share the positions of a sequence.
struct ContextHeads {
  int64_t query = 0; ///< of all of them, at most cp * ceil(heads / tp)
  int64_t kv = 0;    ///< the most that the query heads of any of them read
  /// Whether every rank that has query heads reads the kv heads that its
  /// neighbours read.
  bool isSame = false;
};
ContextHeads contextHeads(int64_t heads, int64_t kvHeads, int64_t tp,
                          int64_t cp);

} // namespace shardopt::cost

#endif // SHARDOPT_MODEL_HEADS_H
