//===- ImpliedNodes.cpp - Nodes that follow a neighbour ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Selection/Reductions.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::solve;

/// The strategy of the other node that `edge` permits for each of `node`; none
/// where it permits several.
static std::vector<int32_t> findImplied(const Graph &graph,
                                        const GraphEdge &edge, int32_t node) {
  size_t others = graph.nodes[edge.other(node)].size();
  std::vector<int32_t> implied;
  for (size_t x = 0; x < graph.nodes[node].size(); ++x) {
    int32_t only = -1;
    for (size_t y = 0; y < others; ++y) {
      if (isForbidden(graph.cost(edge, node, x, y)))
        continue;
      if (only >= 0)
        return {};
      only = int32_t(y);
    }
    if (only < 0)
      return {}; // unsupported, which is for another reduction
    implied.push_back(only);
  }
  return implied;
}

/// Whether tables over the leader in place of the follower stay small.
static bool staysSmall(Graph &graph, int32_t leader, int32_t follower) {
  size_t k = graph.nodes[leader].size();
  if (k <= graph.nodes[follower].size())
    return true;
  for (int32_t e : graph.edgesOf(follower)) {
    int32_t other = graph.edges[e].other(follower);
    if (other != leader && k * graph.nodes[other].size() > mostEntriesOfMerged)
      return false;
  }
  return true;
}

static void mergeInto(Graph &graph, int32_t leader, int32_t follower,
                      int32_t link, const std::vector<int32_t> &implied) {
  size_t k = implied.size();
  for (size_t x = 0; x < k; ++x) {
    Cost &cost = graph.nodes[leader].costs[x];
    cost = addCosts(cost, graph.nodes[follower].costs[implied[x]]);
    cost = addCosts(cost, graph.cost(graph.edges[link], leader, x, implied[x]));
  }
  for (const Load &load : graph.nodes[follower].loads) {
    Load moved{load.begin, load.end, {}};
    for (int32_t s : implied)
      moved.usage.push_back(load.usage[s]);
    graph.nodes[leader].loads.push_back(std::move(moved));
  }
  std::vector<int32_t> list = graph.edgesOf(follower);
  for (int32_t e : list) {
    if (e == link)
      continue;
    int32_t other = graph.edges[e].other(follower);
    if (other == leader) {
      // A parallel edge charges the leader alone.
      for (size_t x = 0; x < k; ++x) {
        Cost &cost = graph.nodes[leader].costs[x];
        cost =
            addCosts(cost, graph.cost(graph.edges[e], leader, x, implied[x]));
      }
      continue;
    }
    size_t columns = graph.nodes[other].size();
    std::vector<Cost> table(k * columns);
    for (size_t x = 0; x < k; ++x)
      for (size_t y = 0; y < columns; ++y)
        table[x * columns + y] =
            graph.cost(graph.edges[e], follower, implied[x], y);
    graph.addEdge(leader, other, std::move(table));
  }
  graph.removeFollower(follower, leader, implied);
}

size_t solve::mergeImpliedNodes(Graph &graph) {
  size_t count = 0;
  std::vector<int32_t> changed;
  for (int32_t e = 0; e < int32_t(graph.edges.size()); ++e) {
    if (!graph.edges[e].isAlive)
      continue;
    for (int32_t leader : {graph.edges[e].u, graph.edges[e].v}) {
      int32_t follower = graph.edges[e].other(leader);
      std::vector<int32_t> implied = findImplied(graph, graph.edges[e], leader);
      if (implied.empty() || !staysSmall(graph, leader, follower))
        continue;
      mergeInto(graph, leader, follower, e, implied);
      changed.push_back(leader);
      ++count;
      break;
    }
  }
  // Once each, however many were merged into it.
  std::sort(changed.begin(), changed.end());
  changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
  for (int32_t node : changed)
    if (graph.nodes[node].isAlive)
      graph.tidyLoads(node);
  return count;
}
