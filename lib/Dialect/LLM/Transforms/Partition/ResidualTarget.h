//===- ResidualTarget.h - Where a residual goes -----------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_DIALECT_LLM_TRANSFORMS_PARTITION_RESIDUALTARGET_H
#define SHARDOPT_LIB_DIALECT_LLM_TRANSFORMS_PARTITION_RESIDUALTARGET_H

#include "shardopt/Model/Placement.h"

#include "mlir/IR/Operation.h"

#include <optional>

namespace shardopt::llm {

/// What the op that reads a residual, or a sum, wants of it.
struct ResidualTarget {
  mlir::Operation *consumer = nullptr; ///< null where nobody reads it
  std::optional<cost::Layout> layout;  ///< none: it takes any
  double rows = 0;       ///< whose reshards the cost model charges
  llvm::StringRef cause; ///< the name that it charges them under
  bool beginsLayer = false;
  bool isHead = false;

  bool isLike(const ResidualTarget &other) const {
    return layout == other.layout && rows == other.rows && cause == other.cause;
  }
};

} // namespace shardopt::llm

#endif // SHARDOPT_LIB_DIALECT_LLM_TRANSFORMS_PARTITION_RESIDUALTARGET_H
