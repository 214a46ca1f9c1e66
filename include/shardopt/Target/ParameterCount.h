//===- ParameterCount.h - Number of parameters of a module ------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_TARGET_PARAMETERCOUNT_H
#define SHARDOPT_TARGET_PARAMETERCOUNT_H

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>

namespace shardopt {

/// Elements of every `llm.param` of `module`, those within an `llm.repeat` once
/// for each of its layers. A table that the embedding and the head share counts
/// once. 2^64 - 1 stands for that many or more.
uint64_t countParameters(mlir::ModuleOp module);

} // namespace shardopt

#endif // SHARDOPT_TARGET_PARAMETERCOUNT_H
