//===- SeparableParts.cpp - What an edge charges one node ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Selection/Reductions.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::solve;

/// Moves the least of each row of an edge, seen from `node`, into the node.
/// Returns whether there was anything to move.
static bool moveLeast(Graph &graph, GraphEdge &edge, int32_t node) {
  size_t own = graph.nodes[node].size();
  size_t columns = graph.nodes[edge.v].size();
  size_t others = edge.table.size() / own;
  size_t ownStride = node == edge.u ? columns : 1;
  size_t otherStride = node == edge.u ? 1 : columns;
  bool moved = false;
  for (size_t x = 0; x < own; ++x) {
    Cost *row = edge.table.data() + x * ownStride;
    Cost least = forbidden;
    for (size_t y = 0; y < others; ++y)
      least = std::min(least, row[y * otherStride]);
    if (least == 0)
      continue;
    moved = true;
    Cost &cost = graph.nodes[node].costs[x];
    cost = addCosts(cost, least);
    for (size_t y = 0; y < others; ++y)
      if (isForbidden(least))
        row[y * otherStride] = 0; // the node forbids it now
      else if (!isForbidden(row[y * otherStride]))
        row[y * otherStride] -= least;
  }
  return moved;
}

size_t solve::moveSeparableParts(Graph &graph) {
  size_t count = 0;
  for (size_t e = 0; e < graph.edges.size(); ++e) {
    GraphEdge &edge = graph.edges[e];
    if (!edge.isAlive || edge.table.empty())
      continue;
    bool moved = moveLeast(graph, edge, edge.u);
    moved |= moveLeast(graph, edge, edge.v);
    bool isZero = std::all_of(edge.table.begin(), edge.table.end(),
                              [](Cost cost) { return cost == 0; });
    if (isZero)
      graph.removeEdge(int32_t(e));
    count += moved || isZero;
  }
  return count;
}
