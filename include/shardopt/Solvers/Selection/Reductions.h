//===- Reductions.h - Exact reductions of a graph ---------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each makes the graph smaller, keeps a best solution of it, and returns how
// often it applied: 0 means that the graph is as it was.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SELECTION_REDUCTIONS_H
#define SHARDOPT_SOLVERS_SELECTION_REDUCTIONS_H

#include "shardopt/Solvers/Selection/Graph.h"

#include <functional>

namespace shardopt::solve {

/// Sums edges of the same two nodes.
size_t mergeParallelEdges(Graph &graph);
/// Those of one node.
size_t mergeParallelEdges(Graph &graph, int32_t node);

/// Moves from each edge into its nodes what depends on one of them alone, and
/// drops edges that are left at 0.
size_t moveSeparableParts(Graph &graph);

/// Drops strategies that are forbidden, or that an edge permits with no
/// strategy of its other node.
size_t dropUnsupported(Graph &graph);

/// Drops strategies that exceed the limit even where all other nodes use the
/// least that they can.
size_t dropOversized(Graph &graph);

/// Drops the times at which the limit holds whatever is chosen.
size_t dropIdleTimes(Graph &graph);

/// Drops the times at which no more is in use than just before or after, within
/// no smaller limit.
size_t dropCoveredTimes(Graph &graph);

/// Removes nodes with a single strategy.
size_t removeFixedNodes(Graph &graph);

/// The entries of a table that merging nodes may make, unless it was as large
/// before.
constexpr size_t mostEntriesOfMerged = size_t(1) << 16;

/// Merges into its neighbour each node whose strategy the neighbour's implies,
/// because an edge permits nothing else.
size_t mergeImpliedNodes(Graph &graph);

/// Drops strategies to which another one of the node is preferable whatever
/// its neighbours do: it uses no more memory at any time, and is no dearer even
/// where the edges favour it the least (Goldstein, Biophys. J. 66, 1994).
size_t dropDominated(Graph &graph);

/// Removes nodes of no memory and at most two neighbours, by an edge between
/// those of the costs of the best choice.
size_t removeFreeNodes(Graph &graph);

/// A reduction and how often it applied.
struct ReductionCount {
  const char *name;
  size_t count;
};

/// All of them, in turn, until none applies, or `isOver()`, if given.
std::vector<ReductionCount> reduce(Graph &graph,
                                   const std::function<bool()> &isOver = {});

} // namespace shardopt::solve

#endif // SHARDOPT_SOLVERS_SELECTION_REDUCTIONS_H
