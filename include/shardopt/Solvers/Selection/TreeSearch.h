//===- TreeSearch.h - Branch and bound --------------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SELECTION_TREESEARCH_H
#define SHARDOPT_SOLVERS_SELECTION_TREESEARCH_H

#include "shardopt/Solvers/Selection/Tightening.h"

#include <functional>
#include <limits>
#include <memory>

namespace shardopt::solve {

/// Depth-first branch and bound: splits the strategies of a node in two,
/// reduces what is left of the graph, memory included, and passes messages on
/// from those of the whole. What cannot be cheaper than the best assignment is
/// given up; once nothing is left, that one is proved. A search that takes long
/// tightens the root first, and then begins again from the result.
///
/// Costs have to be exact in doubles, and those of assignments below 2^53.
class TreeSearch {
public:
  /// Of all assignments of `network`, made of `graph`. Goes on from the prices
  /// and messages of `descent`.
  /// After `patience`, in work, the root is tightened.
  TreeSearch(const Graph &graph, const Network &network, const Descent &descent,
             uint64_t patience = standardPatience);
  /// More than what a tree takes that comes to its end without.
  static constexpr uint64_t standardPatience = 30'000'000;
  static constexpr uint64_t endless = std::numeric_limits<uint64_t>::max();

  /// Looks at one part of the tree. An assignment that is cheaper than `best`
  /// replaces it. To be called with a `best` that is never dearer than before.
  /// Once `isOver` says so, the part is left for later.
  void step(Incumbent &best, const std::function<bool()> &isOver);
  bool isDone() const { return open.empty(); }
  /// Whether the next step is one for the root: not where bounds are close.
  bool isTightening(const Incumbent &best) const;
  /// What assignments that fit cost at least, unless `best` is one of them.
  Int128 bound(const Incumbent &best) const;

  int64_t numParts() const { return parts; }
  /// Table entries visited so far.
  uint64_t work() const { return visited; }

private:
  /// A part of the tree to be looked at: the parent, and the strategies that a
  /// node of it keeps (at the root, none: all are kept).
  struct Branch {
    std::shared_ptr<const PricedGraph> parent;
    int32_t node = -1; ///< of the graph of the parent
    std::vector<char> keep;
    Int128 bound = 0;
  };
  /// How much branching on a node raised bounds, as a part of what was missing.
  struct Gain {
    double sum = 0;
    int64_t count = 0;
  };

  /// Reduces and bounds; nothing where no cheaper assignment is left.
  std::shared_ptr<const PricedGraph>
  explore(const Branch &branch, Incumbent &best, Int128 &bound,
          std::vector<Int128> &bounds, const std::function<bool()> &isOver);
  void offer(const Graph &graph, const Network &network,
             const Assignment &assignment, Incumbent &best) const;
  void split(std::shared_ptr<const PricedGraph> part, Int128 bound,
             const std::vector<Int128> &bounds, Int128 target);

  void tighten(Incumbent &best);

  const Network &network;
  Tightening tightening;
  uint64_t patience;
  size_t rootEntries; ///< of its tables
  std::vector<Branch> open;
  std::vector<Gain> gains;  ///< of the nodes of the root
  bool interrupted = false; ///< the last exploration
  int64_t parts = 0;
  uint64_t visited = 0;
};

} // namespace shardopt::solve

#endif // SHARDOPT_SOLVERS_SELECTION_TREESEARCH_H
