//===- Passes.h - From the llm dialect to linalg ----------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_CONVERSION_LLMTOLINALG_PASSES_H
#define SHARDOPT_CONVERSION_LLMTOLINALG_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace shardopt::llm {

/// Who chooses the experts of a row.
enum class Routing {
  Model,   ///< the router
  Balanced ///< choice j of row r is expert (r * k + j) mod E
};

#define GEN_PASS_DECL
#include "shardopt/Conversion/LLMToLinalg/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "shardopt/Conversion/LLMToLinalg/Passes.h.inc"

} // namespace shardopt::llm

#endif // SHARDOPT_CONVERSION_LLMTOLINALG_PASSES_H
