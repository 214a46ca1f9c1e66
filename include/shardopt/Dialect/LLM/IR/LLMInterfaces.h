//===- LLMInterfaces.h - Interfaces of shardable ops -*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_IR_LLMINTERFACES_H
#define SHARDOPT_DIALECT_LLM_IR_LLMINTERFACES_H

#include "shardopt/Dialect/LLM/IR/LLMDialect.h"
#include "shardopt/Model/OpModel.h"

#include "mlir/IR/OpDefinition.h"

namespace shardopt::llm {

/// Names of shardable ops within a program, which is the region that holds
/// `op` or its repeat: a name stands for one op, or for ops that are alike,
/// share their sharding and are each in a repeat of their own. Does the work
/// once, for the first such op of the program.
llvm::LogicalResult verifyNames(mlir::Operation *op);

} // namespace shardopt::llm

#include "shardopt/Dialect/LLM/IR/LLMInterfaces.h.inc"

#endif // SHARDOPT_DIALECT_LLM_IR_LLMINTERFACES_H
