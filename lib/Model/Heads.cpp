//===- Heads.cpp - How heads divide over a TP group -----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/Heads.h"

#include "shardopt/Model/Context.h"

#include <algorithm>
#include <utility>

using namespace shardopt;
using namespace shardopt::cost;

int64_t cost::localHeads(int64_t heads, int64_t tp) {
  return ceilDiv(heads, tp);
}

/// The first and the last kv head that the query heads [first, first + chunk)
/// read.
static std::pair<int64_t, int64_t> kvRange(int64_t heads, int64_t kvHeads,
                                           int64_t first, int64_t chunk) {
  int64_t group = heads / kvHeads;
  return {first / group, (std::min(first + chunk, heads) - 1) / group};
}

/// The most kv heads that any `chunk` query heads read, counted from the first.
static int64_t mostKvHeads(int64_t heads, int64_t kvHeads, int64_t chunk) {
  int64_t group = heads / kvHeads;
  // Ranks start on a group's first head, or end on its last.
  if (chunk % group == 0)
    return std::min(chunk / group, kvHeads);
  if (group % chunk == 0)
    return 1;

  int64_t most = 0;
  for (int64_t first = 0; first < heads; first += chunk) {
    auto [begin, last] = kvRange(heads, kvHeads, first, chunk);
    most = std::max(most, last - begin + 1);
  }
  return most;
}

int64_t cost::localKvHeads(int64_t heads, int64_t kvHeads, int64_t tp) {
  return mostKvHeads(heads, kvHeads, ceilDiv(heads, tp));
}

ContextHeads cost::contextHeads(int64_t heads, int64_t kvHeads, int64_t tp,
                                int64_t cp) {
  int64_t chunk = ceilDiv(heads, tp);
  ContextHeads result;
  result.query = std::min(heads, cp * chunk);
  result.kv = mostKvHeads(heads, kvHeads, cp * chunk);
  result.isSame = true;
  for (int64_t first = 0; first < heads && result.isSame; first += chunk) {
    int64_t groupFirst = first / (cp * chunk) * (cp * chunk);
    result.isSame = kvRange(heads, kvHeads, first, chunk) ==
                    kvRange(heads, kvHeads, groupFirst, cp * chunk);
  }
  return result;
}
