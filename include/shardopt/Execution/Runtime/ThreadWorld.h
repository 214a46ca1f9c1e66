//===- ThreadWorld.h - Ranks that are threads of one process ----*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_EXECUTION_RUNTIME_THREADWORLD_H
#define SHARDOPT_EXECUTION_RUNTIME_THREADWORLD_H

#include "shardopt/Execution/Runtime/Process.h"

namespace shardopt::runtime {

class Mailboxes;

/// Ranks that are threads of one process, on a grid. A rank takes only messages
/// that it names the sender of, so what each computes, and where each stops,
/// does not depend on the order in which threads run (Kahn, The semantics of a
/// simple language for parallel programming, 1974).
class ThreadWorld {
public:
  explicit ThreadWorld(std::vector<int64_t> shape,
                       std::vector<std::string> sites = {});
  ~ThreadWorld();

  int64_t size() const { return program.grid.size(); }
  /// To look at, or to set up, between runs.
  Process &process(int64_t rank) { return *processes[rank]; }

  /// Runs `body` once a rank, each on a thread of its own, as that thread's
  /// current process, and waits for all. Where no unfinished rank can move, all
  /// of them leave their compiled code; the error says where every rank is.
  /// Where a rank reported a failure, the others go on until they miss it, and
  /// the error begins with the failure of the lowest rank. The world can run
  /// again.
  std::optional<Error> run(const std::function<void(Process &)> &body);

private:
  Program program;
  std::unique_ptr<Mailboxes> mailboxes;
  std::vector<std::unique_ptr<Transport>> transports;
  std::vector<std::unique_ptr<Process>> processes;
};

} // namespace shardopt::runtime

#endif // SHARDOPT_EXECUTION_RUNTIME_THREADWORLD_H
