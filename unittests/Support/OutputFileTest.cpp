//===- OutputFileTest.cpp - Tests of output files -------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Support/WriteFile.h"

#include "TemporaryFolder.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace shardopt;
namespace fs = std::filesystem;

/// Writes `text` to `path`; the message of what failed.
static std::string publish(const std::string &path, std::string_view text) {
  std::optional<Error> error = writeFile(path, text);
  return error ? error->message : "";
}

static mode_t modeOf(const std::string &path) {
  struct stat status;
  return ::stat(path.c_str(), &status) ? 0 : status.st_mode & 07777;
}

TEST(OutputFile, newFileAppearsWithKeep) {
  TemporaryFolder folder;
  ErrorOr<OutputFile> file = OutputFile::open(folder.path("out"));
  ASSERT_TRUE(file) << file.error().message;
  file->write("one\n");
  file->write("two\n");
  EXPECT_FALSE(fs::exists(folder.path("out")));
  EXPECT_FALSE(file->keep());
  EXPECT_EQ(folder.read("out"), "one\ntwo\n");
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(OutputFile, existingFileSurvivesWithoutKeep) {
  TemporaryFolder folder;
  std::string path = folder.write("out", "old");
  {
    ErrorOr<OutputFile> file = OutputFile::open(path);
    ASSERT_TRUE(file) << file.error().message;
    file->write("new");
    EXPECT_FALSE(file->flush());
    EXPECT_EQ(folder.entries(), 2u);
  }
  EXPECT_EQ(folder.read("out"), "old");
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(OutputFile, movedFileIsKeptOnce) {
  TemporaryFolder folder;
  ErrorOr<OutputFile> first = OutputFile::open(folder.path("out"));
  ASSERT_TRUE(first) << first.error().message;
  first->write("text");
  {
    OutputFile second = std::move(*first);
    EXPECT_FALSE(second.keep());
  }
  EXPECT_EQ(folder.read("out"), "text");
}

TEST(OutputFile, longTextsAreWrittenWhole) {
  TemporaryFolder folder;
  std::string text;
  ErrorOr<OutputFile> file = OutputFile::open(folder.path("out"));
  ASSERT_TRUE(file) << file.error().message;
  for (int i = 0; i < 50'000; ++i) {
    std::string line = std::to_string(i) + "\n";
    text += line;
    file->write(line);
  }
  EXPECT_FALSE(file->keep());
  EXPECT_EQ(folder.read("out"), text);
}

TEST(OutputFile, permissionsOfAReplacedFileAreKept) {
  TemporaryFolder folder;
  std::string path = folder.write("out", "old");
  ::chmod(path.c_str(), 0750);
  EXPECT_EQ(publish(path, "new"), "");
  EXPECT_EQ(folder.read("out"), "new");
  EXPECT_EQ(modeOf(path), 0750u);
}

TEST(OutputFile, newFilesHonourTheUmask) {
  TemporaryFolder folder;
  mode_t previous = ::umask(027);
  EXPECT_EQ(publish(folder.path("out"), "x"), "");
  ::umask(previous);
  EXPECT_EQ(modeOf(folder.path("out")), 0640u);
}

TEST(OutputFile, targetOfALinkIsReplaced) {
  TemporaryFolder folder;
  fs::create_directory(folder.path("sub"));
  folder.write("sub/target", "old");
  fs::create_symlink("sub/target", folder.path("inner"));
  fs::create_symlink(folder.path("inner"), folder.path("link"));
  EXPECT_EQ(publish(folder.path("link"), "new"), "");
  EXPECT_TRUE(fs::is_symlink(folder.path("link")));
  EXPECT_TRUE(fs::is_symlink(folder.path("inner")));
  EXPECT_EQ(folder.read("sub/target"), "new");
}

TEST(OutputFile, linkToNothingCreatesItsTarget) {
  TemporaryFolder folder;
  fs::create_symlink("target", folder.path("link"));
  EXPECT_EQ(publish(folder.path("link"), "new"), "");
  EXPECT_TRUE(fs::is_symlink(folder.path("link")));
  EXPECT_EQ(folder.read("target"), "new");
}

TEST(OutputFile, linksInACircle) {
  TemporaryFolder folder;
  fs::create_symlink("b", folder.path("a"));
  fs::create_symlink("a", folder.path("b"));
  EXPECT_EQ(publish(folder.path("a"), "new"),
            folder.path("a") +
                ": cannot write: Too many levels of symbolic links");
}

TEST(OutputFile, devicesStayDevices) {
  EXPECT_EQ(publish("/dev/null", "text"), "");
  struct stat status;
  ASSERT_EQ(::stat("/dev/null", &status), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode));
}

TEST(OutputFile, fullDeviceIsReportedByKeep) {
  EXPECT_EQ(publish("/dev/full", "text"),
            "/dev/full: cannot write: No space left on device");
}

TEST(OutputFile, pipesAreWrittenDirectly) {
  TemporaryFolder folder;
  std::string path = folder.path("pipe");
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  int reader = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  ErrorOr<OutputFile> file = OutputFile::open(path);
  ASSERT_TRUE(file) << file.error().message;
  file->write("line\n");
  EXPECT_FALSE(file->flush());
  char text[16];
  EXPECT_EQ(::read(reader, text, sizeof(text)), 5);
  EXPECT_FALSE(file->keep());
  ::close(reader);
  EXPECT_TRUE(fs::is_fifo(path));
}

TEST(OutputFile, openDescriptorsAreWrittenInOrder) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_EQ(publish("/dev/fd/" + std::to_string(ends[1]), "text"), "");
  char text[16];
  EXPECT_EQ(::read(ends[0], text, sizeof(text)), 4);
  // The descriptor is its owner's and stays open.
  EXPECT_EQ(::write(ends[1], "more", 4), 4);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(OutputFile, dashIsTheStandardOutput) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(publish("-", "text"), "");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "text");
}

