//===- Network.h - A reduced problem, laid out for search -------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SELECTION_NETWORK_H
#define SHARDOPT_SOLVERS_SELECTION_NETWORK_H

#include "shardopt/Solvers/Selection/Graph.h"

namespace shardopt::solve {

/// What remains of a graph, in arrays. Nodes are numbered in the order of the
/// graph. Costs are doubles, exact as long as they stay below 2^53.
class Network {
public:
  explicit Network(const Graph &graph);

  /// An edge of nodes u < v.
  struct Edge {
    int32_t u, v;
    size_t table;      ///< of its costs in `tables`, row-major, v fastest
    size_t transposed; ///< the same with u fastest
  };
  /// An edge, seen from one of its nodes.
  struct Link {
    int32_t other;
    int32_t edge;
  };
  /// What a node uses at the times in [begin, end), for its strategies from
  /// `usage` on in `usages`.
  struct Run {
    int32_t begin, end;
    size_t usage;
  };

  size_t numNodes() const { return sizes.size(); }
  size_t numTimes() const { return slack.size(); }
  size_t numStrategies() const { return unary.size(); }

  /// The costs of an edge, row-major, with the strategies of `node` as rows.
  const double *tableFrom(const Edge &edge, int32_t node) const {
    return tables.data() + (node == edge.u ? edge.table : edge.transposed);
  }
  double cost(const Edge &edge, int32_t u, int32_t v) const {
    return tables[edge.table + size_t(u) * sizes[edge.v] + v];
  }
  Span<const Link> linksOf(int32_t node) const { return links[node]; }
  Span<const Run> runsOf(int32_t node) const { return runs[node]; }

  std::vector<int32_t> sizes;  ///< the number of strategies of each node
  std::vector<size_t> first;   ///< of each node's strategies among all
  std::vector<double> unary;   ///< the cost of each strategy
  std::vector<int32_t> labels; ///< what the graph calls each strategy
  std::vector<Edge> edges;
  std::vector<double> tables;
  Rows<Link> links; ///< of each node, by rising number of the other one
  Rows<Run> runs;   ///< of each node, in order
  std::vector<int64_t> usages;
  /// What may be used at each time, and a scale to compare it with: what the
  /// limit was before anything was decided.
  std::vector<int64_t> slack;
  std::vector<int32_t> times; ///< what the graph calls each time
  double limit = 1;
  double constant = 0;

  /// The nodes of the graph.
  std::vector<int32_t> graphNodes;
};

/// A strategy for each node of a network.
using Assignment = std::vector<int32_t>;

/// The cost of an assignment, without regard to memory.
double computeCost(const Network &network, const Assignment &assignment);

/// What an assignment uses at each time.
std::vector<int64_t> computeUsage(const Network &network,
                                  const Assignment &assignment);

/// Whether no usage exceeds its slack.
bool fits(const Network &network, const std::vector<int64_t> &usage);

/// Those of an assignment of the network as it was, before strategies and nodes
/// of its graph were removed, in the network as it is; nothing where a strategy
/// is gone and nothing replaces it.
std::optional<Assignment> carryOver(const Network &before,
                                    const Assignment &assignment,
                                    const Graph &graph, const Network &network);

/// The solution of a problem that an assignment of its network stands for.
Solution expand(const Graph &graph, const Network &network,
                const Assignment &assignment);

} // namespace shardopt::solve

#endif // SHARDOPT_SOLVERS_SELECTION_NETWORK_H
