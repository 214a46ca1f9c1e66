//===- Elimination.h - The best assignment of a region ----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVE_ELIMINATION_H
#define SHARDOPT_SOLVE_ELIMINATION_H

#include "shardopt/Solve/Network.h"

namespace shardopt::solve {

/// Finds best assignments of few nodes, the others given, by eliminating one
/// after the other (bucket elimination; Dechter, Artificial Intelligence 113,
/// 1999): what a node costs at best becomes a table over its neighbours that
/// are left.
class Elimination {
public:
  explicit Elimination(const Network &network);

  /// Chooses the order for the nodes of `region`, all different. Where even the
  /// smallest of the next tables would have more than `mostEntries`, the node
  /// of most neighbours is left as it is.
  void plan(const std::vector<int32_t> &region, size_t mostEntries);

  /// The nodes of the region that are not left as they are.
  const std::vector<int32_t> &eliminated() const { return order; }
  /// Entries of all tables of the plan, its work.
  size_t numEntries() const { return entries; }

  /// Writes into `assignment` the strategies of the eliminated nodes for which
  /// `unary` and the edges cost least, given all others. Returns whether there
  /// are any of finite cost; if not, the assignment is as it was.
  bool minimize(const std::vector<double> &unary, Assignment &assignment);

private:
  /// A table over nodes that are given by their places in the order, the
  /// earliest first and slowest.
  struct Factor {
    const double *table;
    std::vector<int32_t> scope;
  };
  void eliminate(int32_t place);
  /// The best strategy of a node, given those of the nodes after it.
  int32_t choose(int32_t place, const Assignment &assignment) const;
  void addBoundary(const std::vector<double> &unary,
                   const Assignment &assignment);

  const Network &network;
  std::vector<int32_t> order;               ///< nodes
  std::vector<std::vector<int32_t>> scopes; ///< places of neighbours left
  std::vector<int32_t> placeOf;             ///< of nodes of the network, or -1
  size_t entries = 0;

  // Of one minimisation.
  std::vector<std::vector<double>> costs; ///< unary costs by place
  std::vector<std::vector<Factor>> buckets;
  std::vector<std::vector<double>> tables;
  double constant = 0;
};

} // namespace shardopt::solve

#endif // SHARDOPT_SOLVE_ELIMINATION_H
