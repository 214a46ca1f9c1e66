//===- Nesting.cpp - Depth of brackets in a text --------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Support/Nesting.h"

#include <algorithm>

using namespace shardopt;

/// The end of the string literal that begins at `begin`.
static size_t endOfString(std::string_view text, size_t begin) {
  size_t i = begin + 1;
  while (i < text.size() && text[i] != '"' && text[i] != '\n')
    i += text[i] == '\\' ? 2 : 1;
  return i;
}

static Error tooDeep(const std::string &file, std::string_view text,
                     size_t position, unsigned limit) {
  std::string_view before = text.substr(0, position);
  size_t line = 1 + std::count(before.begin(), before.end(), '\n');
  size_t column = position - (before.rfind('\n') + 1) + 1;
  return Error{file + ":" + std::to_string(line) + ":" +
               std::to_string(column) + ": more than " + std::to_string(limit) +
               " levels of brackets"};
}

std::optional<Error> shardopt::checkNesting(const std::string &file,
                                            std::string_view text,
                                            unsigned limit) {
  constexpr std::string_view bytecodeMagic = "ML\xefR";
  if (text.substr(0, bytecodeMagic.size()) == bytecodeMagic)
    return std::nullopt;
  unsigned depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
    case '"':
      i = endOfString(text, i);
      break;
    case '/':
      if (text.substr(i, 2) == "//")
        i = std::min(text.find('\n', i), text.size());
      break;
    case '(':
    case '[':
    case '{':
    case '<':
      if (++depth > limit)
        return tooDeep(file, text, i, limit);
      break;
    case '>':
      if (i > 0 && (text[i - 1] == '-' || text[i - 1] == '='))
        break; // an arrow
      [[fallthrough]];
    case ')':
    case ']':
    case '}':
      depth -= depth > 0;
      break;
    }
  }
  return std::nullopt;
}
