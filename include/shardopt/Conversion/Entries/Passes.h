//===- Passes.h - Entries that update caches in place -----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_CONVERSION_ENTRIES_PASSES_H
#define SHARDOPT_CONVERSION_ENTRIES_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace shardopt::llm {

#define GEN_PASS_DECL
#include "shardopt/Conversion/Entries/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "shardopt/Conversion/Entries/Passes.h.inc"

} // namespace shardopt::llm

#endif // SHARDOPT_CONVERSION_ENTRIES_PASSES_H
