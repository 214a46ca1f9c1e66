//===- Graph.h - A problem that is being reduced ----------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SELECTION_GRAPH_H
#define SHARDOPT_SOLVERS_SELECTION_GRAPH_H

#include "shardopt/Solvers/Selection/Verify.h"

namespace shardopt::solve {

/// A cost within a graph. All finite costs of a graph together stay below
/// `forbidden`, so that sums of them are exact.
using Cost = int64_t;
constexpr Cost forbidden = Cost(1) << 61;
constexpr bool isForbidden(Cost cost) { return cost >= forbidden; }
constexpr Cost addCosts(Cost a, Cost b) {
  return isForbidden(a) || isForbidden(b) ? forbidden : a + b;
}

/// Memory of a node at the compressed times in [begin, end), by strategy.
struct Load {
  int32_t begin;
  int32_t end;
  std::vector<int64_t> usage;
};

struct GraphNode {
  std::vector<Cost> costs;
  std::vector<int32_t> labels; ///< what each strategy was called at first
  std::vector<Load> loads;     ///< apart in time, in order
  std::vector<int32_t> edges;  ///< some may have been removed
  bool isAlive = true;

  size_t size() const { return costs.size(); }
};

/// An edge of two different nodes.
struct GraphEdge {
  int32_t u, v;
  std::vector<Cost> table; ///< row-major, v fastest
  bool isAlive = true;

  int32_t other(int32_t node) const { return node == u ? v : u; }
};

/// How costs of a problem become costs of a graph.
struct Scaling {
  /// Costs of at least this much are forbidden.
  Int128 forbiddenFrom = 0;
  /// Costs are divided by 2^shift, and rounded down.
  int shift = 0;
};

/// The sum over nodes and edges of the largest cost below `limit`.
Int128 sumLargest(const Problem &problem, Int128 limit);

/// Costs at which a graph is exact: infinite costs are forbidden where finite
/// ones sum to less than a single infinite one. With `pays`, or where that does
/// not hold, nothing is forbidden, and what would not fit 61 bits is rounded.
Scaling chooseScaling(const Problem &problem, bool pays);

/// The problem in a form that reductions change. Nodes keep their numbers;
/// those that stand for edges of more than two nodes come after them.
///
/// Whatever is done, solutions of the graph, expanded, are solutions of the
/// problem of the same cost, and among them is a best one.
class Graph {
public:
  Graph(const Problem &problem, const Scaling &scaling);

  /// The nodes that are alive, numbered without gaps, as if they were all there
  /// ever was: its solutions give each of them a strategy as it is now.
  Graph compact() const;

  std::vector<GraphNode> nodes;
  std::vector<GraphEdge> edges;
  /// The cost of what is decided, and of nothing that is forbidden.
  Cost constant = 0;
  /// What may be in use at each compressed time on top of what is decided.
  std::vector<int64_t> slack;
  /// Which of the first compressed times each is.
  std::vector<int32_t> times;
  /// The limit of the problem, 0 if it has none.
  int64_t limit = 0;
  /// Known to have no solution.
  bool isInfeasible = false;
  /// Strategies that were dropped because another one, wherever they are taken,
  /// does as well; by their first names, in the order in which they were.
  struct Replacement {
    int32_t node;
    int32_t dropped, by;
  };
  std::vector<Replacement> replacements;

  /// Edges of a node that were not removed, after forgetting those that were.
  const std::vector<int32_t> &edgesOf(int32_t node);
  /// The cost of an edge, given the strategies of `node` and of its other node.
  Cost cost(const GraphEdge &edge, int32_t node, size_t own,
            size_t other) const {
    return node == edge.u ? edge.table[own * nodes[edge.v].size() + other]
                          : edge.table[other * nodes[edge.v].size() + own];
  }

  /// Adds an edge; `table` is row-major, v fastest.
  void addEdge(int32_t u, int32_t v, std::vector<Cost> table);
  void removeEdge(int32_t edge) {
    edges[edge].isAlive = false;
    edges[edge].table = {};
  }
  /// Drops the strategies of a node that are not marked. Returns their number.
  size_t keepStrategies(int32_t node, const std::vector<char> &keep);
  /// Drops the times that are not marked. Returns their number.
  size_t keepTimes(const std::vector<char> &keep);
  /// Makes the loads of a node runs of times, in order, and takes from each
  /// what all strategies use.
  void tidyLoads(int32_t node);

  /// Removes `node`, whose strategy is `choice[s]` wherever that of `leader` is
  /// s. The caller has moved what it costs.
  void removeFollower(int32_t node, int32_t leader,
                      const std::vector<int32_t> &choice);
  /// The same for a node that follows two, or one (`b` is -1), or none; the
  /// choice is row-major, b fastest.
  void removeFree(int32_t node, int32_t a, int32_t b,
                  const std::vector<int32_t> &choice);

  /// Adds a node whose strategies are those of `combinations` of strategies of
  /// `members`, numbered row-major, the last one fastest; the members follow
  /// it.
  int32_t addCombinations(const std::vector<int32_t> &members,
                          const std::vector<size_t> &combinations,
                          std::vector<Cost> costs);

  /// The solution of the problem, given the strategy of each node that is
  /// alive.
  Solution expand(const std::vector<int32_t> &strategies) const;

  size_t countNodes() const;
  size_t countEdges() const;
  size_t countStrategies() const;

private:
  Graph() = default;
  struct Step {
    int32_t node;
    int32_t leaders[2];
    /// Where the first names of the leaders' strategies are in `choice`.
    std::vector<int32_t> positions[2];
    std::vector<int32_t> choice; ///< first names
  };
  void addNodes(const Problem &problem, const Scaling &scaling);
  void addTable(Span<const int32_t> nodes, Span<const int64_t> costs,
                const Scaling &scaling);
  void removeNode(int32_t node);
  std::vector<int32_t> positionsOf(int32_t node) const;

  size_t numProblemNodes = 0;
  std::vector<size_t> originalSizes;
  std::vector<Step> steps;
};

/// A cost as it is in a graph.
Cost scaleCost(int64_t cost, const Scaling &scaling);

} // namespace shardopt::solve

#endif // SHARDOPT_SOLVERS_SELECTION_GRAPH_H
