//===- TreeReweighted.h - Bounds and solutions from messages ----*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SELECTION_TREEREWEIGHTED_H
#define SHARDOPT_SOLVERS_SELECTION_TREEREWEIGHTED_H

#include "shardopt/Solvers/Selection/Network.h"

namespace shardopt::solve {

/// Sequential tree-reweighted message passing (Kolmogorov, PAMI 28, 2006) over
/// the nodes of a network in their order, with the costs of strategies given by
/// the caller, who may change them between sweeps.
///
/// Messages reparametrise the costs. After a sweep in either direction, each
/// edge, together with the share that its earlier node (in that direction) gave
/// it, has its least at the sum that was normalised away; what nodes keep and
/// those sums bound every assignment from below.
class TreeReweighted {
public:
  explicit TreeReweighted(const Network &network);

  /// Passes messages along the order of the nodes, or against it; returns a
  /// lower bound of the least cost of an assignment, without the constant.
  /// Chooses in passing a strategy for each node, given those chosen before it
  /// and the messages of those after it.
  double sweep(const std::vector<double> &unary, bool forward,
               Assignment &decoded);

  /// What each strategy costs above the best one of its node, with `unary` and
  /// all messages to it.
  std::vector<double> rises(const std::vector<double> &unary) const;

  /// Takes the messages between nodes that `old`, a network of the same graph
  /// before strategies and nodes were removed, has as well.
  void carryOver(const TreeReweighted &before, const Network &old);

  /// The messages to u and to v of each edge.
  std::vector<double> messages;
  size_t messageTo(size_t edge, int32_t node) const {
    return offsets[edge] + (node == network.edges[edge].v
                                ? network.sizes[network.edges[edge].u]
                                : 0);
  }
  /// The share of a node that each edge to its later (earlier) nodes gets.
  const std::vector<double> &shares() const { return gamma; }

private:
  const Network &network;
  std::vector<size_t> offsets; ///< of the message to u; that to v follows
  std::vector<double> gamma;
  std::vector<double> beliefs, outgoing, scores; ///< of one node
};

} // namespace shardopt::solve

#endif // SHARDOPT_SOLVERS_SELECTION_TREEREWEIGHTED_H
