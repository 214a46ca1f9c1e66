//===- StrategyJsonTest.cpp - Tests of strategies as JSON -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/StrategyJson.h"

#include <gtest/gtest.h>

using namespace shardopt;

static const std::vector<std::string> ops = {"embed", "router", "lm_head"};

static std::string parseError(std::string_view text) {
  ErrorOr<Strategy> strategy = parseStrategyLine(text, ops);
  return strategy ? "" : strategy.error().message;
}

/// A line whose only fault can be its dims.
static std::string withDims(const std::string &dims) {
  return R"({"tp": 8, "ep": 16, "pp": 4, "batch": 8192, "dims": )" + dims + "}";
}

/// A line whose only fault can be its tp.
static std::string withTp(const std::string &tp) {
  return R"({"tp": )" + tp +
         R"(, "ep": 16, "pp": 4, "batch": 8192, "dims": [0, 1, 2]})";
}

static const Strategy example = {{8, 16, 4, 8192},
                                 {Dim::Zero, Dim::One, Dim::None}};

TEST(ParseStrategyLine, dimsInTheOrderOfTheOps) {
  ErrorOr<Strategy> strategy = parseStrategyLine(
      R"({"tp":8,"ep":16,"pp":4,"batch":8192,"dims":[0,1,2]})", ops);
  ASSERT_TRUE(strategy) << strategy.error().message;
  EXPECT_EQ(*strategy, example);
}

TEST(ParseStrategyLine, dimsByNameInAnyOrder) {
  ErrorOr<Strategy> strategy = parseStrategyLine(
      R"({"dims": {"lm_head": 2, "embed": 0, "router": 1}, "batch": 8192,
          "pp": 4, "ep": 16, "tp": 8})",
      ops);
  ASSERT_TRUE(strategy) << strategy.error().message;
  EXPECT_EQ(*strategy, example);
}

TEST(ParseStrategyLine, readsWhatIsWritten) {
  std::string text = strategyToJson(example, ops);
  EXPECT_EQ(text, R"({"tp": 8, "ep": 16, "pp": 4, "batch": 8192, )"
                  R"("dims": {"embed": 0, "router": 1, "lm_head": 2}})");
  ErrorOr<Strategy> strategy = parseStrategyLine(text, ops);
  ASSERT_TRUE(strategy) << strategy.error().message;
  EXPECT_EQ(*strategy, example);
}

TEST(ParseStrategyLine, stages) {
  Strategy cut = example;
  cut.degrees.stages.layers = {8, 7, 9, 8};
  std::string text = strategyToJson(cut, ops);
  EXPECT_EQ(text, R"({"tp": 8, "ep": 16, "pp": 4, "batch": 8192, )"
                  R"("stages": [8, 7, 9, 8], )"
                  R"("dims": {"embed": 0, "router": 1, "lm_head": 2}})");
  ErrorOr<Strategy> strategy = parseStrategyLine(text, ops);
  ASSERT_TRUE(strategy) << strategy.error().message;
  EXPECT_EQ(*strategy, cut);
  EXPECT_FALSE(*strategy == example);
}

TEST(ParseStrategyLine, wrongStages) {
  auto error = [](const std::string &stages) {
    return parseError(R"({"tp": 8, "ep": 16, "pp": 4, "stages": )" + stages +
                      R"(, "batch": 8192, "dims": [0, 1, 2]})");
  };
  EXPECT_EQ(error("8"), "/stages: expected a list of the layers of "
                        "each stage, found 8");
  EXPECT_EQ(error("[]"), "/stages: expected a list of the layers of "
                         "each stage, found an empty one");
  EXPECT_EQ(error("[8, 0]"), "/stages/1: expected an integer from 1 "
                             "to 1048576, found 0");
  EXPECT_EQ(error("[8, 8.5]"), "/stages/1: expected an integer from "
                               "1 to 1048576, found 8.5");
  EXPECT_EQ(error("[8, 8, 8]"),
            "/stages: 'stages' has the layers of 3 stages, expected "
            "as many as pp, 4");
}

TEST(ParseStrategyLine, noOps) {
  EXPECT_TRUE(parseStrategyLine(withDims("[]"), {}));
  EXPECT_TRUE(parseStrategyLine(withDims("{}"), {}));
  EXPECT_FALSE(parseStrategyLine(withDims("{\"embed\": 0}"), {}));
}

TEST(ParseStrategyLine, syntaxErrorsNameTheColumn) {
  EXPECT_EQ(parseError(R"({"tp": 8, "ep" 16})"),
            "column 17: syntax error while parsing object separator - "
            "unexpected number literal; expected ':'");
  EXPECT_EQ(parseError(""),
            "column 1: syntax error while parsing value - unexpected end of "
            "input; expected '[', '{', or a literal");
}

