//===- Coarsen.h - Fewer operators for large graphs -------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SCHEDULE_COARSEN_H
#define SHARDOPT_SOLVERS_SCHEDULE_COARSEN_H

#include "shardopt/Solvers/Schedule/Search.h"

#include <functional>

namespace shardopt::schedule {

/// A graph whose operators stand for several.
struct CoarseGraph {
  PlanGraph graph;
  std::vector<int32_t>
      groupOf; ///< of groups of the original: groups of `graph`

  /// The devices of the original groups.
  std::vector<int32_t> undo(const std::vector<int32_t> &devices) const;
};

/// The edges between nodes that stand for others, `of` of each: those between
/// the same two are one, with the sum of their bytes, in the order of their
/// nodes; those inside of one are gone.
std::vector<PlanEdge> contractEdges(const std::vector<PlanEdge> &edges,
                                    const std::function<int32_t(int32_t)> &of);

/// Merges operators along edges until `target` are left, no edge is fit or
/// `budget` (null: none) is over, those with the most bytes first. An edge is
/// fit if it is the only one out of its start or into its end, so that no cycle
/// comes to be; if both occupy the same kind of machine and may stand on the
/// same device; and if what they become is at most a quarter of a device's
/// share of the work. Bytes of activations are left out: only placements are
/// looked for in the coarse graph.
CoarseGraph coarsen(const PlanGraph &graph, int32_t target,
                    const Budget *budget = nullptr);

} // namespace shardopt::schedule

#endif // SHARDOPT_SOLVERS_SCHEDULE_COARSEN_H
