//===- CheckRows.h - Whose rows an op reads ---------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_EXECUTION_CHECKROWS_H
#define SHARDOPT_LIB_EXECUTION_CHECKROWS_H

#include "mlir/IR/BuiltinOps.h"

namespace shardopt::execution {

/// Fails at an op of a plain program that reads rows of tokens, and with them
/// rows that a dispatch sends, or rows of two dispatches.
mlir::LogicalResult checkRows(mlir::ModuleOp module);

} // namespace shardopt::execution

#endif // SHARDOPT_LIB_EXECUTION_CHECKROWS_H
