//===- ProblemReaderTest.cpp - Problems as text ---------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Selection/ProblemReader.h"

#include <gtest/gtest.h>

using namespace shardopt;
using namespace shardopt::solve;

/// A problem of two nodes and an edge, with what is in the way replaced.
static std::string makeText(const std::string &from = "",
                            const std::string &to = "") {
  std::string text = R"({"problem": {"name": "two",
    "edges": {"nodes": [[1, 0]], "costs": [[0, 7, 1000000000000000000, 2]]},
    "nodes": {"intervals": [[0, 3], [2, 2]], "costs": [[1, 2], [3, 4]],
              "usages": [[5, 0], [9, 9]]},
    "usage_limit": 5}})";
  size_t place = from.empty() ? std::string::npos : text.find(from);
  if (place != std::string::npos)
    text.replace(place, from.size(), to);
  return text;
}

static std::string errorOf(const std::string &text) {
  ErrorOr<Problem> problem = parseProblem(text, "x.json");
  return problem ? "" : problem.error().message;
}

TEST(ProblemReader, ReadsEveryPart) {
  ErrorOr<Problem> problem = parseProblem(makeText(), "x.json");
  ASSERT_TRUE(problem) << problem.error().message;
  EXPECT_EQ(problem->name, "two");
  EXPECT_EQ(problem->numNodes(), 2u);
  EXPECT_EQ(problem->intervals[0].end, 3);
  EXPECT_EQ(problem->usages[0][0], 5);
  EXPECT_EQ(problem->edgeNodes[0][0], 1);
  EXPECT_EQ(problem->edgeCosts[0][2], infiniteCost);
  EXPECT_EQ(problem->usageLimit, 5);
}

TEST(ProblemReader, TakesAnEmptyGraphAndNoLimit) {
  ErrorOr<Problem> problem = parseProblem(
      R"({"problem": {"nodes": {"intervals": [], "costs": [], "usages": []},
                      "edges": {"nodes": [], "costs": []}}})",
      "x.json");
  ASSERT_TRUE(problem) << problem.error().message;
  EXPECT_EQ(problem->numNodes(), 0u);
  EXPECT_FALSE(problem->usageLimit.has_value());
}

TEST(ProblemReader, RefusesKeysGivenTwice) {
  EXPECT_EQ(errorOf(makeText("\"usage_limit\": 5",
                             "\"usage_limit\": 5, \"usage_limit\": 100")),
            "x.json: /problem/usage_limit: given twice");
  // An escape makes no other key of it, an empty array is an array.
  EXPECT_EQ(errorOf(makeText("\"usage_limit\": 5",
                             "\"usage_limit\": 5, \"n\\u0061me\": \"x\"")),
            "x.json: /problem/name: given twice");
  EXPECT_EQ(errorOf(makeText("\"costs\": [[1, 2], [3, 4]]",
                             "\"costs\": [], \"costs\": [[1, 2], [3, 4]]")),
            "x.json: /problem/nodes/costs: given twice");
  EXPECT_EQ(errorOf(makeText("\"usages\"", "\"intervals\": [], \"usages\"")),
            "x.json: /problem/nodes/intervals: given twice");
}

TEST(ProblemReader, ReadsKeysWhole) {
  std::string begins = "usage_limit" + std::string(300, 'x');
  EXPECT_NE(errorOf(makeText("usage_limit", begins)).find("unknown key"),
            std::string::npos);
}

TEST(ProblemReader, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(errorOf(makeText("[3, 4]", "[3, -4]")),
            "x.json: /problem/nodes/costs/1/1: expected an integer in [0, "
            "9223372036854775807], found -4");
  EXPECT_EQ(errorOf(makeText("[3, 4]", "[3, 4.5]")),
            "x.json: /problem/nodes/costs/1/1: expected an integer in [0, "
            "9223372036854775807], found 4.5");
  EXPECT_EQ(errorOf(makeText("[3, 4]", "[3, 10000000000000000000]")),
            "x.json: /problem/nodes/costs/1/1: expected an integer in [0, "
            "9223372036854775807], found 10000000000000000000");
  EXPECT_EQ(errorOf(makeText("[3, 4]", "[3, \"4\"]")),
            "x.json: /problem/nodes/costs/1/1: expected an integer in [0, "
            "9223372036854775807], found \"4\"");
  EXPECT_EQ(errorOf(makeText("[3, 4]", "[]")),
            "x.json: /problem/nodes/costs/1: expected at least one strategy, "
            "found none");
  EXPECT_EQ(errorOf(makeText("[3, 4]", "[3]")),
            "x.json: /problem/nodes/usages/1: expected 1 elements, as "
            "nodes/costs has, found 2");
  EXPECT_EQ(errorOf(makeText("[[1, 0]]", "[[1, 2]]")),
            "x.json: /problem/edges/nodes/0: no node 2 among 2 nodes");
  EXPECT_EQ(errorOf(makeText("[[1, 0]]", "[[1, 0, 0]]")),
            "x.json: /problem/edges/costs/0: expected 2 x 2 x 2 elements, "
            "found 4");
  EXPECT_EQ(errorOf(makeText("[[1, 0]]", "[[1, 0], [0, 1]]")),
            "x.json: /problem/edges/costs: expected 2 elements, one for each "
            "element of edges/nodes, found 1");
  EXPECT_EQ(errorOf(makeText("[0, 3]", "[3, 0]")),
            "x.json: /problem/nodes/intervals/0: ends at 0, before it begins "
            "at 3");
  EXPECT_EQ(errorOf(makeText("[0, 3]", "[0, 3, 4]")),
            "x.json: /problem/nodes/intervals/0: expected [begin, end], found "
            "3 elements");
  EXPECT_EQ(errorOf(makeText("usage_limit", "usage_limits")),
            "x.json: /problem/usage_limits: unknown key, known: usage_limit, "
            "edges, name, nodes; did you mean 'usage_limit'?");
  EXPECT_EQ(errorOf("{}"), "x.json: expected an object with the key "
                           "'problem', found none");
}

TEST(ProblemReader, RefusesWhatIsNoJson) {
  std::string text = makeText();
  for (size_t length : {size_t(0), size_t(1), text.size() / 3, text.size() / 2,
                        text.size() - 1})
    EXPECT_EQ(errorOf(text.substr(0, length)).rfind("x.json: ", 0), 0u)
        << length;
  EXPECT_NE(errorOf(text + "1"), "");
  EXPECT_NE(errorOf("[1, 2]"), "");
  EXPECT_NE(errorOf("7"), "");
}

TEST(ProblemReader, SurvivesAnyChangeOfAByte) {
  std::string text = makeText();
  for (size_t i = 0; i < text.size(); ++i)
    for (char replacement : {'[', ']', '{', '"', ',', '9', '\\', '\0'}) {
      std::string changed = text;
      changed[i] = replacement;
      (void)errorOf(changed);
    }
}

TEST(ProblemReader, NamesAFileThatIsMissing) {
  ErrorOr<Problem> problem = readProblem("/nowhere/x.json");
  ASSERT_FALSE(problem);
  EXPECT_NE(problem.error().message.find("/nowhere/x.json"), std::string::npos);
}
