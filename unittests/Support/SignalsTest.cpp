//===- SignalsTest.cpp - Tests of what signals do -------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Support/Signals.h"

#include "TemporaryFolder.h"
#include "shardopt/Support/OutputFile.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace shardopt;

/// The status with which a process ends that runs `body`.
template <typename Body> static int statusOf(Body body) {
  pid_t child = fork();
  if (child == 0) {
    // A sanitizer would say that a crash is one, and what started the tests may
    // ignore others.
    for (int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGHUP, SIGINT,
                       SIGQUIT, SIGPIPE})
      std::signal(signal, SIG_DFL);
    body();
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

TEST(Signals, everySignalRemovesTemporaryFiles) {
  for (int signal :
       {SIGHUP, SIGINT, SIGQUIT, SIGABRT, SIGSEGV, SIGPIPE, SIGTERM, SIGXCPU}) {
    TemporaryFolder folder;
    int status = statusOf([&] {
      handleSignals(nullptr);
      ErrorOr<OutputFile> kept = OutputFile::open(folder.path("kept"));
      if (!kept || kept->keep())
        _exit(1);
      ErrorOr<OutputFile> file = OutputFile::open(folder.path("out"));
      if (!file || folder.entries() != 2)
        _exit(1);
      raise(signal);
    });
    EXPECT_TRUE(WIFSIGNALED(status)) << signal;
    EXPECT_EQ(WTERMSIG(status), signal);
    EXPECT_EQ(folder.entries(), 1u) << signal;
  }
}

TEST(Signals, theFirstRequestOnlyAsks) {
  static StopToken stop;
  int status = statusOf([] {
    handleSignals(&stop);
    raise(SIGHUP);
    _exit(stop.signal());
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), SIGHUP);
  status = statusOf([] {
    handleSignals(&stop);
    raise(SIGTERM);
    raise(SIGINT);
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGINT);
}

TEST(Signals, whatIsIgnoredStaysIgnored) {
  int status = statusOf([] {
    std::signal(SIGHUP, SIG_IGN);
    StopToken stop;
    handleSignals(&stop);
    raise(SIGHUP);
    _exit(stop.requested());
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(Signals, forkedProcessesLeaveFilesAlone) {
  TemporaryFolder folder;
  int status = statusOf([&] {
    handleSignals(nullptr);
    ErrorOr<OutputFile> file = OutputFile::open(folder.path("out"));
    if (!file)
      _exit(1);
    if (fork() == 0)
      raise(SIGTERM);
    int inner = -1;
    wait(&inner);
    _exit(file->keep() ? 1 : 0);
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(Signals, theReaderOfAPipeMayLeave) {
  TemporaryFolder folder;
  std::string path = folder.path("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  int status = statusOf([&] {
    std::signal(SIGPIPE, SIG_DFL);
    int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK);
    ErrorOr<OutputFile> file = OutputFile::open(path);
    close(reader);
    if (!file)
      _exit(1);
    file->write("text");
    std::optional<Error> error = file->keep();
    _exit(error && error->message == path + ": cannot write: Broken pipe" ? 0
                                                                          : 2);
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}
