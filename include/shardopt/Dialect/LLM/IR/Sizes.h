//===- Sizes.h - Sizes of shaped values -------------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_IR_SIZES_H
#define SHARDOPT_DIALECT_LLM_IR_SIZES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace shardopt::llm {

/// The size of dim `dim`; from the end where it is negative.
inline int64_t sizeOf(mlir::Value value, int dim) {
  auto shape = llvm::cast<mlir::ShapedType>(value.getType()).getShape();
  return dim < 0 ? shape[shape.size() + dim] : shape[dim];
}

/// Columns of an activation or of a matrix.
inline int64_t columns(mlir::Value value) { return sizeOf(value, -1); }

} // namespace shardopt::llm

#endif // SHARDOPT_DIALECT_LLM_IR_SIZES_H
