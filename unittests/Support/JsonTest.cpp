//===- JsonTest.cpp - Tests of reading JSON -------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Support/Json.h"

#include "TemporaryFolder.h"

#include <gtest/gtest.h>

using namespace shardopt;
using json::Document;
using json::Value;

/// The message with which `text` is refused; "" if it is taken.
static std::string parseError(std::string_view text) {
  ErrorOr<Document> document = Document::parse(text, "f.json");
  return document ? "" : document.error().message;
}

/// The message that `read` leaves when it reads the root of `text`.
template <typename Read>
static std::string readError(std::string_view text, Read read) {
  ErrorOr<Document> document = Document::parse(text, "f.json");
  if (!document)
    return "cannot parse: " + document.error().message;
  read(document->root());
  return document->failed() ? document->error().message : "";
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

TEST(JsonParse, syntaxErrorsNameLineAndColumn) {
  EXPECT_EQ(parseError("{\n  \"a\": 1,\n  \"b\" 2\n}"),
            "f.json:3:7: syntax error while parsing object separator - "
            "unexpected number literal; expected ':'");
  EXPECT_EQ(
      parseError("[1, nul]"),
      "f.json:1:8: syntax error while parsing value - invalid literal near "
      "\"[1, nul]\"");
}

TEST(JsonParse, emptyText) {
  EXPECT_EQ(parseError(""),
            "f.json:1:1: syntax error while parsing value - unexpected end of "
            "input; expected '[', '{', or a literal");
  EXPECT_NE(parseError(" \n\t"), "");
}

TEST(JsonParse, everyTruncationIsAnError) {
  std::string text = R"({"a": [1, 2.5e3, true, null, "x\u00e4"], "b": {}})";
  EXPECT_EQ(parseError(text), "");
  for (size_t length = 0; length < text.size(); ++length)
    EXPECT_NE(parseError(text.substr(0, length)), "") << length;
}

TEST(JsonParse, everyByteChangedIsReadOrRefused) {
  std::string text = R"({"a": [1, 2.5e3, true, null, "x\u00e4"], "b": {}})";
  for (size_t at = 0; at < text.size(); ++at)
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = text;
      changed[at] = char(byte);
      (void)parseError(changed);
    }
}

TEST(JsonParse, nulBytes) {
  EXPECT_EQ(parseError(std::string_view("{}\0{", 4)),
            "f.json:1:3: not a text: holds a NUL byte");
}

TEST(JsonParse, textAfterTheValue) {
  EXPECT_EQ(parseError("{} {}"),
            "f.json:1:4: syntax error while parsing value - unexpected '{'; "
            "expected end of input");
}

TEST(JsonParse, invalidUtf8) {
  EXPECT_EQ(parseError("[\"\xc3\x28\"]"),
            "f.json:1:4: syntax error while parsing value - invalid string: "
            "ill-formed UTF-8 byte near \"[\\\"\uFFFD(\"");
}

TEST(JsonParse, byteOrderMarkIsSkipped) {
  EXPECT_EQ(parseError("\xef\xbb\xbf{}"), "");
  EXPECT_NE(parseError("\xef\xbb{}"), "");
}

TEST(JsonParse, aHundredLevelsButNoMillion) {
  std::string hundred = std::string(100, '[') + std::string(100, ']');
  EXPECT_EQ(parseError(hundred), "");
  EXPECT_EQ(parseError(std::string(1'000'000, '[')),
            "f.json:1:129: more than 128 levels of objects and arrays");
}

TEST(JsonParse, duplicateKeys) {
  EXPECT_EQ(parseError("{\"a\": {\"b\": 1},\n \"b\": 2,\n \"a\": 3}"),
            "f.json:3:4: key \"a\" given twice");
}

TEST(JsonParse, numbersBeyondDouble) {
  EXPECT_EQ(parseError("[1e999]"),
            "f.json:1:6: number beyond the range of double near \"[1e999\"");
}

TEST(JsonParse, notANumberIsNotJson) {
  EXPECT_NE(parseError("[NaN]"), "");
  EXPECT_NE(parseError("[Infinity]"), "");
}

