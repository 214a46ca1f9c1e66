//===- Factors.h - Ops as factors ----------------------------- -*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A factor is a loop of an op, seen from outside: the dims of operands and
// results that it runs over. Sharding a factor shards these dims and nothing
// else. Every dialect states its ops as factors; nothing else knows it.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_CONVERSION_GRAPHS_FACTORS_H
#define SHARDOPT_LIB_CONVERSION_GRAPHS_FACTORS_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

#include <string>
#include <vector>

namespace shardopt::graphs {

struct Factor {
  int64_t size = 1;          ///< what the blocks must divide
  std::vector<int> operands; ///< dim of each operand; -1: replicated
  std::vector<int> results;  ///< the same of each result
  /// Blocks make partial results, which are all-reduced.
  bool isReduced = false;
};

/// What an op makes a device do.
enum class Work : uint8_t {
  Kernel, ///< one kernel of its own
  Fused,  ///< part of the kernel that writes its result to memory
  View,   ///< nothing
};

struct OpFactors {
  std::vector<Factor> factors;
  double arithmetic = 0; ///< of the unsharded op
  Work work = Work::Kernel;
  /// Of the first operand, and of a result like it, it touches only as much as
  /// the other values are large.
  bool inPlace = false;
  /// Of a loop: how often its body runs. Its ops are in the map, too.
  int64_t trips = 0;
  /// Why the op is replicated although it may have factors; empty: it is not.
  std::string replicated;
};

/// The factors of an op of linalg; of any other op none.
OpFactors linalgFactors(mlir::Operation *op);

/// Whether the dialect of an op is none that is loaded here: StableHLO.
bool isForeign(mlir::Operation *op);

/// Ops with results that have a layout.
using FactorMap = llvm::DenseMap<mlir::Operation *, OpFactors>;
/// Reads the ops of a block and of the loops in it, or says what is wrong with
/// one. Constants, and what is computed from constants alone, are left out.
llvm::FailureOr<FactorMap> readFactors(mlir::Block &block);

} // namespace shardopt::graphs

#endif // SHARDOPT_LIB_CONVERSION_GRAPHS_FACTORS_H
