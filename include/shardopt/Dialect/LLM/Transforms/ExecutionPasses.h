//===- ExecutionPasses.h - Passes on the way to execution -------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_TRANSFORMS_EXECUTIONPASSES_H
#define SHARDOPT_DIALECT_LLM_TRANSFORMS_EXECUTIONPASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace shardopt::llm {

#define GEN_PASS_DECL
#include "shardopt/Dialect/LLM/Transforms/ExecutionPasses.h.inc"

#define GEN_PASS_REGISTRATION
#include "shardopt/Dialect/LLM/Transforms/ExecutionPasses.h.inc"

} // namespace shardopt::llm

#endif // SHARDOPT_DIALECT_LLM_TRANSFORMS_EXECUTIONPASSES_H
