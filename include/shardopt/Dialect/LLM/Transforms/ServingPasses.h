//===- ServingPasses.h - Passes about services ------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_TRANSFORMS_SERVINGPASSES_H
#define SHARDOPT_DIALECT_LLM_TRANSFORMS_SERVINGPASSES_H

#include "shardopt/Dialect/LLM/IR/LLMDialect.h"
#include "shardopt/Dialect/LLM/Transforms/PlanningHost.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace shardopt::llm {

#define GEN_PASS_DECL
#include "shardopt/Dialect/LLM/Transforms/ServingPasses.h.inc"

/// A pass that prints for `host`.
std::unique_ptr<mlir::Pass> createPlanServingPass(PlanningHost host);

} // namespace shardopt::llm

#endif // SHARDOPT_DIALECT_LLM_TRANSFORMS_SERVINGPASSES_H
