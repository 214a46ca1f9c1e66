//===- Options.h - What shard-run is asked for ------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_TOOLS_SHARDRUN_OPTIONS_H
#define SHARDOPT_TOOLS_SHARDRUN_OPTIONS_H

#include "shardopt/Execution/Verify.h"

#include <string>

namespace shardopt::run {

struct Options {
  std::string input;
  std::string then;       ///< a program that goes on with the caches
  std::string strategies; ///< a list, one a line
  std::string weights;
  std::string tokens;
  std::string expect;
  std::string output;
  std::string inputs; ///< folder of .npy files
  std::string dump;   ///< folder for .npy files
  std::string schedule;
  bool verifies = false;
  bool keepsValues = false;
  bool countsCollectives = false;
  execution::VerifyOptions verify;
};

/// Runs one program, or two in turn. Returns the exit code.
int runProgram(const Options &options,
               const std::vector<mlir::ModuleOp> &modules,
               execution::World &world);

/// Runs programs in turn and compares their logits with those of --expect.
/// `modules` are lowered in place.
ErrorOr<execution::Verdict>
expectLogits(const Options &options, const std::vector<mlir::ModuleOp> &modules,
             execution::World &world);

/// Verifies one program, or two in turn.
int verifyProgram(const Options &options,
                  const std::vector<mlir::ModuleOp> &modules,
                  execution::World &world);

/// Verifies a plain program with each strategy of a list: against the unsharded
/// program, or against the logits of --expect. Each in a process of its own,
/// or, where `world` is not null, one after the other on its ranks.
int verifyList(const Options &options,
               const std::vector<mlir::ModuleOp> &modules,
               execution::World *world);

/// Random weights, or those of --weights.
ErrorOr<std::unique_ptr<execution::Weights>>
openWeights(const Options &options);

/// Prints "error: …"; returns 1.
int fail(const std::string &message);

/// Prints in which order the ranks worked, a line each.
void printOrder(const execution::ProgramInterface &interface,
                const std::vector<execution::RankOutcome> &outcomes);

/// Prints what the ranks' collectives moved, a line each.
void printStatistics(const execution::ProgramInterface &interface,
                     const std::vector<execution::RankOutcome> &outcomes);

} // namespace shardopt::run

#endif // SHARDOPT_TOOLS_SHARDRUN_OPTIONS_H
