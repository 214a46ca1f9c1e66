//===- PlannedOnly.h - Programs that nothing executes -----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_IR_PLANNEDONLY_H
#define SHARDOPT_DIALECT_LLM_IR_PLANNEDONLY_H

#include "mlir/IR/BuiltinOps.h"

namespace shardopt::llm {

/// On a module that has the sizes of a model and not its numbers: a string that
/// says why. It is planned, and what would execute it refuses.
inline constexpr llvm::StringLiteral plannedOnlyAttrName = "llm.planned_only";

/// Why `module` is planned only; null where it can be executed.
inline mlir::StringAttr getPlannedOnly(mlir::ModuleOp module) {
  return module->getAttrOfType<mlir::StringAttr>(plannedOnlyAttrName);
}

/// An error where `module` is planned only.
inline mlir::LogicalResult expectExecutable(mlir::ModuleOp module) {
  mlir::StringAttr reason = getPlannedOnly(module);
  if (!reason)
    return mlir::success();
  return module.emitError("is cost-only: ") << reason.getValue();
}

} // namespace shardopt::llm

#endif // SHARDOPT_DIALECT_LLM_IR_PLANNEDONLY_H
