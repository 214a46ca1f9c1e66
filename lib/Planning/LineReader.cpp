//===- LineReader.cpp - Lines of a file of any size -----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LineReader.h"

#include <cerrno>
#include <cstring>

using namespace shardopt;

static constexpr size_t blockBytes = size_t(1) << 20;

static Error cannotRead(const std::string &path, int code) {
  return Error{"cannot read '" + path + "': " + std::strerror(code)};
}

ErrorOr<LineReader> LineReader::open(const std::string &path) {
  std::FILE *file = std::fopen(path.c_str(), "rb");
  if (!file)
    return cannotRead(path, errno);
  return LineReader(path, file);
}

ErrorOr<std::vector<std::string_view>> LineReader::next() {
  std::vector<std::string_view> lines;
  while (lines.empty()) {
    block = std::move(unfinished);
    unfinished.clear();
    size_t kept = block.size();
    block.resize(kept + blockBytes);
    errno = 0;
    size_t read = std::fread(block.data() + kept, 1, blockBytes, file.get());
    if (std::ferror(file.get()))
      return cannotRead(path, errno);
    block.resize(kept + read);

    std::string_view rest = block;
    for (size_t end; (end = rest.find('\n')) != std::string_view::npos;
         rest.remove_prefix(end + 1)) {
      std::string_view line = rest.substr(0, end);
      if (!line.empty() && line.back() == '\r')
        line.remove_suffix(1);
      lines.push_back(line.substr(0, maxLineBytes));
    }
    if (read == 0) {
      if (!rest.empty())
        lines.push_back(rest.substr(0, maxLineBytes));
      return lines;
    }
    // What is beyond the limit is dropped as it comes, or a file without line
    // breaks would be held whole.
    unfinished = rest.substr(0, maxLineBytes + 1);
  }
  return lines;
}
