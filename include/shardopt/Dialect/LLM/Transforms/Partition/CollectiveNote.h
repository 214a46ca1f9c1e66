//===- CollectiveNote.h - Why a collective is there, and what it costs *- C++
//-*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_COLLECTIVENOTE_H
#define SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_COLLECTIVENOTE_H

#include "shardopt/Cost/Kernel.h"

#include "mlir/IR/Operation.h"

#include <string>

namespace shardopt::llm {

/// `shardopt.collective`, on every collective of a partitioned program.
struct CollectiveNote {
  /// In consecutive iterations of the repeat that it stands in, alike.
  struct Entry {
    int64_t layers = 1;
    std::string cause; ///< the op that needed it
    /// As which the cost model counts it.
    cost::CollectiveKind kind = cost::CollectiveKind::AllReduce;
    /// Of a micro-batch: the full tensor, or for an all-to-all what a device
    /// holds.
    double bytes = 0;
    double seconds = 0;  ///< the cost model's estimate
    bool charged = true; ///< in the time of a strategy
  };
  ::llvm::SmallVector<Entry, 1> entries; ///< at least one

  /// That of `op`, or none.
  static std::optional<CollectiveNote> read(mlir::Operation *op);
  void write(mlir::Operation *op) const;
  /// Of iterations [begin, begin + size) of the repeat.
  CollectiveNote slice(int64_t begin, int64_t size) const;
};

} // namespace shardopt::llm

#endif // SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_COLLECTIVENOTE_H
