//===- FileRolesTest.cpp - Tests of what is read and written --------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Support/FileRoles.h"

#include "TemporaryFolder.h"
#include "shardopt/Support/OutputFile.h"

#include <gtest/gtest.h>

using namespace shardopt;
namespace fs = std::filesystem;

/// What `check()` says of 'in', read from `input`, and 'out', written to
/// `output`.
static std::string conflict(const std::string &input,
                            const std::string &output) {
  FileRoles files;
  files.reads("'in'", input);
  files.writes("'out'", output);
  std::optional<Error> error = files.check();
  return error ? error->message : "";
}

TEST(FileRoles, differentFilesAreFine) {
  TemporaryFolder folder;
  EXPECT_EQ(conflict(folder.write("a", "text"), folder.path("b")), "");
  EXPECT_EQ(conflict("", ""), "");
}

TEST(FileRoles, aFileThatIsReadIsNotWritten) {
  TemporaryFolder folder;
  std::string path = folder.write("a", "text");
  EXPECT_EQ(conflict(path, path),
            "'in' and 'out' are both '" + path + "', expected two files");
  EXPECT_NE(conflict(path, folder.path("./a")), "");
  fs::create_symlink(path, folder.path("symbolic"));
  fs::create_hard_link(path, folder.path("hard"));
  EXPECT_NE(conflict(path, folder.path("symbolic")), "");
  EXPECT_NE(conflict(folder.path("symbolic"), path), "");
  EXPECT_NE(conflict(path, folder.path("hard")), "");
}

TEST(FileRoles, twoOutputsAreTwoFiles) {
  TemporaryFolder folder;
  FileRoles files;
  files.writes("'a'", folder.path("x"));
  files.writes("'b'", folder.path("y"));
  EXPECT_FALSE(files.check());
  files.writes("'c'", folder.path("./x"));
  std::optional<Error> error = files.check();
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message, "'a' and 'c' are both '" + folder.path("./x") +
                                "', expected two files");
}

TEST(FileRoles, filesOfAFolderThatIsReadAreNotWritten) {
  TemporaryFolder folder;
  std::string path = folder.write("a", "text");
  EXPECT_NE(conflict(folder.path("."), path), "");
  EXPECT_NE(conflict(folder.path("."), folder.path("")), "");
  EXPECT_EQ(conflict(folder.path("."), folder.path("new")), "");
}

TEST(FileRoles, streamsMayHaveManyRoles) {
  EXPECT_EQ(conflict("-", "-"), "");
  EXPECT_EQ(conflict("/dev/null", "/dev/null"), "");
}

TEST(FileRoles, onlyWhatIsTransformedMayBeTheOutput) {
  TemporaryFolder folder;
  std::string path = folder.write("a", "text");
  fs::create_hard_link(path, folder.path("hard"));
  ErrorOr<OutputFile> output = OutputFile::open(path);
  ASSERT_TRUE(output) << output.error().message;
  FileRoles files;
  files.transforms("the program", path);
  EXPECT_FALSE(files.check());
  files.writes("'report'", path);
  EXPECT_TRUE(files.check());
  EXPECT_NE(conflict(path, folder.path("b")), "");
  EXPECT_NE(conflict(folder.path("b"), path), "");
  EXPECT_EQ(conflict(folder.path("hard"), folder.path("b")),
            "'in' is '" + folder.path("hard") +
                "', which is the output too; expected two files");
}
