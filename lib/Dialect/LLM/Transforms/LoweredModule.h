//===- LoweredModule.h - What a partitioned module records ------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_DIALECT_LLM_TRANSFORMS_LOWEREDMODULE_H
#define SHARDOPT_LIB_DIALECT_LLM_TRANSFORMS_LOWEREDMODULE_H

#include "shardopt/Cost/Context.h"
#include "shardopt/Support/Strategy.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace shardopt::llm {

/// The degrees that the lowering recorded, or nothing on other modules.
std::optional<Degrees> recordedDegrees(mlir::ModuleOp module);

/// The workload that it recorded; a decode step of one token without one.
cost::Workload recordedWorkload(mlir::ModuleOp module);

} // namespace shardopt::llm

#endif // SHARDOPT_LIB_DIALECT_LLM_TRANSFORMS_LOWEREDMODULE_H
