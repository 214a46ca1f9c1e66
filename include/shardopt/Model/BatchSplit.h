//===- BatchSplit.h - Micro-batches of a batch ------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_BATCHSPLIT_H
#define SHARDOPT_MODEL_BATCHSPLIT_H

#include <algorithm>
#include <cstdint>

namespace shardopt {

/// ceil(a / b) of positive integers.
constexpr int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// How the sequences of a batch are spread: what is costed is what is executed.
struct BatchSplit {
  int64_t groupBatch = 1;   ///< bg = ceil(B / dp), sequences of a replica
  int64_t microBatches = 1; ///< M = min(PP, bg), in flight
  int64_t microBatch = 1;   ///< b = ceil(bg / M), sequences of one of them
};

/// Spreads `batch` sequences over `groups` replicas, and those of a replica
/// over as many micro-batches as there are stages, at most.
constexpr BatchSplit splitBatch(int64_t batch, int64_t groups, int64_t stages) {
  BatchSplit split;
  split.groupBatch = ceilDiv(batch, groups);
  split.microBatches = std::max<int64_t>(1, std::min(stages, split.groupBatch));
  split.microBatch = ceilDiv(split.groupBatch, split.microBatches);
  return split;
}

} // namespace shardopt

#endif // SHARDOPT_MODEL_BATCHSPLIT_H
