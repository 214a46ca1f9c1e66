//===- Network.cpp - A reduced problem, laid out for search ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Selection/Network.h"

#include <algorithm>
#include <limits>

using namespace shardopt;
using namespace shardopt::solve;

static double toDouble(Cost cost) {
  return isForbidden(cost) ? std::numeric_limits<double>::infinity()
                           : double(cost);
}

Network::Network(const Graph &graph)
    : slack(graph.slack), times(graph.times), constant(double(graph.constant)) {
  limit = std::max<double>(1, double(graph.limit));
  std::vector<int32_t> numbers(graph.nodes.size(), -1);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode &node = graph.nodes[i];
    if (!node.isAlive)
      continue;
    numbers[i] = int32_t(sizes.size());
    graphNodes.push_back(int32_t(i));
    sizes.push_back(int32_t(node.size()));
    first.push_back(unary.size());
    for (Cost cost : node.costs)
      unary.push_back(toDouble(cost));
    labels.insert(labels.end(), node.labels.begin(), node.labels.end());
    for (const Load &load : node.loads) {
      runs.values.push_back({load.begin, load.end, usages.size()});
      usages.insert(usages.end(), load.usage.begin(), load.usage.end());
    }
    runs.endRow();
  }

  std::vector<std::vector<Link>> linksByNode(sizes.size());
  // Tables are most of what there is: no room for more of them.
  size_t numEntries = 0;
  for (const GraphEdge &edge : graph.edges)
    numEntries += edge.isAlive ? 2 * edge.table.size() : 0;
  tables.reserve(numEntries);
  for (const GraphEdge &edge : graph.edges) {
    if (!edge.isAlive)
      continue;
    bool isSwapped = edge.u > edge.v;
    size_t rows = graph.nodes[edge.u].size(),
           columns = graph.nodes[edge.v].size();
    size_t straight = tables.size(), swapped = straight + rows * columns;
    for (Cost cost : edge.table)
      tables.push_back(toDouble(cost));
    for (size_t y = 0; y < columns; ++y)
      for (size_t x = 0; x < rows; ++x)
        tables.push_back(toDouble(edge.table[x * columns + y]));
    Edge added{numbers[edge.u], numbers[edge.v], straight, swapped};
    if (isSwapped) {
      std::swap(added.u, added.v);
      std::swap(added.table, added.transposed);
    }
    linksByNode[added.u].push_back({added.v, int32_t(edges.size())});
    linksByNode[added.v].push_back({added.u, int32_t(edges.size())});
    edges.push_back(added);
  }
  for (std::vector<Link> &list : linksByNode) {
    std::sort(list.begin(), list.end(),
              [](const Link &a, const Link &b) { return a.other < b.other; });
    links.values.insert(links.values.end(), list.begin(), list.end());
    links.endRow();
  }
}

double solve::computeCost(const Network &network,
                          const Assignment &assignment) {
  double cost = network.constant;
  for (size_t i = 0; i < network.numNodes(); ++i)
    cost += network.unary[network.first[i] + assignment[i]];
  for (const Network::Edge &edge : network.edges)
    cost += network.cost(edge, assignment[edge.u], assignment[edge.v]);
  return cost;
}

std::vector<int64_t> solve::computeUsage(const Network &network,
                                         const Assignment &assignment) {
  std::vector<int64_t> changes(network.numTimes() + 1, 0);
  for (size_t i = 0; i < network.numNodes(); ++i)
    for (const Network::Run &run : network.runsOf(int32_t(i))) {
      int64_t usage = network.usages[run.usage + assignment[i]];
      changes[run.begin] += usage;
      changes[run.end] -= usage;
    }
  for (size_t t = 1; t < changes.size(); ++t)
    changes[t] += changes[t - 1];
  changes.pop_back();
  return changes;
}

bool solve::fits(const Network &network, const std::vector<int64_t> &usage) {
  for (size_t t = 0; t < usage.size(); ++t)
    if (usage[t] > network.slack[t])
      return false;
  return true;
}

std::optional<Assignment> solve::carryOver(const Network &before,
                                           const Assignment &assignment,
                                           const Graph &graph,
                                           const Network &network) {
  std::vector<int32_t> labels(graph.nodes.size(), -1);
  for (size_t i = 0; i < before.numNodes(); ++i)
    labels[before.graphNodes[i]] =
        before.labels[before.first[i] + assignment[i]];
  for (const Graph::Replacement &replacement : graph.replacements)
    if (labels[replacement.node] == replacement.dropped)
      labels[replacement.node] = replacement.by;
  Assignment result;
  for (size_t i = 0; i < network.numNodes(); ++i) {
    auto begin = network.labels.begin() + network.first[i];
    auto end = begin + network.sizes[i];
    auto place = std::find(begin, end, labels[network.graphNodes[i]]);
    if (place == end)
      return std::nullopt;
    result.push_back(int32_t(place - begin));
  }
  return result;
}

Solution solve::expand(const Graph &graph, const Network &network,
                       const Assignment &assignment) {
  std::vector<int32_t> strategies(graph.nodes.size(), 0);
  for (size_t i = 0; i < network.numNodes(); ++i)
    strategies[network.graphNodes[i]] = assignment[i];
  return graph.expand(strategies);
}
