//===- RowBlocks.h - Rows cut into blocks -----------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_ROWBLOCKS_H
#define SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_ROWBLOCKS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace shardopt::llm {

/// A number of rows, cut into blocks of one size. The last ones are
/// padded. All are indices.
struct RowBlocks {
  mlir::Value rows;    ///< the true number
  mlir::Value block;   ///< rows of a block
  mlir::Value padding; ///< what `rows` lacks to whole blocks
};

/// ceil(rows / ranks), for rows that are not negative.
mlir::Value ceilDivide(mlir::OpBuilder &builder, mlir::Location loc,
                       mlir::Value rows, int64_t ranks);

/// `rows` in `ranks` blocks of `block`; of ceil(rows / ranks) where that is
/// null.
RowBlocks cutRows(mlir::OpBuilder &builder, mlir::Location loc,
                  mlir::Value rows, int64_t ranks, mlir::Value block = {});

/// `value`, of any rank, with `padding` more rows of `fill`.
mlir::Value padRows(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::Value value, mlir::Value padding, int fill = 0);

/// The first `rows` rows of `value`, of any rank.
mlir::Value trimRows(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value value, mlir::Value rows);

} // namespace shardopt::llm

#endif // SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_ROWBLOCKS_H
