//===- GuardedProcess.cpp - A process that cannot outlive us --------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GuardedProcess.h"

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace shardopt;
using namespace shardopt::blackbox;

void Descriptor::close() {
  if (number >= 0)
    ::close(std::exchange(number, -1));
}

namespace {

/// The two ends of a pipe: what is written to `write` comes out of `read`.
struct Pipe {
  Descriptor read, write;

  static std::optional<Pipe> create() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
      return std::nullopt;
    return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
  }
};

/// Holds back all signals of this thread while it lives, so that a fork does
/// not run our handlers.
class SignalsBlocked {
public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }

private:
  sigset_t before;
};

} // namespace

//===----------------------------------------------------------------------===//
// In the forked processes
//
// Other threads of ours may hold any lock at the time of the fork: only
// functions that are safe in a signal handler may be called here.
//===----------------------------------------------------------------------===//

static constexpr int exitCannotRun = 127;

/// Closes the descriptors from `first` to `last`, open or not.
static void closeRange(unsigned first, unsigned last) {
#ifdef SYS_close_range
  if (first > last || syscall(SYS_close_range, first, last, 0) == 0)
    return;
#endif
  long limit = sysconf(_SC_OPEN_MAX);
  for (long descriptor = first; descriptor <= last && descriptor < limit;
       ++descriptor)
    ::close(int(descriptor));
}

/// Becomes the command.
[[noreturn]] static void runCommand(char *const *arguments, int input,
                                    int output, int errors) {
  setpgid(0, 0);
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(errors, STDERR_FILENO);
  closeRange(STDERR_FILENO + 1, UINT_MAX);
  // Handlers go with the execution; what is ignored or blocked would stay.
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGCHLD})
    ::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execv(arguments[0], arguments);
  constexpr std::string_view message = "cannot be executed\n";
  (void)!::write(STDERR_FILENO, message.data(), message.size());
  _exit(exitCannotRun);
}

/// Waits for the end of the lifeline, kills the group of `command`, and sends
/// its status over the lifeline. All signals are blocked.
[[noreturn]] static void standGuard(pid_t command, int lifeline) {
  setpgid(0, 0);
  setpgid(command, command);
  // A pipe of another worker that stayed open here would keep that worker from
  // seeing its end.
  closeRange(0, lifeline - 1);
  closeRange(lifeline + 1, UINT_MAX);
  char byte;
  while (::read(lifeline, &byte, 1) < 0 && errno == EINTR) {
  }
  ::kill(-command, SIGKILL);
  int status = 0;
  while (waitpid(command, &status, 0) < 0 && errno == EINTR) {
  }
  (void)!::send(lifeline, &status, sizeof(status), MSG_NOSIGNAL);
  _exit(0);
}

//===----------------------------------------------------------------------===//
// In our process
//===----------------------------------------------------------------------===//

ErrorOr<GuardedProcess>
GuardedProcess::start(const std::vector<std::string> &command) {
  auto fail = [&] {
    return Error{"cannot start '" + command.front() +
                 "': " + std::strerror(errno)};
  };
  std::vector<char *> arguments;
  for (const std::string &argument : command)
    arguments.push_back(const_cast<char *>(argument.c_str()));
  arguments.push_back(nullptr);

  std::optional<Pipe> input = Pipe::create(), output = Pipe::create(),
                      errors = Pipe::create();
  int ends[2];
  if (!input || !output || !errors ||
      socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail();
  Descriptor ours(ends[0]), theirs(ends[1]);
  for (const Descriptor *end : {&input->write, &output->read, &errors->read})
    fcntl(end->get(), F_SETFL, O_NONBLOCK);

  pid_t guard;
  {
    SignalsBlocked blocked;
    guard = fork();
    if (guard == 0) {
      pid_t child = fork();
      if (child == 0)
        runCommand(arguments.data(), input->read.get(), output->write.get(),
                   errors->write.get());
      if (child > 0)
        standGuard(child, theirs.get());
      int status = W_EXITCODE(exitCannotRun, 0);
      (void)!::send(theirs.get(), &status, sizeof(status), MSG_NOSIGNAL);
      _exit(0);
    }
  }
  if (guard < 0)
    return fail();

  GuardedProcess process;
  process.input = std::move(input->write);
  process.output = std::move(output->read);
  process.errors = std::move(errors->read);
  process.lifeline = std::move(ours);
  process.guard = guard;
  return process;
}

int GuardedProcess::kill() {
  if (!lifeline.isOpen())
    return status;
  ::shutdown(lifeline.get(), SHUT_WR);
  while (::recv(lifeline.get(), &status, sizeof(status), 0) < 0 &&
         errno == EINTR) {
  }
  lifeline.close();
  while (waitpid(guard, nullptr, 0) < 0 && errno == EINTR) {
  }
  return status;
}

static std::string describeSignal(int signal) {
  return "signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
}

std::string blackbox::describeStatus(int status) {
  if (WIFSIGNALED(status))
    return "was killed by " + describeSignal(WTERMSIG(status));
  int code = WEXITSTATUS(status);
  std::string text = "exited with status " + std::to_string(code);
  // That is how a shell tells that a signal killed its command.
  if (code > 128 && code < 128 + SIGRTMIN)
    text += ", as after " + describeSignal(code - 128);
  return text;
}