TEST(ParseStrategyLine, everyTruncationIsAnError) {
  std::string text = strategyToJson(example, ops);
  for (size_t length = 0; length < text.size(); ++length)
    EXPECT_NE(parseError(text.substr(0, length)), "") << length;
}

TEST(ParseStrategyLine, everyByteChangedIsReadOrRefused) {
  for (const std::string &text :
       {withDims("[0, 1, 2]"), strategyToJson(example, ops)})
    for (size_t at = 0; at < text.size(); ++at)
      for (int byte = 0; byte < 256; ++byte) {
        std::string changed = text;
        changed[at] = char(byte);
        (void)parseError(changed);
      }
}

TEST(ParseStrategyLine, notAnObject) {
  EXPECT_EQ(parseError("[8, 16]"), "expected an object, found an array");
  EXPECT_EQ(parseError("8"), "expected an object, found 8");
}

TEST(ParseStrategyLine, wrongDegrees) {
  std::string wanted = "/tp: expected an integer from 1 to 1048576, found ";
  EXPECT_EQ(parseError(withTp("0")), wanted + "0");
  EXPECT_EQ(parseError(withTp("-8")), wanted + "-8");
  EXPECT_EQ(parseError(withTp("1048577")), wanted + "1048577");
  EXPECT_EQ(parseError(withTp("18446744073709551615")),
            wanted + "18446744073709551615");
  EXPECT_EQ(parseError(withTp("1e300")), wanted + "1e300");
  EXPECT_EQ(parseError(withTp("8.0")), wanted + "8.0");
  EXPECT_EQ(parseError(withTp("\"8\"")), wanted + "\"8\"");
  EXPECT_EQ(parseError(withTp("null")), wanted + "null");
  EXPECT_EQ(parseError(withTp("[8]")), wanted + "an array");
  EXPECT_EQ(parseError(withTp("{}")), wanted + "an object");
}

TEST(ParseStrategyLine, degreesWithADefaultAndNames) {
  std::vector<std::string> ops = {"embed"};
  std::string text =
      R"({"tp": 4, "dp": 2, "ep": 8, "pp": 1, "cp": 2, )"
      R"("exchange": "gather", "batch": 64, "dims": {"embed": 0}})";
  ErrorOr<Strategy> read = parseStrategyLine(text, ops);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->degrees.dp, 2);
  EXPECT_EQ(read->degrees.cp, 2);
  EXPECT_TRUE(read->degrees.gathers());
  EXPECT_EQ(strategyToJson(*read, ops), text);
  auto error = [&](const std::string &exchange) {
    return parseStrategyLine(R"({"exchange": )" + exchange + "}", ops)
        .error()
        .message;
  };
  std::string wanted = "/exchange: expected all_to_all or gather, found ";
  EXPECT_EQ(error("2"), wanted + "2");
  EXPECT_EQ(error("\"all\""), wanted + "\"all\"");
}

TEST(ParseStrategyLine, missingUnknownAndRepeatedKeys) {
  EXPECT_EQ(parseError(R"({"tp": 8, "ep": 16, "batch": 1, "dims": [0, 1, 2]})"),
            "/pp: missing, expected an integer from 1 to 1048576");
  EXPECT_EQ(parseError(R"({"tp": 8, "ep": 16, "pp": 1, "batch": 1})"),
            "/dims: missing, expected an array of dims or an object of dims by "
            "op name");
  EXPECT_EQ(
      parseError(R"({"batches": 1})"),
      "/batches: unknown key; known: batch, stages, tp, ep, cp, tp2, dims, dp, "
      "pp, exchange, eplb");
  EXPECT_EQ(parseError(R"({"tp": 8, "tp": 8})"), "/tp: given twice");
}

TEST(ParseStrategyLine, wrongCountOfDims) {
  EXPECT_EQ(parseError(withDims("[0, 1]")),
            "/dims: expected 3 dims, one an op, found 2");
  EXPECT_EQ(parseError(withDims("[0, 1, 2, 0, 0]")),
            "/dims: expected 3 dims, one an op, found 5");
}

TEST(ParseStrategyLine, wrongDims) {
  EXPECT_EQ(parseError(withDims("[0, 3, 2]")),
            "/dims/1: expected 0, 1 or 2 (none), found 3");
  EXPECT_EQ(parseError(withDims("[0, -1, 2]")),
            "/dims/1: expected 0, 1 or 2 (none), found -1");
  EXPECT_EQ(parseError(withDims("[0, 1, \"none\"]")),
            "/dims/2: expected 0, 1 or 2 (none), found \"none\"");
  EXPECT_EQ(parseError(withDims("[0, 1, [2]]")),
            "/dims/2: expected 0, 1 or 2 (none), found an array");
  EXPECT_EQ(parseError(withDims("{\"embed\": 0, \"router\": 7}")),
            "/dims/router: expected 0, 1 or 2 (none), found 7");
  EXPECT_EQ(parseError(withDims("{\"embed\": {}}")),
            "/dims/embed: expected 0, 1 or 2 (none), found an object");
  EXPECT_EQ(parseError(withDims("7")),
            "/dims: expected an array of dims or an object of dims by op name, "
            "found 7");
}

