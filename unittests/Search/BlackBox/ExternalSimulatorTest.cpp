//===- ExternalSimulatorTest.cpp - Tests of worker processes --------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/BlackBox/ExternalSimulator.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <thread>
#include <unistd.h>

using namespace shardopt;
using namespace shardopt::blackbox;

static SimulatedProblem problem() {
  SimulatedProblem problem;
  problem.model = "toy";
  problem.context = 1024;
  problem.machine = *loadMachine("h100_sxm");
  problem.sloMs = 50;
  problem.ops = {"op"};
  return problem;
}

/// A worker in the language of the shell: greets, then answers request n, from
/// 0, by what `answer` prints; `$n` and `$line` are there.
static ExternalOptions shellWorker(const std::string &answer,
                                   const std::string &start = "") {
  ExternalOptions options;
  options.command = shellCommand(
      start +
      R"(; read line; echo '{"protocol": 1, "name": "shell"}'; n=0; )"
      R"(while read line; do )" +
      answer + "; n=$((n+1)); done");
  if (start.empty())
    options.command = shellCommand(options.command[2].substr(2));
  return options;
}

/// Prints a good answer whose throughput is the id plus 1.
static const std::string goodAnswer =
    R"(echo '{"id": '$n', "valid": true, "throughput": '$((n+1))', "tpot_ms": 1, "memory_gb": 1}')";

static std::unique_ptr<ExternalSimulator> start(ExternalOptions options) {
  auto simulator = ExternalSimulator::create(problem(), std::move(options));
  if (!simulator) {
    ADD_FAILURE() << simulator.error().message;
    return nullptr;
  }
  return std::move(*simulator);
}

static std::string startError(const std::string &command) {
  ExternalOptions options;
  options.command = shellCommand(command);
  auto simulator = ExternalSimulator::create(problem(), options);
  return simulator ? "" : simulator.error().message;
}

static const Strategy strategy{{1, 1, 1, 1}, {Dim::Zero}};

TEST(ExternalSimulator, Evaluates) {
  auto simulator = start(shellWorker(goodAnswer));
  EXPECT_EQ(simulator->name(), "shell");
  EXPECT_EQ(simulator->decomposition(), nullptr);
  for (int n = 0; n < 3; ++n)
    EXPECT_EQ(simulator->evaluate(strategy).throughput, n + 1);
  EXPECT_EQ(simulator->failures().total(), 0u);
}

TEST(ExternalSimulator, RestartsAfterACrash) {
  auto simulator = start(shellWorker("test $n = 1 && exit 3; " + goodAnswer));
  EXPECT_TRUE(simulator->evaluate(strategy).valid);
  EXPECT_EQ(simulator->evaluate(strategy).reason, Reason::Failed);
  // The second worker counts from 0 again.
  EXPECT_EQ(simulator->evaluate(strategy).throughput, 1);
  EXPECT_EQ(simulator->failures()[Failure::Crash], 1u);
  EXPECT_EQ(simulator->failures().total(), 1u);
}

TEST(ExternalSimulator, TellsTheFirstFailureOfAKind) {
  std::vector<std::string> warnings;
  ExternalOptions options = shellWorker("exit 3");
  options.warn = [&](const std::string &text) { warnings.push_back(text); };
  auto simulator = start(options);
  simulator->evaluate(strategy);
  simulator->evaluate(strategy);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("the simulator exited with status 3"),
            std::string::npos)
      << warnings[0];
  EXPECT_EQ(simulator->failures()[Failure::Crash], 2u);
}

TEST(ExternalSimulator, DoesNotWaitForEver) {
  ExternalOptions options = shellWorker("sleep 1000");
  options.timeoutSeconds = 0.05;
  auto simulator = start(options);
  EXPECT_EQ(simulator->evaluate(strategy).reason, Reason::Failed);
  EXPECT_EQ(simulator->evaluate(strategy).reason, Reason::Failed);
  EXPECT_EQ(simulator->failures()[Failure::Timeout], 2u);
}

