//===- LineReader.h - Lines of a file of any size ---------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_PLANNING_LINEREADER_H
#define SHARDOPT_LIB_PLANNING_LINEREADER_H

#include "shardopt/Support/Error.h"

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shardopt {

/// Reads a file, which may be a pipe, block by block.
class LineReader {
public:
  /// Of a longer line only the first bytes are kept.
  static constexpr size_t maxLineBytes = size_t(1) << 20;

  static ErrorOr<LineReader> open(const std::string &path);

  /// The next lines, without their ends ("\n" or "\r\n"): about a megabyte of
  /// them, good until the next call. None are left where it returns none. The
  /// last line needs no end, and an end starts no line.
  ErrorOr<std::vector<std::string_view>> next();

private:
  struct Close {
    void operator()(std::FILE *file) const { std::fclose(file); }
  };
  LineReader(std::string path, std::FILE *file)
      : path(std::move(path)), file(file) {}

  std::string path;
  std::unique_ptr<std::FILE, Close> file;
  std::string block;      ///< what the lines of the last call refer to
  std::string unfinished; ///< the start of the line that `block` ends in
};

} // namespace shardopt

#endif // SHARDOPT_LIB_PLANNING_LINEREADER_H
