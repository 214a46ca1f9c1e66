//===- FreeNodes.cpp - Nodes of no memory and few neighbours -------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Selection/Reductions.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::solve;

namespace {
/// The best strategy of a node and its cost, given those of its neighbours.
struct Choice {
  int32_t strategy = 0;
  Cost cost = forbidden;
};
} // namespace

static Choice choose(const Graph &graph, int32_t node,
                     const std::vector<int32_t> &edges, const size_t *others) {
  Choice best;
  for (size_t s = 0; s < graph.nodes[node].size(); ++s) {
    Cost cost = graph.nodes[node].costs[s];
    for (size_t j = 0; j < edges.size(); ++j)
      cost =
          addCosts(cost, graph.cost(graph.edges[edges[j]], node, s, others[j]));
    if (cost < best.cost)
      best = {int32_t(s), cost};
  }
  return best;
}

/// Edges of a node beyond which it is looked at once in a pass alone, so that a
/// pass takes linear time.
static constexpr size_t fewEdges = 64;

/// The edges of a node, those to the same neighbour as one.
static std::vector<int32_t> distinctEdges(Graph &graph, int32_t node) {
  size_t before = graph.edgesOf(node).size();
  if (before > 1 && before <= fewEdges)
    mergeParallelEdges(graph, node);
  return graph.edgesOf(node);
}

/// Removes a node if it is free; `waiting` gets its neighbours.
static bool removeIfFree(Graph &graph, int32_t node,
                         std::vector<int32_t> &waiting) {
  constexpr size_t mostEntries = size_t(1) << 14;
  if (!graph.nodes[node].isAlive || !graph.nodes[node].loads.empty() ||
      graph.nodes[node].size() == 0)
    return false;
  std::vector<int32_t> edges = distinctEdges(graph, node);
  if (edges.size() > 2)
    return false;
  int32_t neighbours[2] = {-1, -1};
  size_t sizes[2] = {1, 1};
  for (size_t j = 0; j < edges.size(); ++j) {
    neighbours[j] = graph.edges[edges[j]].other(node);
    sizes[j] = graph.nodes[neighbours[j]].size();
  }
  if (edges.size() == 2 &&
      (neighbours[0] == neighbours[1] || sizes[0] * sizes[1] > mostEntries))
    return false;

  std::vector<int32_t> choice;
  std::vector<Cost> table;
  for (size_t x = 0; x < sizes[0]; ++x)
    for (size_t y = 0; y < sizes[1]; ++y) {
      size_t others[2] = {x, y};
      Choice best = choose(graph, node, edges, others);
      choice.push_back(best.strategy);
      table.push_back(best.cost);
    }
  graph.removeFree(node, neighbours[0], neighbours[1], choice);
  if (edges.size() == 2) {
    graph.addEdge(neighbours[0], neighbours[1], std::move(table));
  } else if (edges.size() == 1) {
    std::vector<Cost> &costs = graph.nodes[neighbours[0]].costs;
    for (size_t x = 0; x < costs.size(); ++x)
      costs[x] = addCosts(costs[x], table[x]);
  } else if (isForbidden(table[0])) {
    graph.isInfeasible = true;
  } else {
    graph.constant += table[0];
  }
  for (size_t j = 0; j < edges.size(); ++j)
    if (graph.nodes[neighbours[j]].edges.size() <= fewEdges)
      waiting.push_back(neighbours[j]);
  return true;
}

size_t solve::removeFreeNodes(Graph &graph) {
  size_t count = 0;
  std::vector<int32_t> waiting;
  for (int32_t i = 0; i < int32_t(graph.nodes.size()); ++i) {
    waiting.push_back(i);
    // A neighbour may have become free, which makes its neighbours so in turn.
    while (!waiting.empty()) {
      int32_t node = waiting.back();
      waiting.pop_back();
      count += removeIfFree(graph, node, waiting);
    }
  }
  return count;
}
