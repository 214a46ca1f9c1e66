//===- ProtocolTest.cpp - Tests of the protocol's messages ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/BlackBox/Protocol.h"
#include "shardopt/Support/Json.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace shardopt;
using namespace shardopt::blackbox;

static const std::vector<std::string> ops = {"embed", "head"};
static const Limits limits = {/*memoryCapacityGb=*/72, /*sloMs=*/50};

static SimulatedProblem problem() {
  ErrorOr<Machine> machine = loadMachine("h100_sxm");
  SimulatedProblem problem;
  problem.model = "toy \"model\"";
  problem.context = 4096;
  problem.machine = *machine;
  problem.sloMs = 50;
  problem.ops = ops;
  return problem;
}

static std::variant<Evaluation, BadAnswer> answer(const std::string &line) {
  return parseAnswer(line, 7, LatencyKey::Tpot, limits);
}

static Evaluation goodAnswer(const std::string &line) {
  auto parsed = answer(line);
  if (const auto *bad = std::get_if<BadAnswer>(&parsed)) {
    ADD_FAILURE() << bad->message;
    return {};
  }
  return std::get<Evaluation>(parsed);
}

static BadAnswer badAnswer(const std::string &line) {
  auto parsed = answer(line);
  if (const auto *bad = std::get_if<BadAnswer>(&parsed))
    return *bad;
  ADD_FAILURE() << "taken: " << line;
  return {};
}

//===----------------------------------------------------------------------===//
// Hello and greeting
//===----------------------------------------------------------------------===//

TEST(Protocol, HelloSaysWhatAWorkerReads) {
  auto message = parseMessage(helloLine(problem()), {});
  const Hello &hello = std::get<Hello>(message);
  EXPECT_EQ(hello.model, "toy \"model\"");
  EXPECT_EQ(hello.latency, LatencyKey::Tpot);
  EXPECT_EQ(hello.context, 4096);
  EXPECT_EQ(hello.machine, "h100_sxm");
  EXPECT_EQ(hello.memoryCapacityGb, 72);
  EXPECT_EQ(hello.sloMs, 50);
  EXPECT_EQ(hello.ops, ops);
}

TEST(Protocol, HelloIsOneLine) {
  EXPECT_EQ(helloLine(problem()).find('\n'), std::string::npos);
}

TEST(Protocol, NoSloIsNull) {
  SimulatedProblem free = problem();
  free.sloMs = std::numeric_limits<double>::infinity();
  EXPECT_NE(helloLine(free).find("\"slo_ms\": null"), std::string::npos);
  auto message = parseMessage(helloLine(free), {});
  EXPECT_TRUE(std::isinf(*std::get<Hello>(message).sloMs));
}

TEST(Protocol, HelloMayLeaveOutAllButTheVersion) {
  auto message = parseMessage(R"({"protocol": 1, "colour": "red"})", {});
  const Hello &hello = std::get<Hello>(message);
  EXPECT_FALSE(hello.latency || hello.context || hello.sloMs);
  EXPECT_TRUE(hello.ops.empty());
}

TEST(Protocol, HelloOfAnotherVersionIsRefused) {
  auto message = parseMessage(R"({"protocol": 2})", {});
  const Refusal &refusal = std::get<Refusal>(message);
  EXPECT_EQ(refusal.error.message, "line: /protocol: expected 1, found 2");
}

TEST(Protocol, GreetingGivesTheName) {
  EXPECT_EQ(parseGreeting(R"({"protocol": 1, "name": "sim", "x": 2})")->name,
            "sim");
  EXPECT_EQ(parseGreeting(R"({"protocol": 1})")->name, "");
  EXPECT_TRUE(parseGreeting(R"({"protocol": 1})")->degrees.empty());
  EXPECT_EQ(
      parseGreeting(R"({"protocol": 1, "degrees": ["dp", "later"]})")->degrees,
      std::vector<Degree>{Degree::Dp});
}

TEST(Protocol, GreetingOfAnotherVersionNamesBoth) {
  EXPECT_EQ(parseGreeting(R"({"protocol": 3, "name": "sim"})").error().message,
            "the simulator speaks version 3 of the protocol, this is version "
            "1");
}

