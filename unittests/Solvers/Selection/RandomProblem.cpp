//===- RandomProblem.cpp - Small problems and their optima ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomProblem.h"

#include "shardopt/Solvers/Selection/Reductions.h"

#include "shardopt/Support/Rng.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::solve;

static void addNode(Problem &problem, Rng &rng,
                    const RandomProblemOptions &options) {
  constexpr uint64_t times = 8, mostCost = 30, mostUsage = 10;
  int64_t begin = int64_t(rng.below(times)), end = int64_t(rng.below(times));
  bool isFree = rng.below(100) < uint64_t(options.freePercent);
  problem.intervals.push_back(
      {std::min(begin, end),
       isFree ? std::min(begin, end) : std::max(begin, end)});
  uint64_t k = 1 + rng.below(uint64_t(options.mostStrategies));
  for (uint64_t s = 0; s < k; ++s) {
    problem.costs.values.push_back(int64_t(rng.below(mostCost)));
    problem.usages.values.push_back(int64_t(rng.below(mostUsage)));
  }
  problem.costs.endRow();
  problem.usages.endRow();
}

static void addEdge(Problem &problem, Rng &rng,
                    const RandomProblemOptions &options) {
  constexpr uint64_t mostCost = 20;
  uint64_t width = std::min<uint64_t>(2, uint64_t(options.widestEdge));
  if (options.widestEdge > 2)
    width = rng.below(uint64_t(options.widestEdge) + 1);
  size_t count = 1;
  std::vector<size_t> sizes;
  for (uint64_t j = 0; j < width; ++j) {
    int32_t node = int32_t(rng.below(problem.numNodes()));
    problem.edgeNodes.values.push_back(node);
    sizes.push_back(problem.numStrategies(node));
    count *= sizes.back();
  }
  problem.edgeNodes.endRow();
  bool isEquality =
      width == 2 && rng.below(100) < uint64_t(options.equalityPercent);
  for (size_t i = 0; i < count; ++i) {
    int64_t cost = int64_t(rng.below(mostCost));
    if (rng.below(100) < uint64_t(options.forbiddenPercent))
      cost = infiniteCost;
    if (isEquality)
      cost = i / sizes[1] == i % sizes[1] ? 0 : infiniteCost;
    problem.edgeCosts.values.push_back(cost);
  }
  problem.edgeCosts.endRow();
}

Problem solve::makeRandomProblem(uint64_t seed,
                                 const RandomProblemOptions &options) {
  Rng rng(seed);
  Problem problem;
  for (int i = 0; i < options.nodes; ++i)
    addNode(problem, rng, options);
  for (int e = 0; e < options.edges; ++e)
    addEdge(problem, rng, options);
  Solution largest(problem.numNodes());
  for (size_t i = 0; i < largest.size(); ++i)
    for (size_t s = 0; s < problem.numStrategies(i); ++s)
      if (problem.usages[i][s] > problem.usages[i][largest[i]])
        largest[i] = int32_t(s);
  double least = double(verify(problem, smallestUsage(problem))->peak);
  double most = double(verify(problem, largest)->peak);
  problem.usageLimit = int64_t(least + options.tightness * (most - least));
  return problem;
}

/// Calls `visit` with every combination of digits below `sizes`.
template <typename Visit>
static void enumerate(const std::vector<size_t> &sizes, Visit visit) {
  if (std::count(sizes.begin(), sizes.end(), 0))
    return;
  std::vector<int32_t> digits(sizes.size(), 0);
  while (true) {
    visit(digits);
    size_t d = 0;
    while (d < digits.size() && size_t(++digits[d]) == sizes[d])
      digits[d++] = 0;
    if (d == digits.size())
      return;
  }
}

static void noteSolution(const Problem &problem, const Solution &solution,
                         std::optional<Int128> &best) {
  ErrorOr<Verdict> verdict = verify(problem, solution);
  if (verdict && verdict->feasible && (!best || verdict->cost < *best))
    best = verdict->cost;
}

std::optional<Int128> solve::findOptimum(const Problem &problem) {
  std::vector<size_t> sizes;
  for (size_t i = 0; i < problem.numNodes(); ++i)
    sizes.push_back(problem.numStrategies(i));
  std::optional<Int128> best;
  enumerate(sizes, [&](const Solution &solution) {
    noteSolution(problem, solution, best);
  });
  return best;
}

std::optional<Int128> solve::findOptimum(const Problem &problem,
                                         const Graph &graph) {
  std::vector<size_t> sizes;
  for (const GraphNode &node : graph.nodes)
    sizes.push_back(node.isAlive ? node.size() : 1);
  std::optional<Int128> best;
  enumerate(sizes, [&](const std::vector<int32_t> &strategies) {
    // Of solutions, forbidden ones are not in the graph.
    Cost cost = graph.constant;
    for (size_t i = 0; i < graph.nodes.size(); ++i)
      if (graph.nodes[i].isAlive)
        cost = addCosts(cost, graph.nodes[i].costs[strategies[i]]);
    for (const GraphEdge &edge : graph.edges)
      if (edge.isAlive)
        cost = addCosts(cost, graph.cost(edge, edge.u, strategies[edge.u],
                                         strategies[edge.v]));
    if (!isForbidden(cost))
      noteSolution(problem, graph.expand(strategies), best);
  });
  return best;
}

Graph solve::makeTidyGraph(const Problem &problem) {
  Graph graph(problem, chooseScaling(problem, /*pays=*/false));
  mergeParallelEdges(graph);
  dropUnsupported(graph);
  return graph;
}
