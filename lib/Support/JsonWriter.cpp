//===- JsonWriter.cpp - Writing JSON --------------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "JsonSax.h"
#include "shardopt/Support/Json.h"

#include <charconv>
#include <cmath>

using namespace shardopt;
using namespace shardopt::json;

void Writer::breakLine() {
  size_t blocks = 0;
  for (const Level &level : levels)
    blocks += level.block;
  out += '\n';
  out.append(2 * blocks, ' ');
}

void Writer::separate() {
  if (afterKey) {
    afterKey = false;
    return;
  }
  if (levels.empty())
    return;
  Level &level = levels.back();
  if (!level.empty)
    out += ',';
  if (level.block)
    breakLine();
  else if (!level.empty)
    out += ' ';
  level.empty = false;
}

void Writer::begin(char bracket, Style style) {
  separate();
  out += bracket;
  bool enclosedByLine = !levels.empty() && !levels.back().block;
  Level level;
  level.block = style == Style::Block && !enclosedByLine;
  levels.push_back(level);
}

void Writer::end(char bracket) {
  assert(!levels.empty() && !afterKey && "end without begin, or after a key");
  Level level = levels.back();
  levels.pop_back();
  if (level.block && !level.empty)
    breakLine();
  out += bracket;
}

Writer &Writer::beginObject(Style style) {
  begin('{', style);
  return *this;
}

Writer &Writer::endObject() {
  end('}');
  return *this;
}

Writer &Writer::beginArray(Style style) {
  begin('[', style);
  return *this;
}

Writer &Writer::endArray() {
  end(']');
  return *this;
}

/// Whether `text` stands between quotes as it is.
static bool isPlain(std::string_view text) {
  for (unsigned char c : text)
    if (c < 0x20 || c >= 0x80 || c == '"' || c == '\\')
      return false;
  return true;
}

void Writer::quote(std::string_view text) {
  if (!isPlain(text)) {
    out += quotedText(text);
    return;
  }
  out += '"';
  out += text;
  out += '"';
}

Writer &Writer::key(std::string_view name) {
  assert(!levels.empty() && !afterKey && "a key stands within an object");
  separate();
  quote(name);
  out += ": ";
  afterKey = true;
  return *this;
}

Writer &Writer::value(std::string_view text) {
  separate();
  quote(text);
  return *this;
}

/// The longest double is -2.2250738585072014e-308, the longest integer has 20
/// characters.
static constexpr size_t maxNumberLength = 24;

template <typename T> static void appendNumber(std::string &out, T number) {
  char digits[maxNumberLength];
  std::to_chars_result end =
      std::to_chars(digits, digits + maxNumberLength, number);
  assert(end.ec == std::errc() && "number of more characters than any");
  out.append(digits, end.ptr);
}

Writer &Writer::value(double number) {
  if (!std::isfinite(number))
    return null();
  separate();
  appendNumber(out, number);
  return *this;
}

Writer &Writer::value(int64_t number) {
  separate();
  appendNumber(out, number);
  return *this;
}

Writer &Writer::value(uint64_t number) {
  separate();
  appendNumber(out, number);
  return *this;
}

Writer &Writer::value(bool truth) {
  separate();
  out += truth ? "true" : "false";
  return *this;
}

Writer &Writer::null() {
  separate();
  out += "null";
  return *this;
}
