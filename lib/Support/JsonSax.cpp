//===- JsonSax.cpp - Events of JSON text ----------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonSax.h"

using namespace shardopt;
using namespace shardopt::json;

std::string json::quotedText(std::string_view text) {
  return nlohmann::json(text).dump(
      /*indent=*/-1, /*indent_char=*/' ', /*ensure_ascii=*/false,
      nlohmann::json::error_handler_t::replace);
}

/// The end of the line of `text` up to and with the byte at `offset`.
static std::string near(std::string_view text, size_t offset) {
  constexpr size_t shown = 24;
  std::string_view before = text.substr(0, offset + 1);
  before.remove_prefix(before.rfind('\n', offset ? offset - 1 : 0) + 1);
  if (before.size() > shown)
    before.remove_prefix(before.size() - shown);
  return quotedText(before);
}

/// The messages have the forms
///   [json.exception.parse_error.101] parse error at line 1, column 9: syntax
///   error while parsing value - invalid literal; last read: 'sixty'; expected
///   string literal
///   [json.exception.out_of_range.406] number overflow parsing '1e999'
/// whose place is known better, and the text "last read" may be of any
/// length and start before its token.
std::string json::describeSyntaxError(const nlohmann::json::exception &error,
                                      std::string_view text, size_t offset) {
  std::string_view syntax = "syntax error ", read = "; last read: '",
                   expected = "'; expected ";
  std::string_view what = error.what();
  size_t start = what.find(syntax);
  if (start == std::string_view::npos)
    return "number beyond the range of double near " + near(text, offset);
  what.remove_prefix(start);
  size_t cut = what.find(read);
  if (cut == std::string_view::npos)
    return std::string(what);
  std::string message(what.substr(0, cut));
  message += " near " + near(text, offset);
  if (size_t tail = what.rfind(expected); tail > cut && tail != what.npos)
    message += what.substr(tail + 1);
  return message;
}
