//===- Build.h - From modules to executables --------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_EXECUTION_BUILD_H
#define SHARDOPT_EXECUTION_BUILD_H

#include "shardopt/Conversion/Pipelines.h"
#include "shardopt/Execution/Run.h"

namespace shardopt::execution {

/// Whether a build makes machine code, or only says what the program takes.
enum class Codegen { Object, InterfaceOnly };

struct BuildOptions {
  std::string entry; ///< empty: the only public function
  ExecutableOptions lowering;
  unsigned optimization = 0; ///< of machine code, 0 to 3
};

/// A program on its way to the ranks: what one rank compiles.
struct Built {
  ProgramInterface interface;
  ObjectCode object;
};

/// Compiles `module`, plain or of one device; it is lowered in place. What the
/// passes find wrong is reported as diagnostics.
ErrorOr<Built> build(mlir::ModuleOp module, const BuildOptions &options,
                     Codegen codegen = Codegen::Object);

/// Makes compiled code callable.
ErrorOr<Executable> load(Built built);

/// Whether `module` has a complete strategy to be partitioned by.
bool isAnnotated(mlir::ModuleOp module);

struct PartitionOptions {
  bool optimizesCollectives = false;
  /// Removes the all_reduce of this number in program order: a lowering that is
  /// wrong on purpose, for the tests of what must find it.
  int64_t droppedAllReduce = -1;
};

/// Replaces an annotated module by the per-rank program.
std::optional<Error> partition(mlir::ModuleOp module,
                               const PartitionOptions &options);

/// Makes every `llm.lm_head` of the top level give its logits, as a result of
/// its function too.
void requestLogits(mlir::ModuleOp module);

/// Rows of the table of the first `llm.embedding`, over all devices; 0 where
/// there is none. Errors: a slice of it that is none, also as a diagnostic.
ErrorOr<int64_t> findVocabulary(mlir::ModuleOp module);

} // namespace shardopt::execution

#endif // SHARDOPT_EXECUTION_BUILD_H
