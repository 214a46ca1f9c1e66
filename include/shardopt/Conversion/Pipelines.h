//===- Pipelines.h - From the llm dialect to machine code -------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sequences of passes that belong together, each one for C++ and as a pipeline
// of `shard-opt`.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_CONVERSION_PIPELINES_H
#define SHARDOPT_CONVERSION_PIPELINES_H

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"

#include <string>

namespace shardopt {

/// What the execution of a program may be asked for.
struct ExecutableOptions {
  bool keepValues = false;        ///< hands marked values to the runtime
  bool isRoutingBalanced = false; ///< routes by row, not by score
};

/// From a program (plain or of one device) to one on tensors whose params are
/// arguments and whose collectives are calls: splits stages, then
/// `--llm-params-to-arguments`, `--convert-llm-to-linalg`,
/// `--convert-shard-to-runtime`.
void addTensorPasses(mlir::OpPassManager &manager,
                     const ExecutableOptions &options = {});

/// From there to the LLVM dialect. Public functions with caches become private,
/// and an entry (see `entryName`) updates the caches in place.
void addLLVMPasses(mlir::OpPassManager &manager);

/// The public function that runs `function` once it is lowered.
std::string entryName(llvm::StringRef function);

/// Registers the conversions, and `--llm-to-llvm`, all of the above.
void registerExecutionPasses();

/// The dialects of what these passes leave, and how they are bufferized and
/// lowered.
void registerExecutionDialects(mlir::DialectRegistry &registry);

} // namespace shardopt

#endif // SHARDOPT_CONVERSION_PIPELINES_H
