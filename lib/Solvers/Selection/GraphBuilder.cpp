//===- GraphBuilder.cpp - From a problem to its graph ---------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompressedTimes.h"
#include "shardopt/Solvers/Selection/Graph.h"

#include <algorithm>
#include <limits>
#include <numeric>

using namespace shardopt;
using namespace shardopt::solve;

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

Int128 solve::sumLargest(const Problem &problem, Int128 limit) {
  Int128 sum = 0;
  for (const Rows<int64_t> *rows : {&problem.costs, &problem.edgeCosts})
    for (size_t row = 0; row < rows->size(); ++row) {
      int64_t largest = 0;
      for (int64_t cost : (*rows)[row])
        if (cost < limit)
          largest = std::max(largest, cost);
      sum += largest;
    }
  return sum;
}

Scaling solve::chooseScaling(const Problem &problem, bool pays) {
  Scaling scaling;
  if (!pays && sumLargest(problem, infiniteCost) < infiniteCost) {
    scaling.forbiddenFrom = infiniteCost;
    return scaling;
  }
  scaling.forbiddenFrom = Int128(1) << 64; // more than any cost
  Int128 sum = sumLargest(problem, scaling.forbiddenFrom);
  while ((sum >> scaling.shift) >= forbidden / 2)
    ++scaling.shift;
  return scaling;
}

Cost solve::scaleCost(int64_t cost, const Scaling &scaling) {
  return cost >= scaling.forbiddenFrom ? forbidden : cost >> scaling.shift;
}

//===----------------------------------------------------------------------===//
// Nodes and edges
//===----------------------------------------------------------------------===//

void Graph::addNodes(const Problem &problem, const Scaling &scaling) {
  CompressedTimes compressed(problem);
  if (problem.usageLimit)
    slack.assign(compressed.size(), *problem.usageLimit);
  times.resize(slack.size());
  std::iota(times.begin(), times.end(), 0);
  nodes.resize(problem.numNodes());
  for (size_t i = 0; i < nodes.size(); ++i) {
    GraphNode &node = nodes[i];
    for (int64_t cost : problem.costs[i]) {
      node.labels.push_back(int32_t(node.labels.size()));
      node.costs.push_back(scaleCost(cost, scaling));
    }
    const Interval &interval = problem.intervals[i];
    if (problem.usageLimit && interval.begin < interval.end) {
      Span<const int64_t> usages = problem.usages[i];
      // More than the limit is as bad as the limit and one.
      Load load{compressed.countBefore(interval.begin),
                compressed.countBefore(interval.end),
                {}};
      std::vector<char> keep;
      for (int64_t usage : usages) {
        keep.push_back(usage <= *problem.usageLimit);
        load.usage.push_back(std::min(usage, *problem.usageLimit));
      }
      node.loads.push_back(std::move(load));
      keepStrategies(int32_t(i), keep);
      tidyLoads(int32_t(i));
    }
  }
}

void Graph::addTable(Span<const int32_t> members, Span<const int64_t> costs,
                     const Scaling &scaling) {
  // Combinations of strategies, of each node once.
  std::vector<int32_t> distinct(members.begin(), members.end());
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  std::vector<size_t> strides(distinct.size(), 0);
  for (size_t j = members.size(), stride = 1; j-- > 0;) {
    size_t d = std::lower_bound(distinct.begin(), distinct.end(), members[j]) -
               distinct.begin();
    strides[d] += stride;
    stride *= originalSizes[members[j]];
  }
  size_t count = 1;
  for (int32_t node : distinct)
    count *= nodes[node].size();

  std::vector<Cost> table;
  table.reserve(count);
  std::vector<size_t> digits(distinct.size(), 0);
  for (size_t i = 0; i < count; ++i) {
    size_t index = 0;
    for (size_t d = 0; d < distinct.size(); ++d)
      index += strides[d] * nodes[distinct[d]].labels[digits[d]];
    table.push_back(scaleCost(costs[index], scaling));
    for (size_t d = distinct.size(); d-- > 0;) {
      if (++digits[d] < nodes[distinct[d]].size())
        break;
      digits[d] = 0;
    }
  }

  if (count == 0)
    return; // a node has no strategy that fits
  if (distinct.empty()) {
    if (isForbidden(table[0]))
      isInfeasible = true;
    else
      constant += table[0];
    return;
  }
  if (distinct.size() == 1) {
    for (size_t s = 0; s < count; ++s)
      nodes[distinct[0]].costs[s] =
          addCosts(nodes[distinct[0]].costs[s], table[s]);
    return;
  }
  if (distinct.size() == 2)
    return addEdge(distinct[0], distinct[1], std::move(table));

  // A node whose strategies are the combinations, and which its members follow.
  std::vector<size_t> all(count);
  std::iota(all.begin(), all.end(), 0);
  addCombinations(distinct, all, std::move(table));
}

Graph::Graph(const Problem &problem, const Scaling &scaling)
    : limit(problem.usageLimit.value_or(0)),
      numProblemNodes(problem.numNodes()) {
  for (size_t i = 0; i < problem.numNodes(); ++i)
    originalSizes.push_back(problem.numStrategies(i));
  addNodes(problem, scaling);
  for (size_t e = 0; e < problem.numEdges(); ++e)
    addTable(problem.edgeNodes[e], problem.edgeCosts[e], scaling);
}
