//===- PartitionInterface.h - Ops that can be partitioned -------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_PARTITIONINTERFACE_H
#define SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_PARTITIONINTERFACE_H

#include "mlir/IR/OpDefinition.h"

namespace shardopt::llm {
class OpPartition;

/// Attaches the interface to the ops of the `llm` dialect, in every context
/// that loads it through `registry`.
void registerPartitionModels(mlir::DialectRegistry &registry);

} // namespace shardopt::llm

#include "shardopt/Dialect/LLM/Transforms/Partition/PartitionInterface.h.inc"

#endif // SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_PARTITIONINTERFACE_H
