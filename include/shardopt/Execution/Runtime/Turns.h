//===- Turns.h - Programs of one rank that take turns -----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A rank runs the same compiled code once for each micro-batch. Here these runs
// are programs of their own, each on a thread. One of them goes on at a time:
// where it has done what its turn is for, the program of the next turn goes on.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_EXECUTION_RUNTIME_TURNS_H
#define SHARDOPT_EXECUTION_RUNTIME_TURNS_H

#include "shardopt/Execution/Runtime/Process.h"

#include <condition_variable>
#include <mutex>
#include <vector>

namespace shardopt::runtime {

/// A program goes on until it has done what `label` stands for.
struct Turn {
  int64_t program = 0;
  int64_t label = 0;

  friend bool operator==(const Turn &a, const Turn &b) {
    return a.program == b.program && a.label == b.label;
  }
};

class Turns {
public:
  /// `describe` is what to call a turn in messages.
  Turns(Process &process, std::vector<Turn> order, int64_t programs,
        std::function<std::string(const Turn &)> describe);

  /// Runs `body` for each program, from the first turn on. The last turn of a
  /// program is over when the program is; programs without turns come last. The
  /// error is the first that a program has, after which the others leave.
  std::optional<Error>
  run(const std::function<std::optional<Error>(int64_t program)> &body);

  /// Of the program that goes on: it has done `label`, and waits for its next
  /// turn. Where another label was planned, and where another program has
  /// failed by then, the process has a failure afterwards, and compiled code is
  /// to be left.
  void finish(int64_t label);

  /// The program that goes on; only to be asked by itself.
  int64_t running() const { return owner; }
  /// What was done in the last run, in that order.
  const std::vector<Turn> &done() const { return finished; }

private:
  void passOn();
  std::optional<Error> end(std::optional<Error> error);

  Process &process;
  const std::vector<Turn> order;
  const int64_t programs;
  const std::function<std::string(const Turn &)> describe;

  /// Guards whose turn it is; the rest belongs to the program that goes on.
  std::mutex mutex;
  std::condition_variable changed;
  int64_t owner = 0;
  size_t head = 0;                ///< the turn at hand
  bool isHeadDone = false;        ///< and its program goes on to its end
  std::vector<int64_t> turnsLeft; ///< by program
  std::vector<bool> isOver;       ///< by program
  std::vector<Turn> finished;
};

} // namespace shardopt::runtime

#endif // SHARDOPT_EXECUTION_RUNTIME_TURNS_H
