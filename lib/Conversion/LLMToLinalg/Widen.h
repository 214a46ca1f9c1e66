//===- Widen.h - All floats as f32 ------------------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_CONVERSION_LLMTOLINALG_WIDEN_H
#define SHARDOPT_LIB_CONVERSION_LLMTOLINALG_WIDEN_H

#include "mlir/IR/BuiltinOps.h"

namespace shardopt::llm {

/// Makes every float narrower than f32 of the module one, in types of values
/// and functions and in constants. Types that attributes mention otherwise
/// stay.
void widenFloats(mlir::ModuleOp module);

} // namespace shardopt::llm

#endif // SHARDOPT_LIB_CONVERSION_LLMTOLINALG_WIDEN_H