TEST(JsonParse, longTokensAreCutInMessages) {
  std::string message = parseError("[\"" + std::string(1'000'000, 'x'));
  EXPECT_LT(message.size(), 200u);
  EXPECT_NE(message.find("missing closing quote"), std::string::npos);
}

TEST(JsonParse, fileIsNamedAsGiven) {
  TemporaryFolder folder;
  std::string path = folder.write("m.json", "{");
  ErrorOr<Document> document = Document::parseFile(path);
  ASSERT_FALSE(document);
  EXPECT_EQ(document.error().message.rfind(path + ":1:2: ", 0), 0u);
  EXPECT_FALSE(Document::parseFile(folder.path("missing.json")));
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

TEST(JsonValue, readsEveryType) {
  ErrorOr<Document> document = Document::parse(
      R"({"i": -7, "x": 1e4, "b": true, "s": "ä", "a": [1, 2], "n": null})",
      "f.json");
  ASSERT_TRUE(document);
  Value root = document->root();
  EXPECT_EQ(root["i"].integer(), -7);
  EXPECT_EQ(root["i"].number(), -7.0);
  EXPECT_EQ(root["x"].number(), 1e4);
  EXPECT_EQ(root["b"].boolean(), true);
  EXPECT_EQ(root["s"].string(), "ä");
  EXPECT_EQ(root["a"].elements()[1].integer(), 2);
  EXPECT_TRUE(root["n"].isNull());
  EXPECT_EQ(root.members().size(), 6u);
  EXPECT_EQ(root.members()[3].first, "s");
  EXPECT_FALSE(document->failed());
}

TEST(JsonValue, valuesOutliveAMoveOfTheDocument) {
  ErrorOr<Document> first = Document::parse("{\"a\": 1}", "f.json");
  ASSERT_TRUE(first);
  Value root = first->root();
  Document second = std::move(*first);
  EXPECT_EQ(root["a"].integer(), 1);
  root["a"].string();
  EXPECT_TRUE(second.failed());
}

TEST(JsonValue, wrongTypeNamesPointerWantedAndFound) {
  EXPECT_EQ(readError(R"({"num_hidden_layers": "sixty"})",
                      [](const Value &root) {
                        root["num_hidden_layers"].positiveInteger();
                      }),
            "f.json: /num_hidden_layers: expected a positive integer, found "
            "\"sixty\"");
  EXPECT_EQ(readError("[[1, 2]]",
                      [](const Value &root) { root.elements()[0].boolean(); }),
            "f.json: /0: expected true or false, found an array of length 2");
  EXPECT_EQ(readError("3", [](const Value &root) { root["a"].string(); }),
            "f.json: expected an object, found 3");
}

TEST(JsonValue, pointersAreEscaped) {
  EXPECT_EQ(readError(R"({"a/b": {"c~d": null}})",
                      [](const Value &root) { root["a/b"]["c~d"].string(); }),
            "f.json: /a~1b/c~0d: expected a string, found null");
}

TEST(JsonValue, theFirstErrorStays) {
  EXPECT_EQ(readError("{}",
                      [](const Value &root) {
                        root["a"].string();
                        root["b"].string();
                      }),
            "f.json: /a: missing, expected a string");
}

TEST(JsonValue, missingMemberOfMissingObject) {
  EXPECT_EQ(readError("{}", [](const Value &root) { root["a"]["b"].number(); }),
            "f.json: /a/b: missing, expected a number");
}

TEST(JsonValue, absentValuesTakeTheDefaultButWrongOnesDoNot) {
  EXPECT_EQ(readError("{}",
                      [](const Value &root) {
                        EXPECT_EQ(root["a"].integer(3), 3);
                        EXPECT_EQ(root["a"].number(.5), .5);
                        EXPECT_EQ(root["a"].string("x"), "x");
                        EXPECT_EQ(root["a"].boolean(true), true);
                      }),
            "");
  EXPECT_EQ(readError("{\"a\": 2.5}",
                      [](const Value &root) { root["a"].positiveInteger(3); }),
            "f.json: /a: expected a positive integer, found 2.5");
}

TEST(JsonValue, nullIsAbsentOnRequestOnly) {
  EXPECT_EQ(readError("{\"a\": null}",
                      [](const Value &root) {
                        EXPECT_EQ(root["a"].nullAsAbsent().integer(3), 3);
                        EXPECT_FALSE(root["a"].nullAsAbsent());
                        EXPECT_TRUE(root["a"]);
                        root["a"].integer(3);
                      }),
            "f.json: /a: expected an integer, found null");
}

TEST(JsonValue, integersBeyondTheirRange) {
  auto read = [](const Value &root) { root.integer(std::nullopt, 1, 8); };
  EXPECT_EQ(readError("8", read), "");
  EXPECT_EQ(readError("9", read),
            "f.json: expected an integer from 1 to 8, found 9");
  auto any = [](const Value &root) { root.integer(); };
  EXPECT_EQ(readError("9223372036854775807", any), "");
  EXPECT_EQ(readError("9223372036854775808", any),
            "f.json: expected an integer, found 9223372036854775808");
  EXPECT_EQ(
      readError("123456789012345678901234567890", any),
      "f.json: expected an integer, found 123456789012345678901234567890");
  EXPECT_EQ(readError("1.0", any), "f.json: expected an integer, found 1.0");
}

TEST(JsonValue, rangesOfNumbers) {
  EXPECT_EQ(readError("0", [](const Value &root) { root.positiveNumber(); }),
            "f.json: expected a positive number, found 0");
  EXPECT_EQ(
      readError("-1e-9", [](const Value &root) { root.nonNegativeNumber(); }),
      "f.json: expected a number of at least 0, found -1e-9");
  EXPECT_EQ(readError("1", [](const Value &root) { root.fraction(); }), "");
  EXPECT_EQ(readError("1.5", [](const Value &root) { root.fraction(); }),
            "f.json: expected a number above 0 and of at most 1, found 1.5");
}

TEST(JsonValue, choicesListTheKnownOnesClosestFirst) {
  enum class Activation { Gelu, Silu };
  auto read = [](const Value &root) {
    return root.choice<Activation>(
        {{"gelu", Activation::Gelu}, {"silu", Activation::Silu}});
  };
  EXPECT_EQ(readError("\"silu\"",
                      [&](const Value &root) {
                        EXPECT_EQ(read(root), Activation::Silu);
                      }),
            "");
  EXPECT_EQ(readError("\"sillu\"", read),
            "f.json: unknown value \"sillu\"; known: silu, gelu; did you mean "
            "'silu'?");
  EXPECT_EQ(readError("7", read),
            "f.json: expected one of \"gelu\", \"silu\", found 7");
}

TEST(JsonValue, unknownKeysListTheKnownOnesClosestFirst) {
  EXPECT_EQ(readError(R"({"a": {"skew": 1, "bandwith": 2}})",
                      [](const Value &root) {
                        root["a"].refuseOtherKeys({"skew", "bandwidth"});
                      }),
            "f.json: /a/bandwith: unknown key; known: bandwidth, skew; did you "
            "mean 'bandwidth'?");
}

//===----------------------------------------------------------------------===//
// What was read
//===----------------------------------------------------------------------===//

TEST(JsonReads, areRememberedWhereSomebodyAsks) {
  ErrorOr<Document> document = Document::parse(
      R"({"a": 1, "b": "x", "c": null, "d": {"e": [2], "f": true}, "g": 3})",
      "f.json");
  ASSERT_TRUE(document);
  Value root = document->root();
  (void)root["g"].integer();
  EXPECT_FALSE(root["g"].wasRead());
  document->rememberReads();
  (void)root["a"].number();
  (void)root["b"].present();
  (void)root["c"].nullAsAbsent();
  (void)root["d"]["e"].elements();
  EXPECT_TRUE(root["a"].wasRead());
  EXPECT_FALSE(root["b"].wasRead());
  EXPECT_TRUE(root["c"].wasRead());
  EXPECT_TRUE(root["d"].wasRead());
  EXPECT_TRUE(root["d"]["e"].wasRead());
  EXPECT_FALSE(root["d"]["f"].wasRead());
  EXPECT_FALSE(root["g"].wasRead());
  EXPECT_FALSE(root["h"].wasRead());
}
