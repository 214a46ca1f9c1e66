//===- NonNumbers.cpp - What JSON has no word for -------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Support/NonNumbers.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

using namespace shardopt;

std::string json::nullNonNumbers(std::string_view text) {
  auto isTokenByte = [](unsigned char c) {
    return std::isalnum(c) || c == '+' || c == '-' || c == '.';
  };
  std::string made;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    if (text[i] == '"') {
      while (end < text.size() && text[end] != '"')
        end += text[end] == '\\' ? 2 : 1;
      end = std::min(end + 1, text.size());
    } else if (isTokenByte(text[i])) {
      while (end < text.size() && isTokenByte(text[end]))
        ++end;
    }
    std::string token(text.substr(i, end - i));
    char *rest;
    double number = std::strtod(token.c_str(), &rest);
    bool isNumber = rest != token.c_str() && *rest == '\0';
    made += isNumber && !std::isfinite(number) ? "null" : token;
    i = end;
  }
  return made;
}