TEST(ExternalSimulator, NoticesAClosedOutput) {
  std::vector<std::string> warnings;
  ExternalOptions options = shellWorker("exec >&-; sleep 1000");
  options.warn = [&](const std::string &text) { warnings.push_back(text); };
  auto simulator = start(options);
  EXPECT_EQ(simulator->evaluate(strategy).reason, Reason::Failed);
  EXPECT_EQ(simulator->failures()[Failure::Crash], 1u);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("closed its standard output, or was killed"),
            std::string::npos)
      << warnings[0];
}

TEST(ExternalSimulator, KeepsAWorkerThatIsInStep) {
  auto simulator = start(shellWorker(
      R"(test $n = 1 && echo '{"id": 1, "valid": true}' || )" + goodAnswer));
  simulator->evaluate(strategy);
  EXPECT_EQ(simulator->evaluate(strategy).reason, Reason::Failed);
  EXPECT_EQ(simulator->evaluate(strategy).throughput, 3);
  EXPECT_EQ(simulator->failures()[Failure::Nonsense], 1u);
}

TEST(ExternalSimulator, RestartsAWorkerThatIsOutOfStep) {
  // Every answer comes twice: the second request reads the first one's.
  auto simulator = start(shellWorker(goodAnswer + "; " + goodAnswer));
  EXPECT_EQ(simulator->evaluate(strategy).throughput, 1);
  EXPECT_EQ(simulator->evaluate(strategy).reason, Reason::Failed);
  EXPECT_EQ(simulator->evaluate(strategy).throughput, 1);
  EXPECT_EQ(simulator->failures()[Failure::Nonsense], 1u);
}

TEST(ExternalSimulator, BoundsWhatItReads) {
  auto simulator = start(shellWorker("yes | tr -d '\\n'"));
  EXPECT_EQ(simulator->evaluate(strategy).reason, Reason::Failed);
  EXPECT_EQ(simulator->failures()[Failure::Nonsense], 1u);
}

TEST(ExternalSimulator, SurvivesAWorkerThatDoesNotRead) {
  // More than a pipe holds, to a worker that has closed its input.
  SimulatedProblem large = problem();
  for (int i = 0; i < 20000; ++i)
    large.ops.push_back("a_long_name_of_an_op_" + std::to_string(i));
  ExternalOptions options;
  options.command = shellCommand(
      R"(read line; echo '{"protocol": 1}'; exec <&-; sleep 1000)");
  options.timeoutSeconds = 0.2;
  auto simulator = ExternalSimulator::create(large, options);
  ASSERT_TRUE(simulator) << simulator.error().message;
  Strategy wide{{1, 1, 1, 1}, std::vector<Dim>(large.ops.size(), Dim::None)};
  EXPECT_EQ((*simulator)->evaluate(wide).reason, Reason::Failed);
  EXPECT_EQ((*simulator)->failures()[Failure::Timeout], 1u);
}

//===----------------------------------------------------------------------===//
// Starts
//===----------------------------------------------------------------------===//

TEST(ExternalSimulator, StartErrorsQuoteTheStandardError) {
  EXPECT_EQ(startError("echo cannot find the tables >&2; exit 4"),
            "the simulator exited with status 4 before it greeted; its "
            "standard error ends with:\ncannot find the tables");
  EXPECT_EQ(startError("echo Welcome"),
            "the simulator refused to start: greeting:1:1: syntax error while "
            "parsing value - invalid literal near \"W\", in 'Welcome'");
  EXPECT_EQ(startError("echo '{\"protocol\": 2}'"),
            "the simulator refused to start: the simulator speaks version 2 of "
            "the protocol, this is version 1, in '{\"protocol\": 2}'");
}

TEST(ExternalSimulator, UnknownCommandIsAStartError) {
  std::string error = startError("/no/such/program");
  EXPECT_NE(error.find("exited with status 127 before it greeted"),
            std::string::npos)
      << error;
  ExternalOptions options;
  options.command = {"/no/such/program"};
  auto simulator = ExternalSimulator::create(problem(), options);
  ASSERT_FALSE(simulator);
  EXPECT_NE(simulator.error().message.find("cannot be executed"),
            std::string::npos)
      << simulator.error().message;
}