TEST(Protocol, GreetingMayBeAnError) {
  EXPECT_EQ(
      parseGreeting(R"({"id": null, "error": "no licence"})").error().message,
      "no licence");
  EXPECT_FALSE(parseGreeting("Welcome!"));
  EXPECT_FALSE(parseGreeting("[]"));
  EXPECT_FALSE(parseGreeting(R"({"name": "sim"})"));
}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

TEST(Protocol, RequestComesBack) {
  Strategy strategy{{8, 4, 2, 1024}, {Dim::One, Dim::None}};
  std::string line = requestLine(41, strategy, ops);
  EXPECT_EQ(line, R"({"id": 41, "strategy": {"tp": 8, "ep": 4, "pp": 2, )"
                  R"("batch": 1024, "dims": {"embed": 1, "head": 2}}})");
  auto message = parseMessage(line, ops);
  const Request &request = std::get<Request>(message);
  EXPECT_EQ(request.id, 41);
  EXPECT_EQ(request.strategy, strategy);
}

TEST(Protocol, DimsMayBeAnArrayAndInAnyOrder) {
  for (const char *dims : {"[0, 2]", R"({"head": 2, "embed": 0})"}) {
    auto message = parseMessage(
        R"({"id": 0, "strategy": {"tp": 1, "ep": 1, "pp": 1, "batch": 1, "new": 5, "dims": )" +
            std::string(dims) + "}}",
        ops);
    const Request &request = std::get<Request>(message);
    EXPECT_EQ(request.strategy.dims, (std::vector<Dim>{Dim::Zero, Dim::None}));
  }
}

TEST(Protocol, WrongRequestsAreRefusedUnderTheirId) {
  auto refusal = [](const std::string &strategy) {
    auto message =
        parseMessage(R"({"id": 9, "strategy": )" + strategy + "}", ops);
    EXPECT_EQ(std::get<Refusal>(message).id, 9);
    return std::get<Refusal>(message).error.message;
  };
  EXPECT_EQ(refusal(R"({"tp": 0})"),
            "line: /strategy/tp: expected an integer from 1 to " +
                std::to_string(maxDegree) + ", found 0");
  std::string degrees = R"({"tp": 1, "ep": 1, "pp": 1, "batch": 1, )";
  EXPECT_EQ(refusal(degrees + R"("dims": [0]})"),
            "line: /strategy/dims: expected 2 dims, one an op, found 1");
  EXPECT_EQ(refusal(degrees + R"("dims": {"embed": 0}})"),
            "line: /strategy/dims/head: missing, expected 0, 1 or 2 (none)");
  EXPECT_EQ(refusal(degrees + R"("dims": {"embed": 0, "heat": 0}})"),
            "line: /strategy/dims/heat: unknown op; known: head, embed; did "
            "you mean 'head'?");
}

TEST(Protocol, LinesWithoutAnIdAreRefusedWithoutOne) {
  for (const char *line : {"", "x", "[]", "{}", R"({"id": 1.5})"}) {
    auto message = parseMessage(line, ops);
    EXPECT_FALSE(std::get<Refusal>(message).id) << line;
  }
  EXPECT_EQ(errorLine({std::nullopt, Error{"a \"b\""}}),
            R"({"id": null, "error": "a \"b\""})");
  EXPECT_EQ(errorLine({3, Error{"no"}}), R"({"id": 3, "error": "no"})");
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

TEST(Protocol, ValidAnswer) {
  Evaluation evaluation = goodAnswer(
      R"({"id": 7, "valid": true, "throughput": 0.1, "tpot_ms": 25, "memory_gb": 0, "reason": "", "extra": {}})");
  EXPECT_TRUE(evaluation.valid);
  EXPECT_EQ(evaluation.reason, Reason::None);
  EXPECT_EQ(evaluation.throughput, 0.1);
  EXPECT_EQ(evaluation.latencyMs, 25);
  EXPECT_EQ(evaluation.memoryGb, 0);
}

TEST(Protocol, InvalidAnswersKeepTheirMetrics) {
  Evaluation evaluation = goodAnswer(
      R"({"id": 7, "valid": false, "throughput": 5, "tpot_ms": 60, "memory_gb": 90, "reason": "slo"})");
  EXPECT_FALSE(evaluation.valid);
  EXPECT_EQ(evaluation.reason, Reason::Slo);
  EXPECT_EQ(evaluation.latencyMs, 60);
}