TEST(OutputFile, errorsOfOpeningNameThePath) {
  TemporaryFolder folder;
  EXPECT_EQ(publish(folder.path("no/out"), ""),
            folder.path("no/out") +
                ": cannot write: No such file or directory");
  EXPECT_EQ(publish(folder.path(""), ""),
            folder.path("") + ": cannot write: Is a directory");
  EXPECT_EQ(publish("", ""), "cannot write: the name of the file is empty");
}

TEST(OutputFile, readOnlyFilesAreRefused) {
  TemporaryFolder folder;
  std::string path = folder.write("out", "old");
  ::chmod(path.c_str(), 0444);
  ::chmod(folder.path("").c_str(), 0777);
  // Root may write any file, so the test is somebody else for a moment.
  constexpr uid_t nobody = 65534;
  uid_t self = ::geteuid();
  if (self == 0)
    ASSERT_EQ(::seteuid(nobody), 0);
  std::string message = publish(path, "new");
  if (self == 0)
    ASSERT_EQ(::seteuid(self), 0);
  EXPECT_EQ(message, path + ": cannot write: Permission denied");
  EXPECT_EQ(folder.read("out"), "old");
}

TEST(OutputFile, noTwoOutputsAreOneFile) {
  TemporaryFolder folder;
  std::string path = folder.path("out");
  ErrorOr<OutputFile> first = OutputFile::open(path);
  ASSERT_TRUE(first);
  EXPECT_TRUE(OutputFile::isOpen(path));
  fs::create_symlink("out", folder.path("link"));
  for (const char *other : {"out", "./out", "link"}) {
    ErrorOr<OutputFile> second = OutputFile::open(folder.path(other));
    ASSERT_FALSE(second) << other;
    EXPECT_EQ(second.error().message,
              folder.path(other) + ": cannot write: it is another output too");
  }
  // What was refused did not free the name.
  EXPECT_FALSE(OutputFile::open(path));
  OutputFile moved = std::move(*first);
  EXPECT_TRUE(OutputFile::isOpen(path));
  moved.write("text");
  EXPECT_FALSE(moved.keep());
  EXPECT_FALSE(OutputFile::isOpen(path));
  EXPECT_EQ(publish(path, "again"), "");
}

TEST(OutputFile, devicesMayBeOpenedTwice) {
  ErrorOr<OutputFile> first = OutputFile::open("/dev/null");
  ErrorOr<OutputFile> second = OutputFile::open("/dev/null");
  EXPECT_TRUE(first && second);
  EXPECT_FALSE(OutputFile::isOpen("/dev/null"));
}

TEST(OutputFile, noNameIsNoOutput) {
  ErrorOr<std::optional<OutputFile>> none = openIfNamed("");
  ASSERT_TRUE(bool(none));
  EXPECT_FALSE(none->has_value());
  TemporaryFolder folder;
  ErrorOr<std::optional<OutputFile>> file = openIfNamed(folder.path("out"));
  ASSERT_TRUE(file && *file);
  (*file)->write("text");
  EXPECT_FALSE((*file)->keep());
  EXPECT_TRUE(fs::exists(folder.path("out")));
  EXPECT_FALSE(openIfNamed(folder.path("missing/out")));
}
