//===- LLMInterfaces.h - Interfaces of shardable ops -*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_IR_LLMINTERFACES_H
#define SHARDOPT_DIALECT_LLM_IR_LLMINTERFACES_H

#include "shardopt/Cost/OpModel.h"
#include "shardopt/Dialect/LLM/IR/LLMDialect.h"

#include "mlir/IR/OpDefinition.h"

#include "shardopt/Dialect/LLM/IR/LLMInterfaces.h.inc"

#endif // SHARDOPT_DIALECT_LLM_IR_LLMINTERFACES_H
