//===- Heads.cpp - How heads divide over a TP group -----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Heads.h"

#include "shardopt/Cost/Context.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::cost;

int64_t cost::localHeads(int64_t heads, int64_t tp) {
  return ceilDiv(heads, tp);
}

int64_t cost::localKvHeads(int64_t heads, int64_t kvHeads, int64_t tp) {
  const int64_t chunk = ceilDiv(heads, tp);
  const int64_t group = heads / kvHeads;
  // Ranks start on a group's first head, or end on its last.
  if (chunk % group == 0)
    return std::min(chunk / group, kvHeads);
  if (group % chunk == 0)
    return 1;

  int64_t most = 0;
  for (int64_t first = 0; first < heads; first += chunk) {
    int64_t last = std::min(first + chunk, heads) - 1;
    most = std::max(most, last / group - first / group + 1);
  }
  return most;
}
