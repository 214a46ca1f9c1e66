//===- KeepValues.h - Results of named ops for the runtime ------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_CONVERSION_LLMTOLINALG_KEEPVALUES_H
#define SHARDOPT_LIB_CONVERSION_LLMTOLINALG_KEEPVALUES_H

#include "mlir/IR/BuiltinOps.h"

namespace shardopt::llm {

/// Calls `shardopt_keep_f32_2` with the first result of every op that has a
/// `shardopt.value`, or, in a module that is not partitioned, of every named
/// op; only matrices are kept. Which value it is goes into the table of sites,
/// `shardopt.sites` of the module, whose index is the call's second argument.
mlir::LogicalResult keepValues(mlir::ModuleOp module);

} // namespace shardopt::llm

#endif // SHARDOPT_LIB_CONVERSION_LLMTOLINALG_KEEPVALUES_H
