//===- Verify.h - Checks that verifiers share -------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every check emits its error on the op, with the value found and the value
// wanted, and is labelled by its caller with the constraint of the op's
// description that it keeps. Verifiers hold on the per-rank program too,
// so they compare sizes that are cut alike and never a local size with one of
// the whole model.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_DIALECT_LLM_IR_VERIFY_H
#define SHARDOPT_LIB_DIALECT_LLM_IR_VERIFY_H

#include "shardopt/Dialect/LLM/IR/Sizes.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/TypeUtilities.h"

namespace shardopt::llm {

/// a * b, or the largest number where that is too large: sizes of attributes
/// are whatever a user wrote.
int64_t times(int64_t a, int64_t b);
/// a + b, likewise.
int64_t plus(int64_t a, int64_t b);

/// `what` has `wanted` of `unit`, because of `reason`:
/// "'weight' must have 64 rows, the width of the input, found 32".
mlir::LogicalResult expectSize(mlir::Operation *op, llvm::StringRef what,
                               llvm::StringRef unit, int64_t wanted,
                               llvm::StringRef reason, int64_t found);

/// `what` has the type `wanted`, that of `whose`.
mlir::LogicalResult expectType(mlir::Operation *op, llvm::StringRef what,
                               mlir::Type wanted, llvm::StringRef whose,
                               mlir::Type found);

/// `value` has the columns and the element type of `pattern`, which is called
/// `whose`.
mlir::LogicalResult expectLike(mlir::Operation *op, llvm::StringRef what,
                               mlir::Value value, llvm::StringRef whose,
                               mlir::Value pattern);

/// `value`, whose name is `what`, is positive.
mlir::LogicalResult expectPositive(mlir::Operation *op, llvm::StringRef what,
                                   int64_t value);
/// The same of several names and values.
mlir::LogicalResult expectAllPositive(
    mlir::Operation *op,
    std::initializer_list<std::pair<llvm::StringRef, int64_t>> attributes);
/// `value`, whose name is `what`, is positive and finite.
mlir::LogicalResult expectPositive(mlir::Operation *op, llvm::StringRef what,
                                   const llvm::APFloat &value);

/// `divisor` is positive and divides `size`.
mlir::LogicalResult expectDivides(mlir::Operation *op, llvm::StringRef what,
                                  int64_t divisor, llvm::StringRef whole,
                                  int64_t size);

/// `positions` are not what the function takes as tokens.
mlir::LogicalResult expectPositions(mlir::Operation *op, mlir::Value positions);

} // namespace shardopt::llm

#endif // SHARDOPT_LIB_DIALECT_LLM_IR_VERIFY_H
