//===- Dominated.cpp - Strategies that another one replaces --------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Selection/Reductions.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::solve;

static bool usesNoMore(const GraphNode &node, size_t a, size_t b) {
  return std::all_of(
      node.loads.begin(), node.loads.end(),
      [&](const Load &load) { return load.usage[a] <= load.usage[b]; });
}

/// Whether `a` may replace `b` wherever `b` is permitted, at no greater cost.
static bool replaces(const Graph &graph, int32_t node, size_t a, size_t b) {
  const GraphNode &own = graph.nodes[node];
  Cost excess = own.costs[a] - own.costs[b];
  if (excess > 0 && own.edges.empty())
    return false;
  for (int32_t e : own.edges) {
    const GraphEdge &edge = graph.edges[e];
    size_t others = graph.nodes[edge.other(node)].size();
    Cost most = -forbidden;
    for (size_t y = 0; y < others; ++y) {
      Cost costB = graph.cost(edge, node, b, y);
      if (isForbidden(costB))
        continue;
      Cost costA = graph.cost(edge, node, a, y);
      if (isForbidden(costA))
        return false;
      most = std::max(most, costA - costB);
    }
    if (most == -forbidden)
      return true; // b is permitted with nothing
    excess += most;
  }
  return excess <= 0;
}

size_t solve::dropDominated(Graph &graph) {
  constexpr size_t mostStrategies = 64; // pairs are compared
  size_t count = 0;
  for (int32_t i = 0; i < int32_t(graph.nodes.size()); ++i) {
    GraphNode &node = graph.nodes[i];
    size_t k = node.size();
    if (!node.isAlive || k < 2 || k > mostStrategies)
      continue;
    graph.edgesOf(i); // forgets removed ones
    std::vector<char> keep(k, 1);
    for (size_t b = 0; b < k; ++b)
      for (size_t a = 0; a < k && keep[b]; ++a)
        if (a != b && keep[a] && !isForbidden(node.costs[a]) &&
            (isForbidden(node.costs[b]) ||
             (usesNoMore(node, a, b) && replaces(graph, i, a, b)))) {
          keep[b] = 0;
          graph.replacements.push_back({i, node.labels[b], node.labels[a]});
        }
    count += graph.keepStrategies(i, keep);
  }
  return count;
}
