//===- World.h - Ranks that run a program -----------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef SHARDOPT_EXECUTION_WORLD_H
#define SHARDOPT_EXECUTION_WORLD_H

#include "shardopt/Execution/Build.h"

namespace shardopt::execution {

/// Where the ranks of a program are.
class World {
public:
  virtual ~World() = default;

  /// Whether this process is the one that compiles, compares and reports.
  virtual bool isLeader() const = 0;

  /// Hands what the leader built to all processes, and loads it. Only the
  /// leader's `built` matters; an error there is one everywhere.
  virtual ErrorOr<Executable> load(ErrorOr<Built> built) = 0;

  /// Runs a request, of which only the leader's counts, on the ranks of
  /// `program`. The outcomes, in order of ranks, are the leader's; the list is
  /// empty elsewhere.
  virtual ErrorOr<std::vector<RankOutcome>>
  run(const Executable &program, const Weights &weights,
      const RunRequest &request) = 0;
};

/// One thread a rank, in this process.
std::unique_ptr<World> createThreadWorld();

} // namespace shardopt::execution

#endif // SHARDOPT_EXECUTION_WORLD_H
