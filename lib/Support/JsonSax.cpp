//===- JsonSax.cpp - Events of JSON text ----------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonSax.h"

#include "shardopt/Support/Suggest.h"

using namespace shardopt;
using namespace shardopt::json;

std::string json::quotedText(std::string_view text) {
  return nlohmann::json(text).dump(
      /*indent=*/-1, /*indent_char=*/' ', /*ensure_ascii=*/false,
      nlohmann::json::error_handler_t::replace);
}

/// The messages have the forms
///   [json.exception.parse_error.101] parse error at line 1, column 9: syntax
///   error while parsing value - invalid literal; last read: 'sixty'
///   [json.exception.out_of_range.406] number overflow parsing '1e999'
/// of which the place is known better and the token may be of any length.
std::string json::describeSyntaxError(const nlohmann::json::exception &error,
                                      const std::string &lastRead) {
  const std::string_view syntax = "syntax error ", token = "; last read: '",
                         expected = "; expected ";
  if (error.id == 406)
    return "number beyond the range of double: " +
           quotedText(abbreviate(lastRead));
  std::string_view what = error.what();
  size_t start = what.find(syntax);
  if (start == std::string_view::npos)
    return std::string(what);
  what.remove_prefix(start);
  size_t cut = what.find(token);
  if (cut == std::string_view::npos)
    return std::string(what);
  std::string message(what.substr(0, cut));
  if (size_t tail = what.rfind(expected); tail != std::string_view::npos)
    if (tail >= cut + token.size() + lastRead.size())
      message += what.substr(tail);
  return message + ", found " + quotedText(abbreviate(lastRead));
}
