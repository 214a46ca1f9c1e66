//===- Files.cpp - Reading files whole, and their names -------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Support/Files.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace shardopt;

static Error cannotRead(const std::string &path, int code) {
  return Error{path + ": cannot read: " + std::strerror(code)};
}

/// Appends what is left of `descriptor` to `text`. Returns 0 or an errno.
static int readRest(int descriptor, uint64_t limitBytes,
                    bool (*mayBegin)(std::string_view), std::string &text) {
  char block[1 << 16];
  while (text.size() <= limitBytes) {
    ssize_t count = ::read(descriptor, block, sizeof(block));
    if (count == 0)
      return 0;
    bool isFirst = text.empty();
    if (count > 0)
      text.append(block, count);
    if (count > 0 && isFirst && mayBegin && !mayBegin(text))
      return 0;
    if (count < 0 && errno != EINTR)
      return errno;
  }
  return EFBIG;
}

ErrorOr<std::string> shardopt::readFile(const std::string &path,
                                        uint64_t limitBytes, size_t spareBytes,
                                        bool (*mayBegin)(std::string_view)) {
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return cannotRead(path, errno);
  std::string text;
  struct stat status;
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
      uint64_t(status.st_size) <= limitBytes)
    text.reserve(status.st_size + spareBytes + 1);
  int code = readRest(descriptor, limitBytes, mayBegin, text);
  ::close(descriptor);
  if (code == EFBIG)
    return Error{path + ": larger than the limit of " +
                 std::to_string(limitBytes) + " bytes"};
  if (code)
    return cannotRead(path, code);
  return text;
}

std::string_view shardopt::takeLine(std::string_view &rest) {
  size_t end = rest.find('\n');
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  if (!line.empty() && line.back() == '\r')
    line.remove_suffix(1);
  return line;
}

std::filesystem::path shardopt::canonicalPath(const std::string &path) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path whole = fs::absolute(path, error);
  fs::path canonical = fs::weakly_canonical(whole, error);
  return error ? whole : canonical;
}

bool shardopt::isSameFile(const std::string &a, const std::string &b) {
  std::error_code error;
  return std::filesystem::equivalent(a, b, error) ||
         canonicalPath(a) == canonicalPath(b);
}
