//===- JoinedPairs.h - Nodes that share scarce memory -----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SELECTION_JOINEDPAIRS_H
#define SHARDOPT_SOLVERS_SELECTION_JOINEDPAIRS_H

#include "shardopt/Solvers/Selection/Graph.h"

namespace shardopt::solve {

/// How large a graph may become.
struct JoinLimits {
  size_t strategies = 1000;   ///< of a node
  size_t entries = 4'000'000; ///< of all tables
};

/// Joins neighbours that use expensive memory at the same times: a node whose
/// strategies are the pairs that they permit and that fit replaces them, once
/// `reduce` has merged the two into it. A node is in one pair at most. Returns
/// their number.
///
/// A price of memory cannot tell that one of two strategies fits and both do
/// not: it lets a part of each be taken. In a joined node, both are gone.
/// `prices` has one for each time of the graph.
size_t joinPairs(Graph &graph, const std::vector<double> &prices,
                 const JoinLimits &limits = {});

} // namespace shardopt::solve

#endif // SHARDOPT_SOLVERS_SELECTION_JOINEDPAIRS_H
