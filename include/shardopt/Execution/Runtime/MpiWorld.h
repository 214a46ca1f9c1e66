//===- MpiWorld.h - Ranks that are processes of MPI -------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_EXECUTION_RUNTIME_MPIWORLD_H
#define SHARDOPT_EXECUTION_RUNTIME_MPIWORLD_H

#include "shardopt/Execution/Runtime/Process.h"

namespace shardopt::runtime {

class MpiLink;
class MpiTransport;

/// Which MPI; `Automatic` is the one whose mpirun started this process.
enum class MpiKind { Automatic, OpenMpi, Mpich };

/// "auto", "openmpi" or "mpich", from an option.
ErrorOr<MpiKind> parseMpiKind(const std::string &text);

/// Which ranks a program may have: as many as there are processes, or also
/// fewer, on the first of them.
enum class Extent { Whole, FirstRanks };

/// The processes that one mpirun started, each a rank. All of them make the
/// same calls, in the same order. A process opens one world, once.
class MpiWorld {
public:
  /// Opens the module of an MPI and initializes it. An error where no mpirun
  /// started this process or another MPI's did, where the module was not built,
  /// and where MPI sees another number of processes than mpirun started.
  /// A rank that waits for a message for longer than `timeLimit` seconds (0: no
  /// limit) fails, as what waits for it does then.
  static ErrorOr<std::unique_ptr<MpiWorld>> open(MpiKind kind,
                                                 double timeLimit = 0);

  /// Waits for all processes, and finalizes MPI.
  ~MpiWorld();

  int64_t rank() const { return first.rank(); }
  int64_t size() const { return first.grid().size(); }

  /// This process among all, on a grid of one axis: for what goes on between
  /// programs.
  Process &host() { return first; }

  /// Runs `body` on the ranks of a grid, as the current process. Where a rank
  /// reports a failure, the others are told and leave what they wait for; all
  /// processes return the failure of the lowest rank, and where each of them
  /// was. A wait for what nobody sends is such a failure, by the time limit.
  std::optional<Error> run(std::vector<int64_t> shape,
                           std::vector<std::string> sites, Extent extent,
                           const std::function<void(Process &)> &body);

  /// Of a process that `failure` keeps from going on. In rank 0: with what all
  /// processes are to end, its own failure or, where it was told of others,
  /// that of the lowest rank. Elsewhere, waits for rank 0 to end all.
  std::string concede(const std::string &failure);

  /// Of a process that is done: in rank 0, waits for the others, and returns
  /// what keeps the lowest one from being so.
  std::optional<Error> finish();

  /// Ends all processes, wherever they are.
  [[noreturn]] void abort(int status);

private:
  MpiWorld(std::unique_ptr<MpiLink> opened, double timeLimit);
  std::optional<Error> agree(const std::string &failure,
                             const std::string &position);

  std::unique_ptr<MpiLink> link;
  std::unique_ptr<MpiTransport> transport;
  Program everybody;
  Process first;
};

} // namespace shardopt::runtime

#endif // SHARDOPT_EXECUTION_RUNTIME_MPIWORLD_H
