//===- InlineCalls.h - Functions without calls ------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_CONVERSION_GRAPHS_INLINECALLS_H
#define SHARDOPT_LIB_CONVERSION_GRAPHS_INLINECALLS_H

#include "mlir/IR/BuiltinOps.h"

namespace shardopt::graphs {

/// Replaces the calls of public functions of one block by what they run, and
/// removes the private functions that were called.
mlir::LogicalResult inlineCalls(mlir::ModuleOp module);

} // namespace shardopt::graphs

#endif // SHARDOPT_LIB_CONVERSION_GRAPHS_INLINECALLS_H
