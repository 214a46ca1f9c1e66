//===- GuardedProcess.h - A process that cannot outlive us ------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_SEARCH_BLACKBOX_GUARDEDPROCESS_H
#define SHARDOPT_LIB_SEARCH_BLACKBOX_GUARDEDPROCESS_H

#include "shardopt/Support/Error.h"

#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace shardopt::blackbox {

/// Owns a file descriptor.
class Descriptor {
public:
  Descriptor() = default;
  explicit Descriptor(int number) : number(number) {}
  Descriptor(Descriptor &&other) noexcept
      : number(std::exchange(other.number, -1)) {}
  Descriptor &operator=(Descriptor &&other) noexcept {
    std::swap(number, other.number);
    return *this;
  }
  ~Descriptor() { close(); }

  int get() const { return number; }
  bool isOpen() const { return number >= 0; }
  void close();

private:
  int number = -1;
};

/// A command in a process group of its own, with pipes to its standard streams.
///
/// Between us and the command stands a *guard*, a fork of this process that
/// waits on a socket whose other end we hold. When that end closes, because
/// `kill` closes it or because we are gone, however that came, the guard kills
/// the whole group. Signals of the terminal reach neither of them.
class GuardedProcess {
public:
  /// Runs `command` (a path and its arguments). That it cannot be executed
  /// shows as an end with status 127.
  static ErrorOr<GuardedProcess> start(const std::vector<std::string> &command);

  GuardedProcess(GuardedProcess &&) = default;
  GuardedProcess &operator=(GuardedProcess &&) = delete;
  ~GuardedProcess() { kill(); }

  /// Kills the group of the command unless that was done before, and returns
  /// the status of the command as `waitpid` gives it.
  int kill();

  // Our ends of the command's streams; they do not block.
  Descriptor input;  ///< what the command reads
  Descriptor output; ///< what it writes
  Descriptor errors; ///< what it writes on its standard error

private:
  GuardedProcess() = default;

  Descriptor lifeline; ///< the guard waits for its end; open: not killed yet
  pid_t guard = -1;
  int status = 0;
};

/// "exited with status 3", "was killed by signal 11 (Segmentation fault)",
/// "exited with status 139, as after signal 11 (Segmentation fault)".
std::string describeStatus(int status);

} // namespace shardopt::blackbox

#endif // SHARDOPT_LIB_SEARCH_BLACKBOX_GUARDEDPROCESS_H
