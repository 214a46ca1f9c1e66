//===- Elimination.h - The best assignment of a region ----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SELECTION_ELIMINATION_H
#define SHARDOPT_SOLVERS_SELECTION_ELIMINATION_H

#include "shardopt/Solvers/Selection/Network.h"
#include "shardopt/Support/Span.h"

#include <array>

namespace shardopt::solve {

/// Elements of a table that are `stride` apart.
struct Strided {
  const double *at;
  size_t stride;
};

/// Finds best assignments of few nodes, the others given, by eliminating one
/// after the other (bucket elimination; Dechter, Artificial Intelligence 113,
/// 1999): what a node costs at best becomes a table over its neighbours that
/// are left.
class Elimination {
public:
  explicit Elimination(const Network &network);

  /// The strategies that may be chosen for each node of a region, rising: those
  /// of the i-th one from `first[i]` to `first[i + 1]`.
  struct Domains {
    std::vector<int32_t> strategies;
    std::vector<size_t> first;
  };

  /// Chooses the order for the nodes of `region`, all different. Where even the
  /// smallest of the next tables would have more than `mostEntries`, the node
  /// of most neighbours is left as it is. Nodes choose among `domains`, or, if
  /// there are none, among all of their strategies.
  void plan(const std::vector<int32_t> &region, size_t mostEntries,
            const Domains *domains = nullptr);

  /// The nodes of the region that are not left as they are.
  const std::vector<int32_t> &eliminated() const { return order; }
  /// Entries of all tables of the plan, its work.
  size_t numEntries() const { return entries; }

  /// Writes into `assignment` the strategies of the eliminated nodes that make
  /// `unary` and the edges cost least, given all others. Returns whether there
  /// are any of finite cost; if not, the assignment is as it was.
  bool minimize(const std::vector<double> &unary, Assignment &assignment);

private:
  /// A table over nodes that are given by their places in the order, the
  /// earliest first and slowest.
  struct Factor {
    const double *table;
    Span<const int32_t> scope;
  };
  /// A factor while a node is eliminated: where it stands for the first
  /// strategy of the node, and how far the next one is.
  struct Cursor {
    const double *at;
    size_t ownStride, rowStride; ///< of the node, of the scope's last but one
    bool hasLast;                ///< whether it depends on the scope's last
  };
  void eliminate(int32_t place);
  void placeCursors(int32_t place);
  /// Moves all cursors to the next block, the last two of the scope apart.
  void nextBlock();
  /// Which of its strategies is best for a node, given those of the nodes
  /// after it.
  int32_t choose(int32_t place) const;
  void addBoundary(const std::vector<double> &unary,
                   const Assignment &assignment);
  /// The costs of an edge, strategies of the node at `place` as rows: those of
  /// the network, or what the domains leave of them.
  const double *tableBetween(const Network::Edge &edge, int32_t place,
                             int32_t other);
  /// The strategies among which the node at a place chooses.
  Span<const int32_t> domainOf(int32_t place) const {
    return {choices.data() + firstChoice[place],
            firstChoice[place + 1] - firstChoice[place]};
  }

  const Network &network;
  std::vector<int32_t> order;               ///< nodes
  std::vector<int32_t> choices;             ///< strategies by place
  std::vector<size_t> firstChoice;          ///< of each place
  std::vector<std::vector<int32_t>> scopes; ///< places of neighbours left
  std::vector<int32_t> placeOf;             ///< of nodes of the network, or -1
  size_t entries = 0;

  // Of one minimisation.
  std::vector<std::vector<double>> costs; ///< unary costs by place
  std::vector<std::vector<Factor>> buckets;
  std::vector<std::array<int32_t, 2>> pairs; ///< scopes of edges
  std::vector<double> parts;                 ///< tables of edges, by domains
  std::vector<std::vector<double>> tables;
  std::vector<int32_t> chosen; ///< by place: which of its domain
  // Of one node.
  std::vector<Cursor> cursors;
  std::vector<size_t> sizes, digits, strides; ///< strides by cursor and scope
  std::vector<Strided> scalars, rows;
  double constant = 0;
};

} // namespace shardopt::solve

#endif // SHARDOPT_SOLVERS_SELECTION_ELIMINATION_H
