//===- NestingTest.cpp ----------------------------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Support/Nesting.h"

#include <gtest/gtest.h>

using namespace shardopt;

TEST(Nesting, withinTheLimitIsNoError) {
  EXPECT_FALSE(checkNesting("m.mlir", "module { a(b[c<d>]) }", 4));
}

TEST(Nesting, beyondTheLimitNamesTheBracket) {
  auto error = checkNesting("m.mlir", "module {\n  f([\n", 2);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message, "m.mlir:2:5: more than 2 levels of brackets");
}

TEST(Nesting, arrowsCloseNothing) {
  EXPECT_TRUE(checkNesting("m.mlir", "{ -> { -> {", 2));
}

TEST(Nesting, stringsAndCommentsDoNotCount) {
  EXPECT_FALSE(checkNesting("m.mlir", "\"((( \\\" (((\" // (((\n(", 1));
}

TEST(Nesting, bytecodeIsNotLookedAt) {
  EXPECT_FALSE(checkNesting("m.mlirbc", "ML\xefR((((", 1));
}

TEST(Nesting, anUnfinishedStringEndsTheText) {
  EXPECT_FALSE(checkNesting("m.mlir", "\"(((\\", 1));
}
