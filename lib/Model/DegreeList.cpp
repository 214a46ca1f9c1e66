//===- DegreeList.cpp - Lists of values as users spell them ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/DegreeList.h"

#include "shardopt/Support/Suggest.h"

#include <algorithm>
#include <charconv>
#include <cmath>

using namespace shardopt;

static std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// Takes what stands before the next `separator` off the front of `text`.
static std::string_view takeItem(std::string_view &text, char separator) {
  size_t end = std::min(text.find(separator), text.size());
  std::string_view item = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return trimmed(item);
}

/// A range has at most so many values.
static constexpr size_t maxRange = 1 << 16;

/// The values of "first:last:step"; none if `text` is no such range.
static std::optional<std::vector<int64_t>> parseRange(Degree degree,
                                                      std::string_view text) {
  std::optional<int64_t> first = parseDegreeValue(degree, takeItem(text, ':'));
  std::optional<int64_t> last = parseDegreeValue(degree, takeItem(text, ':'));
  std::string_view step = trimmed(text);
  if (!first || !last || *first > *last || step.size() < 2 ||
      (step[0] != '*' && step[0] != '+'))
    return std::nullopt;
  bool multiplies = step[0] == '*';
  double by = 0;
  auto [end, error] =
      std::from_chars(step.data() + 1, step.data() + step.size(), by);
  bool isWhole = by == std::floor(by);
  if (error != std::errc() || end != step.data() + step.size() ||
      !std::isfinite(by) || (multiplies ? by <= 1 : by < 1 || !isWhole))
    return std::nullopt;
  std::vector<int64_t> values;
  for (double value = double(*first);
       value <= double(*last) && values.size() < maxRange;) {
    values.push_back(int64_t(value));
    value =
        multiplies ? std::max(std::floor(value * by), value + 1) : value + by;
  }
  return values;
}

ErrorOr<std::optional<std::vector<int64_t>>>
shardopt::parseDegreeList(Degree degree, std::string_view text) {
  using List = std::optional<std::vector<int64_t>>;
  if (text.empty())
    return List();
  std::string_view rest = text;
  std::vector<int64_t> values;
  bool isLast = false;
  while (!isLast) {
    isLast = rest.find(',') == std::string_view::npos;
    std::string_view item = takeItem(rest, ',');
    if (std::optional<int64_t> value = parseDegreeValue(degree, item)) {
      values.push_back(*value);
      continue;
    }
    auto range = infoOf(degree).names ? std::nullopt : parseRange(degree, item);
    if (!range)
      return Error{std::string("'") + spell(degree) + "' is '" +
                   abbreviate(text) + "', expected " +
                   (infoOf(degree).names
                        ? wantedOf(degree) + ", or both joined by a comma"
                        : "positive integers joined by commas, or ranges as "
                          "256:4096:*1.05 and 8:64:+8; each " +
                              wantedOf(degree))};
    values.insert(values.end(), range->begin(), range->end());
  }
  return List(std::move(values));
}
