//===- Unsupported.cpp - Strategies that edges forbid --------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Selection/Reductions.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::solve;

/// Forbids what `edge` permits with nothing. Returns whether anything was new.
static bool forbidUnsupported(Graph &graph, const GraphEdge &edge,
                              int32_t node) {
  bool changed = false;
  GraphNode &own = graph.nodes[node];
  const GraphNode &other = graph.nodes[edge.other(node)];
  for (size_t x = 0; x < own.size(); ++x) {
    if (isForbidden(own.costs[x]))
      continue;
    bool supported = false;
    for (size_t y = 0; y < other.size() && !supported; ++y)
      supported = !isForbidden(other.costs[y]) &&
                  !isForbidden(graph.cost(edge, node, x, y));
    if (supported)
      continue;
    own.costs[x] = forbidden;
    changed = true;
  }
  return changed;
}

size_t solve::dropUnsupported(Graph &graph) {
  // Nodes that lost a strategy since their neighbours looked.
  std::vector<int32_t> queue;
  std::vector<char> isQueued(graph.nodes.size(), 1);
  for (int32_t i = int32_t(graph.nodes.size()); i-- > 0;)
    queue.push_back(i);
  while (!queue.empty()) {
    int32_t node = queue.back();
    queue.pop_back();
    isQueued[node] = 0;
    if (!graph.nodes[node].isAlive)
      continue;
    for (int32_t e : graph.edgesOf(node)) {
      int32_t other = graph.edges[e].other(node);
      if (forbidUnsupported(graph, graph.edges[e], other) && !isQueued[other]) {
        isQueued[other] = 1;
        queue.push_back(other);
      }
    }
  }
  size_t count = 0;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    std::vector<char> keep;
    for (Cost cost : graph.nodes[i].costs)
      keep.push_back(!isForbidden(cost));
    count += graph.keepStrategies(int32_t(i), keep);
  }
  return count;
}
