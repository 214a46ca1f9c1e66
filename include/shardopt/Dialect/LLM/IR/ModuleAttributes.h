//===- ModuleAttributes.h - Strategy and workload of a module ---*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A module has `llm.strategy` and `llm.workload` until it is the program of one
// device, and `shardopt.strategy` and `shardopt.workload`, the same in builtin
// attributes, from then on. Here is what reads and writes both forms.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_IR_MODULEATTRIBUTES_H
#define SHARDOPT_DIALECT_LLM_IR_MODULEATTRIBUTES_H

#include "shardopt/Model/Context.h"
#include "shardopt/Model/Degrees.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace shardopt::llm {

inline constexpr llvm::StringLiteral loweredStrategyAttrName =
    "shardopt.strategy";
inline constexpr llvm::StringLiteral loweredWorkloadAttrName =
    "shardopt.workload";

/// Whether `module` is the per-rank program.
bool isPartitioned(mlir::ModuleOp module);

/// What `llm.strategy` says, nothing at all where there is none.
PartialDegrees readStrategy(mlir::ModuleOp module);

/// The degrees by which a module was partitioned; nothing where it has no
/// `shardopt.strategy`. Errors: a field that is missing or out of range.
mlir::FailureOr<std::optional<Degrees>>
readLoweredStrategy(mlir::ModuleOp module);

/// What `llm.workload` or `shardopt.workload` says; nothing without either.
/// Errors: another form of the latter.
mlir::FailureOr<std::optional<cost::Workload>>
readWorkload(mlir::ModuleOp module);

/// The same, or one token in decode where a module says nothing.
mlir::FailureOr<cost::Workload> readWorkloadOrToken(mlir::ModuleOp module);

/// `shardopt.strategy` in the place of `llm.strategy`.
void lowerStrategy(mlir::ModuleOp module, const Degrees &degrees);
/// `shardopt.workload` in the place of `llm.workload`, where there is one.
void lowerWorkload(mlir::ModuleOp module);

} // namespace shardopt::llm

#endif // SHARDOPT_DIALECT_LLM_IR_MODULEATTRIBUTES_H
