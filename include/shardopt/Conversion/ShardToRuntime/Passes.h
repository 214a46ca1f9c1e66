//===- Passes.h - From collectives to the runtime ---------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_CONVERSION_SHARDTORUNTIME_PASSES_H
#define SHARDOPT_CONVERSION_SHARDTORUNTIME_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace shardopt::llm {

#define GEN_PASS_DECL
#include "shardopt/Conversion/ShardToRuntime/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "shardopt/Conversion/ShardToRuntime/Passes.h.inc"

} // namespace shardopt::llm

#endif // SHARDOPT_CONVERSION_SHARDTORUNTIME_PASSES_H
