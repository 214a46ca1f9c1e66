//===- WorkloadDictionary.h - A workload in builtin form --------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_IR_WORKLOADDICTIONARY_H
#define SHARDOPT_DIALECT_LLM_IR_WORKLOADDICTIONARY_H

#include "mlir/IR/BuiltinOps.h"

namespace shardopt::llm {

/// Replaces the `llm.workload` of a module, if it has one, by
/// `shardopt.workload` = {phase, context}, which any tool reads.
void replaceWorkload(mlir::ModuleOp module);

} // namespace shardopt::llm

#endif // SHARDOPT_DIALECT_LLM_IR_WORKLOADDICTIONARY_H
