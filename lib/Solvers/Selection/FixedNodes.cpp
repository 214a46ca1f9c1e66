//===- FixedNodes.cpp - Nodes with a single strategy ---------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Selection/Reductions.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::solve;

size_t solve::removeFixedNodes(Graph &graph) {
  size_t count = 0;
  for (int32_t i = 0; i < int32_t(graph.nodes.size()); ++i) {
    GraphNode &node = graph.nodes[i];
    // Its memory was taken from the slack when its loads were tidied.
    if (!node.isAlive || node.size() != 1 || isForbidden(node.costs[0]))
      continue;
    graph.constant += node.costs[0];
    for (int32_t e : graph.edgesOf(i)) {
      int32_t other = graph.edges[e].other(i);
      std::vector<Cost> &costs = graph.nodes[other].costs;
      for (size_t y = 0; y < costs.size(); ++y)
        costs[y] = addCosts(costs[y], graph.cost(graph.edges[e], i, 0, y));
    }
    graph.removeFree(i, -1, -1, {0});
    ++count;
  }
  return count;
}
