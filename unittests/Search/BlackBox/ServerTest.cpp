//===- ServerTest.cpp - Tests of the worker's side ------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/BlackBox/Server.h"

#include <cstdio>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace shardopt;
using namespace shardopt::blackbox;

namespace {

/// Throughput is the batch; fails on more than one stage.
class BatchService final : public Service {
public:
  std::optional<Error> greet(const Hello &hello) override {
    if (hello.model == "bad")
      return Error{"unknown model"};
    return std::nullopt;
  }
  std::string name() const override { return "batch"; }
  void describe(json::Writer &writer) const override {
    writer.member("extra", 1);
  }
  const std::vector<std::string> &opNames() const override { return ops; }
  LatencyKey latencyKey() const override { return LatencyKey::Ttft; }
  ErrorOr<Answer> evaluate(const Strategy &strategy) override {
    if (strategy.degrees.pp > 1)
      return Error{"stages"};
    Answer answer;
    answer.evaluation = {true, Reason::None, double(strategy.degrees.batch),
                         0.1, 2};
    answer.masked = strategy.dims[0] == Dim::None;
    return answer;
  }

private:
  std::vector<std::string> ops = {"op"};
};

} // namespace

/// All that a service answers to `input`.
static std::string served(const std::string &input) {
  BatchService service;
  std::FILE *in = std::tmpfile(), *out = std::tmpfile();
  EXPECT_EQ(std::fwrite(input.data(), 1, input.size(), in), input.size());
  std::rewind(in);
  EXPECT_TRUE(serve(service, fileno(in), fileno(out)));
  std::string output;
  std::rewind(out);
  for (int c; (c = std::fgetc(out)) != EOF;)
    output += static_cast<char>(c);
  std::fclose(in);
  std::fclose(out);
  return output;
}

static std::string request(int id, int pp, int dim) {
  return R"({"id": )" + std::to_string(id) +
         R"(, "strategy": {"tp": 1, "ep": 1, "pp": )" + std::to_string(pp) +
         R"(, "batch": 64, "dims": [)" + std::to_string(dim) + "]}}\n";
}

TEST(Server, AnswersInOrder) {
  EXPECT_EQ(served("{\"protocol\": 1}\n" + request(5, 1, 0) + request(6, 1, 2) +
                   request(7, 2, 0)),
            R"({"protocol": 1, "name": "batch", "extra": 1}
{"id": 5, "throughput": 64, "ttft_ms": 0.1, "memory_gb": 2, "valid": true, "reason": ""}
{"id": 6, "throughput": 64, "ttft_ms": 0.1, "memory_gb": 2, "valid": true, "reason": "", "masked": true}
{"id": 7, "error": "stages"}
)");
}

TEST(Server, WrongLinesDoNotEndIt) {
  std::string output = served("nonsense\n{\"protocol\": 1, \"model\": \"bad\"}"
                              "\r\n" +
                              request(1, 1, 0));
  EXPECT_EQ(
      output,
      R"({"id": null, "error": "line:1:2: syntax error while parsing value - invalid literal near \"no\""}
{"id": null, "error": "unknown model"}
{"id": 1, "throughput": 64, "ttft_ms": 0.1, "memory_gb": 2, "valid": true, "reason": ""}
)");
}

TEST(Server, LastLineNeedsNoEnd) {
  EXPECT_EQ(served("{\"protocol\": 1}"),
            "{\"protocol\": 1, \"name\": \"batch\", \"extra\": 1}\n");
  EXPECT_EQ(served(""), "");
}

TEST(Server, LongLinesAreDroppedWithoutEndingIt) {
  std::string output =
      served(std::string(65 << 20, 'x') + "\n" + request(1, 1, 0));
  EXPECT_EQ(output.substr(0, output.find('\n')),
            R"({"id": null, "error": "line too long"})");
  EXPECT_NE(output.find(R"({"id": 1, "throughput")"), std::string::npos);
}
