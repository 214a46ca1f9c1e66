//===- SeparateLayers.h - Ops of their own for each layer -------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_TRANSFORMS_SEPARATELAYERS_H
#define SHARDOPT_DIALECT_LLM_TRANSFORMS_SEPARATELAYERS_H

#include "mlir/IR/BuiltinOps.h"

namespace shardopt::llm {

/// What has ops, and so dims, of its own.
enum class SeparateBy : uint8_t { Layer, Window };

/// Replaces each `llm.repeat` of `module` by several whose ops have names of
/// their own: see the pass. What cannot be separated is diagnosed.
mlir::LogicalResult separateLayers(mlir::ModuleOp module, SeparateBy by);

} // namespace shardopt::llm

#endif // SHARDOPT_DIALECT_LLM_TRANSFORMS_SEPARATELAYERS_H
