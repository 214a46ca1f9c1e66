//===- ChildSolver.cpp - Work that can be ended at any time ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChildSolver.h"

#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

using namespace shardopt;
using namespace shardopt::schedule;

[[noreturn]] static void
workAndExit(int output, const std::function<std::vector<double>()> &work) {
#ifdef __linux__
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  // What a terminal sends to all is for the parent to answer.
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE})
    std::signal(signal, SIG_IGN);
  int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  ::dup2(nowhere, STDOUT_FILENO);
  std::vector<double> numbers = work();
  const char *at = reinterpret_cast<const char *>(numbers.data());
  size_t left = numbers.size() * sizeof(double);
  while (left) {
    ssize_t count = ::write(output, at, left);
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      ::_exit(1);
    at += count;
    left -= size_t(count);
  }
  ::_exit(0);
}

/// All that comes from `input` until its end; nothing once the budget is over.
static std::string readUntilOver(int input, const Budget &budget) {
  constexpr int milliseconds = 20; // between looks at the clock
  std::string bytes;
  char buffer[1 << 16];
  while (true) {
    if (budget.isOver())
      return "";
    struct pollfd ready = {input, POLLIN, 0};
    if (::poll(&ready, 1, milliseconds) <= 0)
      continue;
    ssize_t count = ::read(input, buffer, sizeof(buffer));
    if (count > 0)
      bytes.append(buffer, size_t(count));
    else if (count == 0)
      return bytes;
    else if (errno != EINTR)
      return "";
  }
}

std::vector<double>
schedule::runInChild(const Budget &budget,
                     const std::function<std::vector<double>()> &work) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return {};
  pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    workAndExit(ends[1], work);
  }
  ::close(ends[1]);
  std::string bytes = child < 0 ? "" : readUntilOver(ends[0], budget);
  ::close(ends[0]);
  if (child < 0)
    return {};
  if (bytes.empty())
    ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return {};
  std::vector<double> numbers(bytes.size() / sizeof(double));
  bytes.copy(reinterpret_cast<char *>(numbers.data()),
             numbers.size() * sizeof(double));
  return numbers;
}
