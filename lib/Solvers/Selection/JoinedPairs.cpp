//===- JoinedPairs.cpp - Nodes that share scarce memory -------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Selection/JoinedPairs.h"

#include "shardopt/Solvers/Selection/Reductions.h"

#include <algorithm>
#include <cmath>
#include <optional>

using namespace shardopt;
using namespace shardopt::solve;

/// Calls `visit` with a load of each of two nodes, and the times of both.
template <typename Visit>
static void forSharedTimes(const GraphNode &a, const GraphNode &b,
                           Visit visit) {
  for (const Load &own : a.loads)
    for (const Load &other : b.loads) {
      int32_t begin = std::max(own.begin, other.begin);
      int32_t end = std::min(own.end, other.end);
      if (begin < end)
        visit(own, other, begin, end);
    }
}

/// What the memory costs that both nodes may use at the same time. `before` has
/// the sum of the prices before each time.
static double sharedPrice(const GraphNode &a, const GraphNode &b,
                          const std::vector<double> &before) {
  double sum = 0;
  forSharedTimes(
      a, b,
      [&](const Load &own, const Load &other, int32_t begin, int32_t end) {
        int64_t most =
            std::min(*std::max_element(own.usage.begin(), own.usage.end()),
                     *std::max_element(other.usage.begin(), other.usage.end()));
        sum += double(most) * (before[end] - before[begin]);
      });
  return sum;
}

/// The pairs of strategies of the nodes of an edge that it permits and that fit
/// where all else uses the least, and what they cost.
static std::vector<size_t> findPairs(const Graph &graph, const GraphEdge &edge,
                                     std::vector<Cost> &costs) {
  const GraphNode &u = graph.nodes[edge.u], &v = graph.nodes[edge.v];
  std::vector<char> fits(edge.table.size(), 1);
  forSharedTimes(
      u, v,
      [&](const Load &own, const Load &other, int32_t begin, int32_t end) {
        int64_t slack = *std::min_element(graph.slack.begin() + begin,
                                          graph.slack.begin() + end);
        for (size_t x = 0; x < u.size(); ++x)
          for (size_t y = 0; y < v.size(); ++y)
            if (own.usage[x] + other.usage[y] > slack)
              fits[x * v.size() + y] = 0;
      });
  std::vector<size_t> pairs;
  for (size_t i = 0; i < edge.table.size(); ++i)
    if (fits[i] && !isForbidden(edge.table[i])) {
      pairs.push_back(i);
      costs.push_back(edge.table[i]);
    }
  return pairs;
}

/// How many entries tables have more once a node of `count` strategies stands
/// for those of an edge; nothing where one is too large to be made.
static std::optional<double> growth(Graph &graph, int32_t edge, size_t count) {
  double sum = 0;
  for (int32_t node : {graph.edges[edge].u, graph.edges[edge].v})
    for (int32_t e : graph.edgesOf(node)) {
      if (e == edge)
        continue;
      size_t others = graph.nodes[graph.edges[e].other(node)].size();
      if (count * others > mostEntriesOfMerged)
        return std::nullopt;
      sum += double(count * others) - double(graph.edges[e].table.size());
    }
  return sum;
}

namespace {
struct Candidate {
  double worth;
  int32_t edge;
};
} // namespace

/// Edges between nodes that share memory of a price, those first whose memory
/// is the most expensive for the number of their pairs.
static std::vector<Candidate>
findCandidates(const Graph &graph, const std::vector<double> &prices) {
  std::vector<double> before{0.0};
  for (double price : prices)
    before.push_back(before.back() + price);
  std::vector<Candidate> candidates;
  for (int32_t e = 0; e < int32_t(graph.edges.size()); ++e) {
    const GraphEdge &edge = graph.edges[e];
    if (!edge.isAlive)
      continue;
    double price =
        sharedPrice(graph.nodes[edge.u], graph.nodes[edge.v], before);
    if (price > 0)
      candidates.push_back({price / std::sqrt(double(edge.table.size())), e});
  }
  std::stable_sort(
      candidates.begin(), candidates.end(),
      [](const Candidate &a, const Candidate &b) { return a.worth > b.worth; });
  return candidates;
}

size_t solve::joinPairs(Graph &graph, const std::vector<double> &prices,
                        const JoinLimits &limits) {
  double entries = 0;
  for (const GraphEdge &edge : graph.edges)
    entries += edge.isAlive ? double(edge.table.size()) : 0;
  std::vector<char> isJoined(graph.nodes.size(), 0);
  size_t count = 0;
  for (const Candidate &candidate : findCandidates(graph, prices)) {
    GraphEdge &edge = graph.edges[candidate.edge];
    int32_t u = edge.u, v = edge.v;
    if (isJoined[u] || isJoined[v])
      continue;
    std::vector<Cost> costs;
    std::vector<size_t> pairs = findPairs(graph, edge, costs);
    std::optional<double> more = growth(graph, candidate.edge, pairs.size());
    if (pairs.empty()) { // nothing fits
      graph.isInfeasible = true;
      return count;
    }
    if (pairs.size() > limits.strategies || !more ||
        entries + *more > double(limits.entries))
      continue;
    entries += *more;
    isJoined[u] = isJoined[v] = 1;
    graph.removeEdge(candidate.edge);
    graph.addCombinations({u, v}, pairs, std::move(costs));
    ++count;
  }
  return count;
}