TEST(Protocol, UnknownReasonsAreTakenFromTheLimits) {
  auto reason = [](double latency, double memory, const char *reason) {
    return goodAnswer(R"({"id": 7, "valid": false, "throughput": 5, )"
                      R"("tpot_ms": )" +
                      std::to_string(latency) + R"(, "memory_gb": )" +
                      std::to_string(memory) + reason + "}")
        .reason;
  };
  EXPECT_EQ(reason(60, 90, R"(, "reason": "oom")"), Reason::Memory);
  EXPECT_EQ(reason(60, 20, R"(, "reason": "late")"), Reason::Slo);
  EXPECT_EQ(reason(40, 20, R"(, "reason": "odd")"), Reason::Structural);
  EXPECT_EQ(reason(60, 20, ""), Reason::Slo);
  EXPECT_EQ(reason(60, 20, R"(, "reason": null)"), Reason::Slo);
}

TEST(Protocol, InvalidAnswersWithoutMetricsAreStructural) {
  for (
      const char *line :
      {R"({"id": 7, "valid": false, "reason": "structural"})",
       R"({"id": 7, "valid": false, "reason": "structural", "throughput": NaN})",
       R"({"id": 7, "valid": false, "reason": "memory"})",
       R"({"id": 7, "valid": false, "reason": "slo", "throughput": 0, "tpot_ms": 0, "memory_gb": 0})"}) {
    Evaluation evaluation = goodAnswer(line);
    EXPECT_EQ(evaluation.reason, Reason::Structural) << line;
    EXPECT_EQ(evaluation.latencyMs, 0) << line;
  }
}

TEST(Protocol, AnswersOutOfStepAreNonsense) {
  for (const char *line :
       {"", "hello", "{", "[7]", "7", R"({"valid": true})",
        R"({"id": "7", "valid": true})", R"({"id": 8, "valid": true})",
        R"({"id": null, "error": "line too long"})"}) {
    BadAnswer bad = badAnswer(line);
    EXPECT_EQ(bad.kind, Failure::Nonsense) << line;
    EXPECT_FALSE(bad.isInStep) << line;
  }
}

TEST(Protocol, BadAnswersInStep) {
  std::string metrics = R"("throughput": 1, "tpot_ms": 2, "memory_gb": 3)";
  for (
      const std::string &rest :
      {std::string(R"("valid": true)"),
       std::string(R"("valid": "yes", )") + metrics, metrics,
       std::string(R"("valid": true, "throughput": 1, "tpot_ms": 2)"),
       std::string(
           R"("valid": true, "throughput": 1, "ttft_ms": 2, "memory_gb": 3)"),
       std::string(
           R"("valid": true, "throughput": "1", "tpot_ms": 2, "memory_gb": 3)"),
       std::string(
           R"("valid": true, "throughput": -1, "tpot_ms": 2, "memory_gb": 3)"),
       std::string(
           R"("valid": true, "throughput": 1, "tpot_ms": 0, "memory_gb": 3)")}) {
    BadAnswer bad = badAnswer(R"({"id": 7, )" + rest + "}");
    EXPECT_EQ(bad.kind, Failure::Nonsense) << rest;
    EXPECT_TRUE(bad.isInStep) << rest;
  }
}

TEST(Protocol, NonNumbersAreCountedApart) {
  for (const char *number : {"NaN", "nan", "-nan", "Infinity", "-Infinity",
                             "inf", "1e999", "null"}) {
    BadAnswer bad = badAnswer(
        R"({"id": 7, "reason": "NaN \" NaN", "valid": true, "throughput": 1, "tpot_ms": )" +
        std::string(number) + R"(, "memory_gb": 3})");
    EXPECT_EQ(bad.kind, Failure::NotANumber) << number;
    EXPECT_EQ(bad.message, "'tpot_ms' is not a finite number") << number;
    EXPECT_TRUE(bad.isInStep);
  }
}

TEST(Protocol, WorkersMaySayThatTheyFailed) {
  BadAnswer bad = badAnswer(R"({"id": 7, "error": "no such schedule"})");
  EXPECT_EQ(bad.kind, Failure::Error);
  EXPECT_EQ(bad.message, "no such schedule");
  EXPECT_TRUE(bad.isInStep);
  EXPECT_EQ(badAnswer(R"({"id": 7, "valid": false, "reason": "failed"})").kind,
            Failure::Error);
}
