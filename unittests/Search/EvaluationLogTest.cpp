//===- EvaluationLogTest.cpp - Evaluations in a file ----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/EvaluationLog.h"
#include "../Support/TemporaryFolder.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstring>
#include <limits>

#include <sys/resource.h>
#include <sys/stat.h>

using namespace shardopt;
using namespace shardopt::search;

namespace {

const std::string header =
    R"({"checkpoint": 2, "search": {"searcher": "random", "seed": "7"}})"
    "\n";

class EvaluationLogTest : public testing::Test {
protected:
  SearchIdentity identity = {{"searcher", "random"}, {"seed", "7"}};
  EvaluationLog::Format format{{"embed", "head"}, LatencyKey::Tpot};
  TemporaryFolder folder;
  std::string path = folder.path("log");

  ErrorOr<std::unique_ptr<EvaluationLog>> open() {
    return EvaluationLog::open(path, identity, format);
  }
  /// The error that opening `text` gives, after which the file is as it was.
  std::string errorOf(const std::string &text) {
    folder.write("log", text);
    auto log = open();
    EXPECT_EQ(folder.read("log"), text);
    return log ? "" : log.error().message;
  }
};

Plan planOf(int64_t batch, double throughput) {
  return {{{2, 1, 1, batch}, {Dim::Zero, Dim::None}},
          {true, Reason::None, throughput, 1.0 / 3, 0.1}};
}

const char *lineOf8 =
    R"({"strategy": {"tp": 2, "ep": 1, "pp": 1, "batch": 8, )"
    R"("dims": {"embed": 0, "head": 2}}, "throughput": 5, )"
    R"("tpot_ms": 0.3333333333333333, "memory_gb": 0.1, "valid": true, )"
    R"("reason": "", "check": "0c173e2f482d87d6"})"
    "\n";

} // namespace

TEST_F(EvaluationLogTest, WritesAHeaderAndALineAnEvaluation) {
  auto log = open();
  ASSERT_TRUE(log) << log.error().message;
  EXPECT_TRUE((*log)->resumed().empty());
  EXPECT_EQ(folder.read("log"), header);
  EXPECT_FALSE((*log)->append(planOf(8, 5)));
  // It is there before the log is closed.
  EXPECT_EQ(folder.read("log"), header + lineOf8);
}

TEST_F(EvaluationLogTest, GivesTheSameDoublesBack) {
  const double values[] = {1.0 / 3, 5e-324, 1e300, 0.1 + 0.2,
                           std::numeric_limits<double>::max()};
  {
    auto log = open();
    for (int i = 0; i < 5; ++i)
      ASSERT_FALSE((*log)->append(planOf(i + 1, values[i])));
    Plan slow = planOf(9, 1);
    slow.evaluation.valid = false;
    slow.evaluation.reason = Reason::Slo;
    ASSERT_FALSE((*log)->append(slow));
    Plan full = planOf(10, 1);
    full.evaluation.valid = false;
    full.evaluation.reason = Reason::Activations;
    full.evaluation.activationsGb = 0.1 + 0.2;
    ASSERT_FALSE((*log)->append(full));
  }
  auto log = open();
  ASSERT_TRUE(log) << log.error().message;
  ASSERT_EQ((*log)->resumed().size(), 7u);
  for (int i = 0; i < 5; ++i) {
    const Plan &plan = (*log)->resumed()[i];
    EXPECT_EQ(plan.strategy, planOf(i + 1, 0).strategy);
    EXPECT_EQ(plan.evaluation.throughput, values[i]);
    EXPECT_EQ(plan.evaluation.latencyMs, 1.0 / 3);
    EXPECT_EQ(plan.evaluation.activationsGb, 0);
    EXPECT_TRUE(plan.evaluation.valid);
  }
  EXPECT_EQ((*log)->resumed()[5].evaluation.reason, Reason::Slo);
  EXPECT_FALSE((*log)->resumed()[5].evaluation.valid);
  EXPECT_EQ((*log)->resumed()[6].evaluation.reason, Reason::Activations);
  EXPECT_EQ((*log)->resumed()[6].evaluation.activationsGb, 0.1 + 0.2);
}

TEST_F(EvaluationLogTest, DropsALastLineWithoutAnEnd) {
  std::string whole = header + lineOf8;
  for (size_t size = 0; size <= whole.size(); ++size) {
    folder.write("log", whole.substr(0, size));
    auto log = open();
    ASSERT_TRUE(log) << size << ": " << log.error().message;
    EXPECT_EQ((*log)->resumed().size(), size == whole.size() ? 1u : 0u);
    ASSERT_FALSE((*log)->append(planOf(16, 5)));
    EXPECT_EQ(folder.read("log").find(size == whole.size() ? whole : header),
              0u);
  }
}

