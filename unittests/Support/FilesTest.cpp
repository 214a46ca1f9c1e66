//===- FilesTest.cpp - Tests of reading files -----------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Support/Files.h"

#include "TemporaryFolder.h"

#include <gtest/gtest.h>

using namespace shardopt;

TEST(ReadFile, givesAllBytes) {
  TemporaryFolder folder;
  std::string bytes("a\0\xff\r\n", 5);
  ErrorOr<std::string> text = readFile(folder.write("f", bytes), 5);
  ASSERT_TRUE(text) << text.error().message;
  EXPECT_EQ(*text, bytes);
}

TEST(ReadFile, missingFile) {
  ErrorOr<std::string> text = readFile("no/such.json", 1000);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().message,
            "no/such.json: cannot read: No such file or directory");
}

TEST(ReadFile, folder) {
  ErrorOr<std::string> text = readFile("/", 1000);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().message, "/: cannot read: Is a directory");
}

TEST(ReadFile, largerThanTheLimit) {
  TemporaryFolder folder;
  std::string path = folder.write("f", "123456");
  ErrorOr<std::string> text = readFile(path, 5);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().message, path + ": larger than the limit of 5 bytes");
}

TEST(ReadFile, endlessDeviceMeetsTheLimit) {
  EXPECT_FALSE(readFile("/dev/zero", 100'000));
}

TEST(TakeLine, endsOfEitherKindAndNone) {
  std::string_view rest = "a\r\n\nb";
  EXPECT_EQ(takeLine(rest), "a");
  EXPECT_EQ(takeLine(rest), "");
  EXPECT_EQ(takeLine(rest), "b");
  EXPECT_TRUE(rest.empty());
}
