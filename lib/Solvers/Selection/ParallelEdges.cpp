//===- ParallelEdges.cpp - Edges of the same nodes -----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Selection/Reductions.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::solve;

/// Adds the table of `from` to that of `to`, an edge of the same nodes.
static void addTable(const Graph &graph, const GraphEdge &from, GraphEdge &to) {
  size_t rows = graph.nodes[to.u].size(), columns = graph.nodes[to.v].size();
  for (size_t x = 0; x < rows; ++x)
    for (size_t y = 0; y < columns; ++y) {
      Cost &cost = to.table[x * columns + y];
      cost = addCosts(cost, graph.cost(from, to.u, x, y));
    }
}

size_t solve::mergeParallelEdges(Graph &graph, int32_t node) {
  std::vector<std::pair<int32_t, int32_t>> byNeighbour;
  for (int32_t e : graph.edgesOf(node))
    byNeighbour.emplace_back(graph.edges[e].other(node), e);
  std::sort(byNeighbour.begin(), byNeighbour.end());
  size_t count = 0, first = 0;
  for (size_t i = 1; i < byNeighbour.size(); ++i) {
    if (byNeighbour[i].first != byNeighbour[first].first) {
      first = i;
      continue;
    }
    int32_t e = byNeighbour[i].second;
    addTable(graph, graph.edges[e], graph.edges[byNeighbour[first].second]);
    graph.removeEdge(e);
    ++count;
  }
  return count;
}

size_t solve::mergeParallelEdges(Graph &graph) {
  size_t count = 0;
  for (int32_t node = 0; node < int32_t(graph.nodes.size()); ++node)
    if (graph.nodes[node].isAlive)
      count += mergeParallelEdges(graph, node);
  return count;
}
