//===- IdleTimes.cpp - Times at which memory suffices --------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Selection/Reductions.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::solve;

size_t solve::dropIdleTimes(Graph &graph) {
  // What can be in use at most, as changes from one time to the next.
  std::vector<Int128> most(graph.slack.size() + 1, 0);
  for (const GraphNode &node : graph.nodes)
    for (const Load &load : node.loads) {
      int64_t usage = *std::max_element(load.usage.begin(), load.usage.end());
      most[load.begin] += usage;
      most[load.end] -= usage;
    }
  std::vector<char> keep(graph.slack.size());
  Int128 usage = 0;
  for (size_t t = 0; t < graph.slack.size(); ++t) {
    usage += most[t];
    // A slack below 0 is for others to find.
    keep[t] = usage > graph.slack[t] || graph.slack[t] < 0;
  }
  return graph.keepTimes(keep);
}
