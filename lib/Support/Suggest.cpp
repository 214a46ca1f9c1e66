//===- Suggest.cpp - Known names, closest first ---------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Support/Suggest.h"

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <tuple>

using namespace shardopt;

/// Levenshtein's distance, by rows of its table: before the row of `a[i]`,
/// `row[j]` is the distance between the first i bytes of `a` and the first j of
/// `b`.
static size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t(0));
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      size_t substituted = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, diagonal + 1, row[j] + 1});
    }
  }
  return row[b.size()];
}

/// `text` in lower case: names are compared without case.
static std::string folded(std::string_view text) {
  std::string lower(text);
  for (char &c : lower)
    if (c >= 'A' && c <= 'Z')
      c += 'a' - 'A';
  return lower;
}

std::vector<std::string>
shardopt::closestFirst(std::string_view given, std::vector<std::string> known) {
  // A name of any length may come from a file; its first bytes tell enough.
  std::string name = folded(given.substr(0, 128));
  // What a known name begins with was most likely cut short.
  auto isCutShort = [&](const std::string &of) {
    return !name.empty() && of.compare(0, name.size(), name) == 0;
  };
  std::vector<std::tuple<bool, size_t, size_t>>
      order; // others, distance, index
  order.reserve(known.size());
  for (size_t i = 0; i < known.size(); ++i)
    order.emplace_back(!isCutShort(folded(known[i])),
                       editDistance(name, folded(known[i])), i);
  std::sort(order.begin(), order.end());
  std::vector<std::string> sorted;
  sorted.reserve(known.size());
  for (auto [isOther, distance, index] : order)
    sorted.push_back(std::move(known[index]));
  return sorted;
}

std::string shardopt::listKnown(std::string_view name,
                                std::vector<std::string> known) {
  constexpr size_t maxListed = 32;
  std::vector<std::string> sorted = closestFirst(name, std::move(known));
  std::string list = "known: ";
  for (size_t i = 0; i < std::min(sorted.size(), maxListed); ++i)
    list += (i ? ", " : "") + sorted[i];
  if (sorted.size() > maxListed)
    list += " and " + std::to_string(sorted.size() - maxListed) + " more";
  return list;
}

std::string shardopt::abbreviate(std::string_view text, size_t limit) {
  std::string_view ellipsis = "…";
  if (text.size() <= limit)
    return std::string(text);
  size_t kept = limit > ellipsis.size() ? limit - ellipsis.size() : 0;
  auto continuesCharacter = [&](size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
  };
  while (kept && continuesCharacter(kept))
    --kept;
  return std::string(text.substr(0, kept)).append(ellipsis);
}

std::string shardopt::formatNumber(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.*g", digits, value);
  return text;
}