TEST_F(EvaluationLogTest, RefusesTheLogOfAnotherSearch) {
  EXPECT_EQ(errorOf(R"({"checkpoint": 2, "search": {"searcher": "genetic", )"
                    R"("seed": "8"}})"
                    "\n"),
            "checkpoint '" + path +
                "': is the checkpoint of another search: 'searcher' is "
                "'genetic', expected 'random'; 'seed' is '8', expected '7'");
  EXPECT_EQ(errorOf(R"({"checkpoint": 2, "search": {"searcher": "random"}})"
                    "\n"),
            "checkpoint '" + path +
                "': is the checkpoint of another search: 'seed' is missing, "
                "expected '7'");
  EXPECT_EQ(errorOf("{\"checkpoint\": 1}\n"),
            "checkpoint '" + path +
                "': is a checkpoint of version 1, expected version 2");
}

TEST_F(EvaluationLogTest, RefusesFilesThatAreNoLog) {
  std::string message = "checkpoint '" + path +
                        "': is there already and is no checkpoint of a search";
  EXPECT_EQ(errorOf("precious\n"), message);
  EXPECT_EQ(errorOf("precious"), message);
  EXPECT_EQ(errorOf("\n"), message);
  EXPECT_EQ(errorOf("[]\n"), message);
  EXPECT_EQ(errorOf("{\"checkpoint\": 2}\n"), message);
}

TEST_F(EvaluationLogTest, NamesTheLineThatIsCorrupt) {
  std::string cut = lineOf8;
  cut.erase(20, 5);
  EXPECT_EQ(errorOf(header + lineOf8 + cut).find(path + ":3:"), 0u);
  EXPECT_EQ(errorOf(header + "\n" + lineOf8).find(path + ":2:"), 0u);
  EXPECT_NE(errorOf(header + lineOf8 + lineOf8)
                .find(":3: a strategy that an earlier line has"),
            std::string::npos)
      << errorOf(header + lineOf8 + lineOf8);
  std::string wrong = lineOf8;
  wrong.replace(wrong.find("\"head\": 2"), 9, "\"head\": 4");
  EXPECT_NE(errorOf(header + wrong).find(":2: /strategy/dims/head: "),
            std::string::npos)
      << errorOf(header + wrong);
}

/// A change that leaves a line valid, wherever it is.
TEST_F(EvaluationLogTest, BelievesNoLineThatWasAltered) {
  std::string line = lineOf8;
  for (const auto &[from, to] :
       {std::pair("\"throughput\": 5", "\"throughput\": 6"),
        std::pair("0.3333333333333333", "0.3333333333333334"),
        std::pair("\"batch\": 8", "\"batch\": 4"),
        std::pair("\"valid\": true", "\"valid\":true "),
        std::pair(", \"check\": \"0c173e2f482d87d6\"", "")}) {
    std::string altered = line;
    altered.replace(altered.find(from), std::strlen(from), to);
    EXPECT_EQ(errorOf(header + altered),
              path + ":2: /check: the line is not as it was written; delete "
                     "it, and it will be evaluated again");
  }
}

TEST_F(EvaluationLogTest, RefusesWhatIsNoRegularFile) {
  auto folderAsLog = EvaluationLog::open(folder.path(""), identity, format);
  ASSERT_FALSE(folderAsLog);
  EXPECT_NE(folderAsLog.error().message.find("expected a regular file"),
            std::string::npos);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_FALSE(open());
  EXPECT_FALSE(EvaluationLog::open(folder.path("none/log"), identity, format));
}

TEST_F(EvaluationLogTest, RefusesALogThatIsInUse) {
  auto first = open();
  ASSERT_TRUE(first);
  auto second = open();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message,
            "checkpoint '" + path + "': another search is writing it");
}

TEST_F(EvaluationLogTest, SaysThatItCannotWrite) {
  auto log = open();
  ASSERT_TRUE(log);
  // A limit on the size of files stands for a full disk.
  struct rlimit old;
  ::getrlimit(RLIMIT_FSIZE, &old);
  struct rlimit little = {header.size() + 10, old.rlim_max};
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ::setrlimit(RLIMIT_FSIZE, &little);
  std::optional<Error> error = (*log)->append(planOf(8, 5));
  ::setrlimit(RLIMIT_FSIZE, &old);
  std::signal(SIGXFSZ, handler);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message.find("checkpoint '" + path + "': cannot write: "),
            0u);
  log->reset();
  // What was cut short is dropped.
  EXPECT_TRUE(open());
  EXPECT_EQ(folder.read("log"), header);
}
