//===- Signals.h - What signals do to a tool --------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SUPPORT_SIGNALS_H
#define SHARDOPT_SUPPORT_SIGNALS_H

#include "shardopt/Support/Stop.h"

#include <csignal>
#include <string>

namespace shardopt {

/// Takes over all signals that end this process, once, from `main`. A first
/// SIGINT, SIGTERM or SIGHUP only asks `stop`, unless it is null. Every other
/// one removes the files of `removeOnSignal` and then does what it did before
/// this call. A crash that is not over after some seconds, because its handler
/// waits for a lock that the crash holds, is ended. What is ignored stays
/// ignored (`nohup`).
void handleSignals(StopToken *stop);

/// Has the file at `path` removed when a signal ends this process, not when it
/// ends one that was forked from it. There is room for some hundred files; more
/// are not remembered. Without `handleSignals()` without effect.
void removeOnSignal(const std::string &path);

/// Takes back `removeOnSignal(path)`.
void keepOnSignal(const std::string &path);

/// From here on, this process ends with the exit code 1 and a message where
/// there is not enough memory, and removes the files of `removeOnSignal`. For
/// tools without LLVM, which sees to that itself.
void endWithoutMemory();

/// While it lives, a write of this thread to a pipe without a reader is EPIPE,
/// not SIGPIPE.
class BrokenPipesIgnored {
public:
  BrokenPipesIgnored();
  ~BrokenPipesIgnored();
  BrokenPipesIgnored(const BrokenPipesIgnored &) = delete;
  BrokenPipesIgnored &operator=(const BrokenPipesIgnored &) = delete;

private:
  sigset_t brokenPipe, before;
};

} // namespace shardopt

#endif // SHARDOPT_SUPPORT_SIGNALS_H
