//===- RequestLoadTest.cpp - What is said of requests ---------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/RequestLoad.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace shardopt;
using Field = RequestField;

namespace {

RequestLoad loadOf(std::vector<std::pair<Field, double>> values) {
  RequestLoad load;
  for (auto [field, value] : values)
    load[field] = value;
  return load;
}

std::string errorOf(std::vector<std::pair<Field, double>> values) {
  return loadOf(values).error().value_or("");
}

} // namespace

TEST(RequestLoad, NamesAreReadWithEitherLine) {
  EXPECT_EQ(parseRequestField("tpot_ms"), Field::TpotMs);
  EXPECT_EQ(parseRequestField("prefix-cache-hit-rate"),
            Field::PrefixCacheHitRate);
  EXPECT_EQ(parseRequestField("x"), std::nullopt);
  for (const RequestFieldInfo &info : requestFields)
    EXPECT_EQ(parseRequestField(info.name), info.field);
}

TEST(RequestLoad, FormerNamesAreReadAndNotWritten) {
  for (const auto &[former, field] : formerRequestNames) {
    EXPECT_EQ(parseRequestField(former), field);
    EXPECT_STRNE(spell(field), former);
  }
}

TEST(RequestLoad, NumbersAreWrittenAsShortAsTheyRead) {
  EXPECT_EQ(spell(Field::Isl, 4096), "4096");
  EXPECT_EQ(spell(Field::Concurrency, 1e9), "1000000000");
  EXPECT_EQ(spell(Field::Rate, 0.1), "0.1");
  EXPECT_EQ(spell(Field::Rate, 1. / 3), "0.3333333333333333");
}

TEST(RequestLoad, LimitsNeedNoRequests) {
  EXPECT_EQ(errorOf({}), "");
  EXPECT_EQ(errorOf({{Field::TpotMs, 30}, {Field::TtftMs, 1000}}), "");
  EXPECT_FALSE(loadOf({{Field::TpotMs, 30}}).hasRequests());
  EXPECT_EQ(
      errorOf(
          {{Field::Isl, 1}, {Field::Osl, 1}, {Field::PrefixCacheHitRate, 0}}),
      "");
}

TEST(RequestLoad, WhatIsSaidReplacesTheRest) {
  RequestLoad load =
      loadOf({{Field::Isl, 5}, {Field::Osl, 6}, {Field::Concurrency, 7}});
  RequestLoad found = load;
  found.replaceBy(loadOf({}));
  EXPECT_EQ(found, load);
  found.replaceBy(loadOf({{Field::Osl, 8}, {Field::TpotMs, 30}}));
  EXPECT_EQ(found, loadOf({{Field::Isl, 5},
                           {Field::Osl, 8},
                           {Field::Concurrency, 7},
                           {Field::TpotMs, 30}}));
  found.replaceBy(loadOf({{Field::Rate, 2}}));
  EXPECT_EQ(found[Field::Concurrency], std::nullopt);
  EXPECT_EQ(found[Field::Rate], 2);
  // What is said wrong stays so.
  found.replaceBy(loadOf({{Field::Rate, 2}, {Field::Concurrency, 3}}));
  EXPECT_TRUE(found.error());
}

TEST(RequestLoad, WhatCannotBe) {
  // (C1)
  EXPECT_EQ(errorOf({{Field::Isl, 0.5}, {Field::Osl, 1}}),
            "'isl' is 0.5, expected a whole number from 1 to 2147483647");
  EXPECT_EQ(errorOf({{Field::TpotMs, 0}}),
            "'tpot_ms' is 0, expected a number above 0, and at most 1e+09");
  EXPECT_EQ(
      errorOf(
          {{Field::Isl, 1}, {Field::Osl, 1}, {Field::PrefixCacheHitRate, 1}}),
      "'prefix_cache_hit_rate' is 1, expected a number from 0 to 0.999");
  EXPECT_NE(errorOf({{Field::TtftMs, std::nan("")}}), "");
  EXPECT_NE(errorOf({{Field::Rate, INFINITY}}), "");
  // (C2)
  EXPECT_EQ(errorOf({{Field::Isl, 5}}),
            "'isl' and 'osl' go together, and 'osl' is missing");
  // (C3)
  EXPECT_EQ(errorOf({{Field::Rate, 5}}),
            "'rate' is given without 'isl' and 'osl', the lengths of requests");
  // (C4)
  EXPECT_EQ(errorOf({{Field::Isl, 5},
                     {Field::Osl, 5},
                     {Field::Rate, 5},
                     {Field::Concurrency, 5}}),
            "'concurrency' is 5 and 'rate' 5, expected one of them");
  // (C5)
  EXPECT_EQ(errorOf({{Field::Isl, 5},
                     {Field::Osl, 5},
                     {Field::DraftTokens, 2},
                     {Field::AcceptedTokens, 2.5}}),
            "'accepted_tokens' is 2.5, expected at most 'draft_tokens', 2");
  EXPECT_EQ(
      errorOf({{Field::Isl, 5}, {Field::Osl, 5}, {Field::AcceptedTokens, 0.5}}),
      "'accepted_tokens' is 0.5 and 'draft_tokens' is missing, expected both");
  EXPECT_EQ(
      errorOf({{Field::Isl, 5}, {Field::Osl, 5}, {Field::AcceptedTokens, 0}}),
      "");
  // (C7)
  EXPECT_EQ(
      errorOf({{Field::Isl, 5}, {Field::Osl, 5}, {Field::DraftLayers, 1}}),
      "'draft_layers' is 1 and 'draft_tokens' is missing, expected both");
  EXPECT_EQ(errorOf({{Field::Isl, 5},
                     {Field::Osl, 5},
                     {Field::DraftTokens, 2},
                     {Field::DraftLayers, 1},
                     {Field::DraftParameters, 0.5}}),
            "'draft_layers' is 1 and 'draft_parameters' 0.5, expected one of "
            "them");
}