TEST(ExternalSimulator, GivesUpWhenNothingStartsAnyMore) {
  std::string flag =
      ::testing::TempDir() + "/started-" + std::to_string(::getpid());
  ::unlink(flag.c_str());
  auto simulator = start(
      shellWorker("exit 1", "test -e " + flag + " && exit 2; touch " + flag));
  EXPECT_EQ(simulator->evaluate(strategy).reason, Reason::Failed);
  EXPECT_FALSE(simulator->breakdown());
  EXPECT_EQ(simulator->evaluate(strategy).reason, Reason::Failed);
  ASSERT_TRUE(simulator->breakdown());
  EXPECT_EQ(simulator->breakdown()->message,
            "the simulator could not be restarted 5 times in a row: the "
            "simulator exited with status 2 before it greeted");
  EXPECT_EQ(simulator->failures()[Failure::RefusedStart], 5u);
  EXPECT_EQ(simulator->failures()[Failure::Crash], 1u);
  ::unlink(flag.c_str());
}

//===----------------------------------------------------------------------===//
// Many workers, and none left behind
//===----------------------------------------------------------------------===//

TEST(ExternalSimulator, EvaluatesFromManyThreads) {
  ExternalOptions options = shellWorker(goodAnswer);
  options.workers = 3;
  auto simulator = start(options);
  std::atomic<int> valid = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 20; ++k)
        valid += simulator->evaluate(strategy).valid;
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(valid, 160);
  EXPECT_EQ(simulator->failures().total(), 0u);
}

TEST(ExternalSimulator, StopEndsAWait) {
  StopToken stop;
  ExternalOptions options = shellWorker("sleep 1000");
  options.stop = &stop;
  auto simulator = start(options);
  std::thread stopper([&] { stop.request(SIGINT); });
  EXPECT_EQ(simulator->evaluate(strategy).reason, Reason::Failed);
  stopper.join();
  EXPECT_EQ(simulator->failures().total(), 0u);
}

TEST(ExternalSimulator, StopStartsNoWorker) {
  std::string file =
      ::testing::TempDir() + "/starts-" + std::to_string(::getpid());
  ::unlink(file.c_str());
  StopToken stop;
  ExternalOptions options =
      shellWorker("sleep 1000", "echo started >> " + file);
  options.stop = &stop;
  auto simulator = start(options);
  stop.request(SIGINT);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(simulator->evaluate(strategy).reason, Reason::Failed);
  std::ifstream starts(file);
  EXPECT_EQ(std::count(std::istreambuf_iterator<char>(starts), {}, '\n'), 1);
  ::unlink(file.c_str());
}

/// Whether `process` runs; a zombie, which waits for its parent, does not.
static bool isRunning(pid_t process) {
  std::string id, name, state;
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  return file >> id >> name >> state && state != "Z" && state != "X";
}

TEST(ExternalSimulator, KillsWhatWorkersStarted) {
  std::string file =
      ::testing::TempDir() + "/child-" + std::to_string(::getpid());
  ::unlink(file.c_str());
  // A child of the worker that ignores all that asks it to end.
  auto simulator = start(shellWorker(
      goodAnswer, "(trap '' TERM INT HUP; sleep 1000) < /dev/null > /dev/null "
                  "2>&1 & echo $! > " +
                      file));
  EXPECT_TRUE(simulator->evaluate(strategy).valid);
  pid_t child = 0;
  std::ifstream(file) >> child;
  ASSERT_GT(child, 0);
  EXPECT_TRUE(isRunning(child));
  simulator.reset();
  // The signal was sent, but a process takes a moment to die.
  for (int i = 0; i < 1000 && isRunning(child); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_FALSE(isRunning(child));
  ::unlink(file.c_str());
}
