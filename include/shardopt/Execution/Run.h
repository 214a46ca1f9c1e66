//===- Run.h - Runs a program, rank by rank ---------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rank has its stage of the program, its slices of the weights, and caches of
// its own for each micro-batch. A step hands it the rows of each micro-batch in
// turn.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_EXECUTION_RUN_H
#define SHARDOPT_EXECUTION_RUN_H

#include "shardopt/Execution/Jit.h"
#include "shardopt/Execution/PlannedOrder.h"
#include "shardopt/Execution/Runtime/Process.h"
#include "shardopt/Execution/Weights.h"

#include <map>

namespace shardopt::execution {

/// Tokens and positions of all rows, prompt by prompt: [rows] each.
struct Feed {
  tensors::Tensor tokens;
  tensors::Tensor positions;
};

/// Global values by name of the argument.
using NamedTensors = std::map<std::string, tensors::Tensor>;

/// What all ranks are told.
struct RunRequest {
  int64_t prompts = 1;
  int64_t rowsPerPrompt = 1;  ///< 1 in decode
  int64_t cachePositions = 1; ///< room in the caches
  std::vector<Feed> steps;
  uint64_t seed = 0;            ///< of arguments that are not given
  NamedTensors arguments;       ///< caches and others that are given
  bool areCachesRandom = false; ///< what the others begin with, else zeros
  bool wantsCaches = true;      ///< in the outcome
  bool wantsValues = false;     ///< of programs that keep values
  /// In which turns micro-batches go on, of a program that keeps values; null:
  /// one after the other. Not for ranks of MPI.
  const PlannedOrder *plan = nullptr;
};

/// A value that the program kept.
struct KeptValue {
  int64_t site = 0;
  int64_t microBatch = 0;
  tensors::Tensor value;
};

/// What one rank has computed.
struct RankOutcome {
  /// By step, micro-batch, result of the stage.
  std::vector<std::vector<std::vector<tensors::Tensor>>> results;
  /// By micro-batch, cache of the stage.
  std::vector<std::vector<tensors::Tensor>> caches;
  std::vector<KeptValue> values; ///< in the order of execution
  std::vector<runtime::SiteStatistics> statistics;
  /// With a plan: by step, what was done, in the order of execution.
  std::vector<std::vector<runtime::Turn>> turns;
};

/// A program that is ready to run.
struct Executable {
  ProgramInterface interface;
  LoadedProgram code;
};

/// Runs the part of `process` in a request. Errors: what a rank cannot load,
/// what the program cannot be given, what its collectives report.
ErrorOr<RankOutcome> runRank(runtime::Process &process,
                             const Executable &program, const Weights &weights,
                             const RunRequest &request);

} // namespace shardopt::execution

#endif // SHARDOPT_EXECUTION_RUN_H
