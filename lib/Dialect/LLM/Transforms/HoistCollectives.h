//===- HoistCollectives.h - Collectives done once ---------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_DIALECT_LLM_TRANSFORMS_HOISTCOLLECTIVES_H
#define SHARDOPT_LIB_DIALECT_LLM_TRANSFORMS_HOISTCOLLECTIVES_H

#include "mlir/IR/BuiltinOps.h"

namespace shardopt::llm {

/// Moves what is the same in every iteration of an `llm.repeat` in front of it:
/// collectives, and the slices, paddings and sizes that they read.
void hoistInvariants(mlir::ModuleOp module);

/// Replaces a collective by an earlier equal one of the same value.
void mergeEqualCollectives(mlir::ModuleOp module);

} // namespace shardopt::llm

#endif // SHARDOPT_LIB_DIALECT_LLM_TRANSFORMS_HOISTCOLLECTIVES_H
