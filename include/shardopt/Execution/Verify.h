//===- Verify.h - Sharded against unsharded ---------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a program on one device and its partitioned form on many, on the same
// weights and inputs, and compares what they compute.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_EXECUTION_VERIFY_H
#define SHARDOPT_EXECUTION_VERIFY_H

#include "shardopt/Execution/Compare.h"
#include "shardopt/Execution/World.h"

#include "mlir/IR/OwningOpRef.h"

namespace shardopt::execution {

/// What decides inputs and verdict.
struct VerifyOptions {
  uint64_t seed = 1;
  int64_t steps = 3;       ///< of decode
  int64_t prompts = 0;     ///< 0: as the strategy says, else 4
  int64_t context = 0;     ///< 0: as the workload says, else 8
  double tolerance = 2e-5; ///< of the largest magnitude of a result
  PartitionOptions partition;
  BuildOptions build;
};

struct Verdict {
  std::vector<ResultError> results;
  double maxAbs = 0;
  double maxRel = 0;
  bool isEqual = true;         ///< within the tolerance
  std::string failure;         ///< why there is nothing to compare, if so
  std::string firstDifference; ///< which op went wrong first, where one did

  /// Adds what one program has shown.
  void add(std::vector<ResultError> found, double tolerance);

  /// "verify: OK max_abs=… max_rel=…" or "verify: FAILED …".
  std::string line() const;
};

/// What programs that run one after the other are given, where nothing else is
/// said: random tokens, and positions that go on where the program before has
/// stopped. A first decode begins in random caches, at places that differ from
/// prompt to prompt.
ErrorOr<std::vector<RunRequest>>
planRequests(const std::vector<mlir::ModuleOp> &modules,
             const VerifyOptions &options);

/// Builds the unsharded form of `module`, which stays as it is.
ErrorOr<Built> buildWhole(mlir::ModuleOp module, const BuildOptions &options,
                          Codegen codegen = Codegen::Object);
/// Builds the partitioned form of `module`, which stays as it is.
ErrorOr<Built> buildParts(mlir::ModuleOp module, const VerifyOptions &options,
                          Codegen codegen = Codegen::Object);

/// Verifies annotated programs that run one after the other on the same caches:
/// one, or prefill and then decode. All have their params from `weights`.
/// Unsharded forms in `wholes` are used where they are given, one for each
/// module. An error is about what was asked for; what the program does wrong is
/// in the verdict.
ErrorOr<Verdict> verify(const std::vector<mlir::ModuleOp> &modules,
                        const VerifyOptions &options, const Weights &weights,
                        World &world,
                        const std::vector<const Executable *> &wholes = {});

} // namespace shardopt::execution

#endif // SHARDOPT_EXECUTION_VERIFY_H
