//===- SvgText.h - Text of pictures ---------------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_SOLVERS_SCHEDULE_SVGTEXT_H
#define SHARDOPT_LIB_SOLVERS_SCHEDULE_SVGTEXT_H

#include <cstdio>
#include <string>

namespace shardopt::schedule {

inline std::string escape(const std::string &text) {
  std::string result;
  for (char c : text)
    result += c == '<'   ? "&lt;"
              : c == '>' ? "&gt;"
              : c == '&' ? "&amp;"
              : c == '"' ? "&quot;"
                         : std::string(1, c);
  return result;
}

template <typename... Values>
void append(std::string &text, const char *format, Values... values) {
  char buffer[256];
  std::snprintf(buffer, sizeof(buffer), format, values...);
  text += buffer;
}

} // namespace shardopt::schedule

#endif // SHARDOPT_LIB_SOLVERS_SCHEDULE_SVGTEXT_H
