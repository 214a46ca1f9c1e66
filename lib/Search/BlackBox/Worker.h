//===- Worker.h - A process that answers line by line -----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_SEARCH_BLACKBOX_WORKER_H
#define SHARDOPT_LIB_SEARCH_BLACKBOX_WORKER_H

#include "GuardedProcess.h"
#include "LineBuffer.h"
#include "shardopt/Support/Stop.h"

#include <chrono>
#include <string_view>

namespace shardopt::blackbox {

/// What came back for a line that was sent to a worker.
struct Reply {
  enum class Kind : unsigned char {
    Line,  ///< `text` is the answer
    Ended, ///< the worker closed its output, or died
    TimedOut,
    TooLong, ///< a line of more than `Worker::maxReplyBytes`
    Stopped, ///< we were asked to stop meanwhile
  };
  Kind kind;
  std::string text = {};
};

/// A running command that is sent lines and answers each with one. What it
/// writes on its standard error passes through to ours.
class Worker {
public:
  static constexpr size_t maxReplyBytes = size_t(1) << 20;

  static ErrorOr<Worker> start(const std::vector<std::string> &command);

  Worker(Worker &&) = default;
  /// Closes the worker's input, which ends a worker that keeps the protocol,
  /// and kills what is left a moment later.
  ~Worker();

  /// Sends `line` and waits for the answer, at most for `patience`. After
  /// anything but a line the worker is of no more use. `stop` may be null.
  Reply ask(std::string line, std::chrono::duration<double> patience,
            const StopToken *stop);

  /// Kills the worker at once. Returns the status with which it ended.
  int kill();
  /// The same for a worker that ended itself: says how.
  std::string describeEnd();

  /// The last lines on the standard error, without the final line break.
  const std::string &lastErrors() const { return errorTail; }

private:
  explicit Worker(GuardedProcess process)
      : process(std::move(process)), lines(maxReplyBytes) {}

  /// Waits for something to do at most for `milliseconds`; false if the
  /// worker's output has ended.
  bool pump(std::string_view &unsent, int milliseconds);
  void forwardErrors();

  GuardedProcess process;
  LineBuffer lines;
  std::string errorTail;
};

} // namespace shardopt::blackbox

#endif // SHARDOPT_LIB_SEARCH_BLACKBOX_WORKER_H
