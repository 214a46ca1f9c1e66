//===- CsvLines.cpp - Tables as comma-separated text ----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Calibrated/CsvLines.h"

#include <cstdio>
#include <cstdlib>

using namespace shardopt;
using namespace shardopt::cost;

/// The next line of `text`, without its end, which is taken off.
static std::string_view takeLine(std::string_view &text) {
  size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (!line.empty() && line.back() == '\r')
    line.remove_suffix(1);
  return line;
}

/// A field in quotes may have commas; without them where it has no quotes of
/// its own.
static CsvFields fieldsOf(std::string_view line) {
  CsvFields fields;
  for (;;) {
    bool isQuoted = !line.empty() && line.front() == '"';
    size_t close = 0; // what ends the quotes; two stand for one
    if (isQuoted)
      for (close = line.find('"', 1); close != std::string_view::npos &&
                                      line.substr(close + 1, 1) == "\"";)
        close = line.find('"', close + 2);
    size_t end =
        close == std::string_view::npos ? close : line.find(',', close);
    std::string_view field = line.substr(0, end);
    if (isQuoted && field.size() > 1 && field.back() == '"')
      field = field.substr(1, field.size() - 2);
    fields.push_back(field);
    if (end == std::string_view::npos)
      return fields;
    line.remove_prefix(end + 1);
  }
}

std::string cost::threeDigits(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.3g", value);
  if (value < 100)
    return text;
  // And without an exponent.
  std::snprintf(text, sizeof(text), "%.0f", std::strtod(text, nullptr));
  return text;
}

std::string cost::inField(std::string text) {
  for (char &c : text)
    if (c == ',' || c == '\n' || c == '"')
      c = ';';
  return text;
}

ErrorOr<std::string> cost::answerRows(
    std::string_view text, const std::string &fileName,
    const std::vector<std::string> &needed, const std::string &neededBy,
    const std::string &added,
    const std::function<std::string(const CsvColumns &, const CsvFields &)>
        &answer) {
  std::string_view header = takeLine(text);
  CsvColumns columns;
  for (std::string_view name : fieldsOf(header))
    columns.emplace(name, columns.size());
  for (const std::string &name : needed)
    if (!columns.count(name))
      return Error{fileName + ":1: no column '" + name + "', which " +
                   neededBy + " needs"};
  std::string out(header);
  out += added + "\n";
  for (size_t number = 2; !text.empty(); ++number) {
    std::string_view line = takeLine(text);
    if (line.empty())
      continue;
    CsvFields fields = fieldsOf(line);
    if (fields.size() != columns.size())
      return Error{fileName + ":" + std::to_string(number) + ": " +
                   std::to_string(fields.size()) + " fields, expected the " +
                   std::to_string(columns.size()) + " of line 1"};
    out += line;
    out += answer(columns, fields) + "\n";
  }
  return out;
}
