//===- Worker.cpp - A process that answers line by line -------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Worker.h"

#include "shardopt/Support/Signals.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace shardopt;
using namespace shardopt::blackbox;

using Clock = std::chrono::steady_clock;

/// How long we wait before we look whether we were asked to stop.
static constexpr int sliceMs = 50;
/// How long a worker may take to end once its input has ended.
static constexpr int farewellMs = 500;
/// What is kept of the standard error for messages.
static constexpr size_t maxTailBytes = 2000;

ErrorOr<Worker> Worker::start(const std::vector<std::string> &command) {
  ErrorOr<GuardedProcess> process = GuardedProcess::start(command);
  if (!process)
    return process.error();
  return Worker(std::move(*process));
}

Worker::~Worker() {
  if (!process.output.isOpen())
    return; // moved from, or killed
  process.input.close();
  std::string_view nothing;
  auto deadline = Clock::now() + std::chrono::milliseconds(farewellMs);
  while (Clock::now() < deadline && pump(nothing, farewellMs))
    while (lines.take()) {
    }
  kill();
}

int Worker::kill() {
  int status = process.kill();
  forwardErrors();
  process.output.close();
  return status;
}

void Worker::forwardErrors() {
  // What a pipe holds, and no more: a worker may write without end.
  char block[4096];
  for (int blocks = 0; blocks < 16 && process.errors.isOpen(); ++blocks) {
    ssize_t count = ::read(process.errors.get(), block, sizeof(block));
    if (count < 0)
      return;
    if (count == 0)
      return process.errors.close();
    (void)!::write(STDERR_FILENO, block, count);
    errorTail.append(block, count);
    if (errorTail.size() > maxTailBytes)
      errorTail.erase(0, errorTail.size() - maxTailBytes);
  }
}

bool Worker::pump(std::string_view &unsent, int milliseconds) {
  pollfd waited[] = {
      {process.output.get(), POLLIN, 0},
      {process.errors.get(), POLLIN, 0}, // -1, once closed, is passed over
      {unsent.empty() ? -1 : process.input.get(), POLLOUT, 0},
  };
  if (::poll(waited, std::size(waited), milliseconds) <= 0)
    return true;
  if (waited[1].revents)
    forwardErrors();
  if (waited[2].revents) {
    BrokenPipesIgnored guard;
    ssize_t count = ::write(process.input.get(), unsent.data(), unsent.size());
    if (count > 0)
      unsent.remove_prefix(count);
    else if (errno != EAGAIN && errno != EINTR)
      unsent = {}; // nobody reads it; what there is to read says why
  }
  if (!waited[0].revents)
    return true;
  LineBuffer::Fill fill = lines.fillFrom(process.output.get());
  return fill == LineBuffer::Fill::Read || fill == LineBuffer::Fill::Again;
}

Reply Worker::ask(std::string line, std::chrono::duration<double> patience,
                  const StopToken *stop) {
  line += '\n';
  std::string_view unsent = line;
  auto start = Clock::now();
  bool isOpen = true;
  while (true) {
    // A line that was there before the question is taken for its answer: who
    // reads it sees that it is none.
    if (std::optional<LineBuffer::Line> answer = lines.take()) {
      if (answer->tooLong)
        return {Reply::Kind::TooLong};
      return {Reply::Kind::Line, std::string(answer->text)};
    }
    if (!isOpen)
      return {Reply::Kind::Ended};
    if (lines.isOverflowing())
      return {Reply::Kind::TooLong};
    if (stop && stop->requested())
      return {Reply::Kind::Stopped};
    std::chrono::duration<double, std::milli> left =
        patience - (Clock::now() - start);
    if (left.count() <= 0)
      return {Reply::Kind::TimedOut};
    isOpen =
        pump(unsent, int(std::min<double>(sliceMs, std::ceil(left.count()))));
  }
}

std::string Worker::describeEnd() {
  int status = kill();
  // It was still running with its output closed.
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
    return "closed its standard output, or was killed";
  return describeStatus(status);
}
