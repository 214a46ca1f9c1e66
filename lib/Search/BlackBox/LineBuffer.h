//===- LineBuffer.h - Lines that come in pieces -----------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_SEARCH_BLACKBOX_LINEBUFFER_H
#define SHARDOPT_LIB_SEARCH_BLACKBOX_LINEBUFFER_H

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace shardopt::blackbox {

/// Cuts what is read from a descriptor into lines. Holds no more than a line of
/// `maxLineBytes` and one read.
class LineBuffer {
public:
  explicit LineBuffer(size_t maxLineBytes) : maxLineBytes(maxLineBytes) {}

  struct Line {
    std::string_view text; ///< without its end; good until the next `fillFrom`
    bool tooLong = false;  ///< longer than allowed; `text` is empty
  };
  /// Takes the next line, if all of it is there. The last line needs no end.
  std::optional<Line> take();

  /// Whether the line that is coming in is too long already.
  bool isOverflowing() const { return dropping; }

  enum class Fill : unsigned char {
    Read,  ///< something came
    Again, ///< nothing to read now, for a descriptor that does not block
    End,   ///< nothing will come any more
    Error, ///< the descriptor cannot be read
  };
  /// Reads once from `descriptor`. Only after `take` has returned none.
  Fill fillFrom(int descriptor);

private:
  const size_t maxLineBytes;
  std::string buffer;
  size_t begin = 0;      ///< of the first line that was not taken
  size_t searched = 0;   ///< no line ends before
  bool dropping = false; ///< the current line is too long, its start forgotten
  bool ended = false;
};

} // namespace shardopt::blackbox

#endif // SHARDOPT_LIB_SEARCH_BLACKBOX_LINEBUFFER_H
