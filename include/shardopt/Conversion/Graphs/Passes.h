//===- Passes.h - Shardings of foreign graphs -------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_CONVERSION_GRAPHS_PASSES_H
#define SHARDOPT_CONVERSION_GRAPHS_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace shardopt::graphs {

#define GEN_PASS_DECL
#include "shardopt/Conversion/Graphs/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "shardopt/Conversion/Graphs/Passes.h.inc"

} // namespace shardopt::graphs

#endif // SHARDOPT_CONVERSION_GRAPHS_PASSES_H
