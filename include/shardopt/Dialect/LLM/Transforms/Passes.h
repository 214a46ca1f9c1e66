//===- Passes.h - Passes of the llm dialect ---------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_TRANSFORMS_PASSES_H
#define SHARDOPT_DIALECT_LLM_TRANSFORMS_PASSES_H

#include "shardopt/Dialect/LLM/IR/LLMDialect.h"
#include "shardopt/Dialect/LLM/Transforms/PlanningHost.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace shardopt::llm {

#define GEN_PASS_DECL
#include "shardopt/Dialect/LLM/Transforms/Passes.h.inc"

/// Passes that print for `host`, tell it what they find, and end early when it
/// says so. What `host` refers to outlives them.
std::unique_ptr<mlir::Pass> createEvaluateStrategyPass(PlanningHost host);
std::unique_ptr<mlir::Pass> createSearchShardingPass(PlanningHost host);
std::unique_ptr<mlir::Pass> createScheduleStagesPass(PlanningHost host);

/// Registers the passes on `llm` programs and `--llm-shard-pipeline`.
void registerPasses(const PlanningHost &host = {});

/// Registers the dialects that the passes read and write, and how their ops
/// are partitioned.
void registerPassDialects(mlir::DialectRegistry &registry);

} // namespace shardopt::llm

#endif // SHARDOPT_DIALECT_LLM_TRANSFORMS_PASSES_H