TEST(ParseStrategyLine, dimsAreReadByNameWhereThereIsAReader) {
  std::vector<std::string> ops = {"embed", "router", "lm_head"};
  DimReader reader = [](size_t op, std::string_view text) -> ErrorOr<Dim> {
    if (op == 1 && text == "experts")
      return Dim::One;
    return Error{"what op " + std::to_string(op) + " has"};
  };
  auto parse = [&](const char *dims) {
    return parseStrategyLine(withDims(dims), ops, reader);
  };
  for (const char *dims :
       {"[0, \"experts\", 2]", "{\"embed\": 0, \"lm_head\": 2, "
                               "\"router\": \"experts\"}"}) {
    ErrorOr<Strategy> strategy = parse(dims);
    ASSERT_TRUE(strategy) << strategy.error().message;
    EXPECT_EQ(strategy->dims,
              (std::vector<Dim>{Dim::Zero, Dim::One, Dim::None}));
  }
  EXPECT_EQ(parse("[0, \"rows\", 2]").error().message,
            "/dims/1: expected what op 1 has, found \"rows\"");
  EXPECT_EQ(parse("[0, 1, 2, \"rows\"]").error().message,
            "/dims/3: expected 0, 1 or 2 (none), found \"rows\"");
}

TEST(ParseStrategyLine, opsMissingUnknownAndRepeated) {
  EXPECT_EQ(parseError(withDims("{\"embed\": 0, \"lm_head\": 2}")),
            "/dims/router: missing, expected 0, 1 or 2 (none)");
  EXPECT_EQ(parseError(withDims("{\"embd\": 0}")),
            "/dims/embd: unknown op; known: embed, lm_head, router; did you "
            "mean 'embed'?");
  EXPECT_EQ(parseError(withDims("{\"embed\": 0, \"embed\": 0}")),
            "/dims/embed: given twice");
}

TEST(WriteMetrics, fiveKeysWithAllDigits) {
  Evaluation evaluation;
  evaluation.valid = false;
  evaluation.reason = Reason::Slo;
  evaluation.throughput = 1. / 3.;
  evaluation.latencyMs = 112.21043912345678;
  evaluation.memoryGb = 19.598622999;
  std::string text;
  json::Writer writer(text);
  writer.beginObject();
  writeMetrics(writer, evaluation, LatencyKey::Tpot);
  writer.endObject();
  EXPECT_EQ(text, R"({"throughput": 0.3333333333333333, )"
                  R"("tpot_ms": 112.21043912345678, )"
                  R"("memory_gb": 19.598622999, )"
                  R"("valid": false, "reason": "slo"})");
}

TEST(WriteMetrics, prefillHasATimeToFirstToken) {
  std::string text;
  json::Writer writer(text);
  writer.beginObject();
  writeMetrics(writer, Evaluation(), LatencyKey::Ttft);
  writer.endObject();
  EXPECT_EQ(text, R"({"throughput": 0, "ttft_ms": 0, "memory_gb": 0, )"
                  R"("valid": false, "reason": "structural"})");
}

TEST(ParseStrategyLine, furtherDimsAreThoseOfTheReader) {
  auto reader = [](size_t op, std::string_view text) -> ErrorOr<Dim> {
    if (op == 1 && (text == "both" || text == "3"))
      return dimBoth;
    return Error{"0, 1 or none"};
  };
  for (const char *dims : {"[0, 3, 2]", "[0, \"both\", 2]"}) {
    ErrorOr<Strategy> read = parseStrategyLine(withDims(dims), ops, reader);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->dims[1], dimBoth);
  }
  EXPECT_EQ(
      parseStrategyLine(withDims("[3, 0, 2]"), ops, reader).error().message,
      "/dims/0: expected 0, 1 or 2 (none), found 3");
}

TEST(ReadStrategy, aDocumentSpellsDegreesByNameToo) {
  Strategy strategy = example;
  strategy.degrees.exchange = exchangeGather;
  strategy.dims[1] = dimBoth;
  ErrorOr<json::Document> document =
      json::Document::parse(strategyToJson(strategy, ops), "plan.json");
  ASSERT_TRUE(document) << document.error().message;
  EXPECT_EQ(readStrategy(document->root(), ops), strategy);
  EXPECT_FALSE(document->failed());
}
