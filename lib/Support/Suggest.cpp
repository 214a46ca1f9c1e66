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
#include <utility>

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

namespace {
struct KnownName {
  std::string name;
  bool isLonger = false; ///< the unknown name, cut short, perhaps
  size_t distance = 0;
};
} // namespace

/// `known` with the distances to `given`, which is folded, closest first.
static std::vector<KnownName> closestFirst(const std::string &given,
                                           std::vector<std::string> known) {
  std::vector<KnownName> names;
  names.reserve(known.size());
  for (std::string &name : known) {
    std::string whole = folded(name);
    bool isLonger =
        !given.empty() && whole.compare(0, given.size(), given) == 0;
    names.push_back({std::move(name), isLonger, editDistance(given, whole)});
  }
  std::stable_sort(names.begin(), names.end(),
                   [](const KnownName &a, const KnownName &b) {
                     return std::pair(!a.isLonger, a.distance) <
                            std::pair(!b.isLonger, b.distance);
                   });
  return names;
}

/// Those of `names`, closest first, that whoever wrote `given` probably meant:
/// the few that begin so, else the closest if a quarter of its letters differs
/// at most.
static std::vector<std::string>
whichAreMeant(const std::string &given, const std::vector<KnownName> &names) {
  constexpr size_t fewestLetters = 3, mostMeant = 3;
  std::vector<std::string> meant;
  for (const KnownName &one : names)
    if (one.isLonger && given.size() >= fewestLetters)
      meant.push_back(one.name);
  if (meant.empty() && !names.empty()) {
    const KnownName &closest = names.front();
    if (4 * closest.distance <= std::max(given.size(), closest.name.size()))
      meant.push_back(closest.name);
  }
  if (meant.size() > mostMeant)
    meant.clear();
  return meant;
}

std::string shardopt::listKnown(std::string_view name,
                                std::vector<std::string> known, size_t most) {
  // A name of any length may come from a file; its first bytes tell enough.
  std::string given = folded(name.substr(0, 128));
  std::vector<KnownName> names = closestFirst(given, std::move(known));
  std::string list = "known: ";
  for (size_t i = 0; i < std::min(names.size(), most); ++i)
    list += (i ? ", " : "") + names[i].name;
  if (names.size() > most)
    list += " and " + std::to_string(names.size() - most) + " more";
  std::vector<std::string> meant = whichAreMeant(given, names);
  for (size_t i = 0; i < meant.size(); ++i)
    list += (i == 0                 ? "; did you mean '"
             : i + 1 < meant.size() ? ", '"
                                    : " or '") +
            meant[i] + "'";
  return meant.empty() ? list : list + "?";
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

std::vector<std::string_view> shardopt::splitAtCommas(std::string_view text) {
  std::vector<std::string_view> parts;
  size_t comma;
  while ((comma = text.find(',')) != std::string_view::npos) {
    parts.push_back(text.substr(0, comma));
    text.remove_prefix(comma + 1);
  }
  parts.push_back(text);
  return parts;
}
