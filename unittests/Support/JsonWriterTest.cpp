//===- JsonWriterTest.cpp - Tests of writing JSON -------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Support/Json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

using namespace shardopt;
using json::Style;
using json::Writer;

template <typename T> static std::string written(const T &value) {
  std::string out;
  Writer(out).value(value);
  return out;
}

TEST(JsonWriter, membersKeepTheirOrderOnOneLine) {
  std::string out;
  Writer writer(out);
  writer.beginObject().member("b", 1).member("a", "x").key("c").beginArray();
  writer.value(true).null().endArray().endObject();
  EXPECT_EQ(out, R"({"b": 1, "a": "x", "c": [true, null]})");
}

TEST(JsonWriter, blocksAreIndentedAndLinesStayWithinThem) {
  std::string out;
  Writer writer(out);
  writer.beginObject(Style::Block).key("rows").beginArray(Style::Block);
  writer.beginObject().member("x", 1).key("y").beginArray(Style::Block);
  writer.value(2).endArray().endObject().beginObject().endObject().endArray();
  writer.key("none").beginArray(Style::Block).endArray().endObject();
  EXPECT_EQ(out, "{\n"
                 "  \"rows\": [\n"
                 "    {\"x\": 1, \"y\": [2]},\n"
                 "    {}\n"
                 "  ],\n"
                 "  \"none\": []\n"
                 "}");
}

TEST(JsonWriter, oneWriterWritesSeveralDocuments) {
  std::string out;
  Writer writer(out);
  writer.beginObject().endObject();
  out += '\n';
  writer.beginArray().endArray();
  EXPECT_EQ(out, "{}\n[]");
}

TEST(JsonWriter, doublesComeBackTheSame) {
  for (double x : {381.817501, 0.1, 1. / 3., 5e-324, 1.7976931348623157e308,
                   -2.2250738585072014e-308, 72e9, 0.0, 123456789.123456789}) {
    std::string text = written(x);
    EXPECT_EQ(std::strtod(text.c_str(), nullptr), x) << text;
  }
  EXPECT_EQ(written(381.817501), "381.817501");
  EXPECT_EQ(written(1. / 3.), "0.3333333333333333");
}

TEST(JsonWriter, numbersThatJsonHasNot) {
  EXPECT_EQ(written(std::nan("")), "null");
  EXPECT_EQ(written(HUGE_VAL), "null");
}

TEST(JsonWriter, integersOfEverySize) {
  EXPECT_EQ(written(std::numeric_limits<int64_t>::min()),
            "-9223372036854775808");
  EXPECT_EQ(written(std::numeric_limits<uint64_t>::max()),
            "18446744073709551615");
}

TEST(JsonWriter, stringsAreEscapedAndMadeUtf8) {
  EXPECT_EQ(written("a\"b\\c\n\x01ä"), "\"a\\\"b\\\\c\\n\\u0001ä\"");
  EXPECT_EQ(written("a\xff z"), "\"a\uFFFD z\"");
}
