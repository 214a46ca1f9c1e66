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

size_t solve::mergeParallelEdges(Graph &graph) {
  size_t count = 0;
  std::vector<int32_t> edgeTo(graph.nodes.size(), -1);
  for (int32_t node = 0; node < int32_t(graph.nodes.size()); ++node) {
    if (!graph.nodes[node].isAlive)
      continue;
    std::vector<int32_t> list = graph.edgesOf(node);
    for (int32_t e : list) {
      int32_t &first = edgeTo[graph.edges[e].other(node)];
      if (first < 0) {
        first = e;
        continue;
      }
      addTable(graph, graph.edges[e], graph.edges[first]);
      graph.removeEdge(e);
      ++count;
    }
    for (int32_t e : list)
      edgeTo[graph.edges[e].other(node)] = -1;
  }
  return count;
}
