//===- ResidualRows.h - How many rows a device holds ------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_DIALECT_LLM_TRANSFORMS_RESIDUALROWS_H
#define SHARDOPT_LIB_DIALECT_LLM_TRANSFORMS_RESIDUALROWS_H

#include "mlir/Dialect/Shard/IR/ShardOps.h"
#include "mlir/IR/Builders.h"

namespace shardopt::llm {

struct ResidualRows {
  mlir::Value number;  ///< an index
  bool areCut = false; ///< a block of the rows, as in layout T
};

/// How many rows the activation `value` of a partitioned program has on a
/// device, from values that do not depend on what is computed: sizes of
/// arguments, and those that paddings and slices name. Ops are created where
/// `builder` stands, which everything that `value` is made of must dominate.
/// Errors, for `user`: an op on the way of unknown meaning.
mlir::FailureOr<ResidualRows> computeRows(mlir::OpBuilder &builder,
                                          mlir::Value value,
                                          mlir::Operation *user,
                                          mlir::shard::GridOp grid);

} // namespace shardopt::llm

#endif // SHARDOPT_LIB_DIALECT_LLM_TRANSFORMS_RESIDUALROWS_H
