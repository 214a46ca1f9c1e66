//===- Signals.cpp - What signals do to a tool ----------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Support/Signals.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <string_view>

#include <unistd.h>

using namespace shardopt;

//===----------------------------------------------------------------------===//
// Files to remove
//===----------------------------------------------------------------------===//

namespace {
/// A file to remove. In memory that is never freed, for the handler reads it at
/// any time.
struct Doomed {
  std::atomic<pid_t> owner{0}; ///< whose file it is; 0 where the place is free
  char path[PATH_MAX];
};
} // namespace

static Doomed doomed[256];
static std::mutex doomedMutex; ///< for all but the handler

void shardopt::removeOnSignal(const std::string &path) {
  if (path.size() >= PATH_MAX)
    return;
  std::lock_guard lock(doomedMutex);
  for (Doomed &place : doomed) {
    if (place.owner.load() != 0)
      continue;
    std::strcpy(place.path, path.c_str());
    place.owner.store(::getpid());
    return;
  }
}

void shardopt::keepOnSignal(const std::string &path) {
  std::lock_guard lock(doomedMutex);
  for (Doomed &place : doomed)
    if (place.owner.load() != 0 && path == place.path)
      place.owner.store(0);
}

/// Safe in a signal handler.
static void removeDoomed() {
  for (Doomed &place : doomed)
    if (place.owner.load() == ::getpid())
      ::unlink(place.path);
}

//===----------------------------------------------------------------------===//
// Handlers
//===----------------------------------------------------------------------===//

/// The signals that end a process by default and can be caught, but for
/// SIGUSR1, on which LLVM says how far it is.
static constexpr int endingSignals[] = {
    SIGHUP,  SIGINT,  SIGQUIT, SIGILL,  SIGTRAP, SIGABRT,  SIGBUS,
    SIGFPE,  SIGSEGV, SIGUSR2, SIGPIPE, SIGALRM, SIGTERM,  SIGXCPU,
    SIGXFSZ, SIGIO,   SIGPWR,  SIGPROF, SIGSYS,  SIGVTALRM};

/// How long a crash may take to say what it is.
static constexpr unsigned crashSeconds = 30;

static StopToken *stopToken;
static struct sigaction otherwise[NSIG]; ///< what signals did before

static bool asksToStop(int signal) {
  return signal == SIGINT || signal == SIGTERM || signal == SIGHUP;
}

static bool isCrash(int signal) {
  for (int crash : {SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS})
    if (signal == crash)
      return true;
  return false;
}

static void handle(int signal, siginfo_t *info, void *context) {
  if (stopToken && asksToStop(signal) && !stopToken->requested()) {
    stopToken->request(signal);
    return;
  }
  removeDoomed();
  if (isCrash(signal)) {
    ::signal(SIGALRM, SIG_DFL);
    alarm(crashSeconds);
  }
  const struct sigaction &previous = otherwise[signal];
  sigaction(signal, &previous, nullptr);
  if (previous.sa_flags & SA_SIGINFO)
    previous.sa_sigaction(signal, info, context);
  else if (previous.sa_handler != SIG_DFL)
    previous.sa_handler(signal);
  else
    raise(signal);
}

void shardopt::handleSignals(StopToken *stop) {
  stopToken = stop;
  std::atexit(removeDoomed); // of a library that calls exit()
  for (int signal : endingSignals) {
    sigaction(signal, nullptr, &otherwise[signal]);
    bool hasInfo = otherwise[signal].sa_flags & SA_SIGINFO;
    if (!hasInfo && otherwise[signal].sa_handler == SIG_IGN)
      continue;
    struct sigaction action = {};
    action.sa_sigaction = handle;
    // On the stack for handlers, if there is one: ours may have overflown.
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER | SA_ONSTACK;
    sigaction(signal, &action, nullptr);
  }
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void shardopt::endWithoutMemory() {
  std::set_new_handler([] {
    removeDoomed();
    constexpr std::string_view message = "error: not enough memory\n";
    // Nothing more can be done where this cannot be written either.
    [[maybe_unused]] ssize_t written =
        ::write(STDERR_FILENO, message.data(), message.size());
    ::_exit(1);
  });
}

//===----------------------------------------------------------------------===//
// Pipes without a reader
//===----------------------------------------------------------------------===//

// SIGPIPE is blocked in this thread, and taken off before it is let through.

BrokenPipesIgnored::BrokenPipesIgnored() {
  sigemptyset(&brokenPipe);
  sigaddset(&brokenPipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &brokenPipe, &before);
}

BrokenPipesIgnored::~BrokenPipesIgnored() {
  if (sigismember(&before, SIGPIPE) == 0) {
    timespec now = {0, 0};
    while (sigtimedwait(&brokenPipe, nullptr, &now) < 0 && errno == EINTR) {
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}
