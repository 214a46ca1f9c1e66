//===- World.h - Ranks that run a program -----------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SHARDOPT_EXECUTION_WORLD_H
#define SHARDOPT_EXECUTION_WORLD_H

#include "shardopt/Execution/Build.h"
#include "shardopt/Execution/Runtime/MpiWorld.h"

#include <functional>

namespace shardopt::execution {

/// Where the ranks of a program are: in this process, or in several that all
/// make the same calls. One of these is the leader, which compiles, compares
/// and reports.
class World {
public:
  virtual ~World() = default;

  virtual bool isLeader() const = 0;

  /// Of a process that `failure` keeps from going on. In the leader: with what
  /// all are to end, its own failure or the first, by rank, of those that it
  /// was told. Elsewhere, waits for the leader to end all.
  virtual std::string concede(const std::string &failure) = 0;

  /// Of a process that is done: what keeps another one from being so, in the
  /// leader, which waits for all.
  virtual std::optional<Error> finish() = 0;

  /// Ends all processes, which may be waiting for this one.
  virtual void abandon(int status) = 0;

  /// What the leader says, in all processes.
  virtual bool agree(bool leaders) = 0;

  /// Compiles a program in the leader and loads it everywhere. `build` is
  /// called in each process; an error of the leader's is one everywhere.
  virtual ErrorOr<Executable>
  load(const std::function<ErrorOr<Built>(Codegen)> &build) = 0;

  /// Runs a request on the ranks of `program`; arguments that it gives are the
  /// leader's. The outcomes, in order of ranks, are the leader's too: the list
  /// is empty elsewhere.
  virtual ErrorOr<std::vector<RankOutcome>> run(const Executable &program,
                                                const Weights &weights,
                                                const RunRequest &request) = 0;
};

/// One thread a rank, in this process.
std::unique_ptr<World> createThreadWorld();

/// One process a rank, of those that mpirun started; a program of fewer ranks
/// takes the first. A rank that waits for a message for longer than `timeLimit`
/// seconds (0: no limit) fails. An error where there are not enough, and where
/// MPI cannot be opened.
ErrorOr<std::unique_ptr<World>> createMpiWorld(runtime::MpiKind kind,
                                               double timeLimit);

/// Whether mpirun of an MPI that is known has started this process.
bool isUnderMpi();

} // namespace shardopt::execution

#endif // SHARDOPT_EXECUTION_WORLD_H
