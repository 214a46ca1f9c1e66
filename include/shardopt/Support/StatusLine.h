//===- StatusLine.h - A line of a terminal, written over --------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SUPPORT_STATUSLINE_H
#define SHARDOPT_SUPPORT_STATUSLINE_H

#include "shardopt/Support/TextSink.h"

#include <string>
#include <utility>

namespace shardopt {

/// A line of a terminal that says how far something is.
class StatusLine {
public:
  explicit StatusLine(TextSink out) : out(std::move(out)) {}

  /// Writes `text` in the place of what the line has.
  void show(const std::string &text) {
    out(clearLine + text);
    isShown = true;
  }
  /// Removes the line.
  void clear() { end(clearLine); }
  /// Leaves the line as it is, and begins the next.
  void keep() { end("\n"); }

private:
  /// Goes to the start of the line and clears it.
  static constexpr const char *clearLine = "\r\x1b[K";

  void end(const char *with) {
    if (isShown)
      out(with);
    isShown = false;
  }

  const TextSink out;
  bool isShown = false;
};

} // namespace shardopt

#endif // SHARDOPT_SUPPORT_STATUSLINE_H
