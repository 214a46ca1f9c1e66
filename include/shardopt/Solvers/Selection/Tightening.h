//===- Tightening.h - A bound from joined nodes -----------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SELECTION_TIGHTENING_H
#define SHARDOPT_SOLVERS_SELECTION_TIGHTENING_H

#include "shardopt/Solvers/Selection/CertifiedBound.h"
#include "shardopt/Solvers/Selection/Descent.h"

#include <memory>

namespace shardopt::solve {

/// A graph with its network and what is known of its messages and prices.
struct PricedGraph {
  explicit PricedGraph(Graph whole)
      : graph(std::move(whole)), network(graph), descent(network) {}
  /// Of the same nodes, edges and times as the network of `before` has.
  PricedGraph(Graph same, const Descent &before)
      : graph(std::move(same)), network(graph),
        descent(network, before, network) {}
  /// Goes on from another one, whose graph was reduced.
  PricedGraph(Graph reduced, const Descent &before, const Network &old)
      : graph(std::move(reduced)), network(graph),
        descent(network, before, old) {}

  Graph graph;
  Network network;
  Descent descent;
};

/// Only assignments that cost less than this are looked for.
inline Int128 targetOf(const Incumbent &best) {
  constexpr Int128 anything = Int128(1) << 100;
  return best.exists() ? Int128(best.cost) : anything;
}

/// Raises a bound where prices of memory leave a gap: joins neighbours,
/// descends anew, drops strategies that are too expensive, and begins again
/// with what is left.
class Tightening {
public:
  explicit Tightening(std::shared_ptr<const PricedGraph> root)
      : current(std::move(root)) {}

  /// A step of a descent, or what is between two of them. Cheaper assignments
  /// replace `best`, one of `network`, whose graph the root is.
  void step(const Network &network, Incumbent &best);
  bool isDone() const { return done; }
  /// What assignments cost at least that are cheaper than the best one was.
  Int128 bound() const { return least; }
  /// Of the same assignments as the root, as far as they are cheaper than the
  /// best one; nothing where none is.
  std::shared_ptr<const PricedGraph> result() const { return current; }
  /// Table entries visited so far.
  uint64_t work() const { return visited; }

private:
  void join(const Network &network, Incumbent &best);
  void endWithProof();
  void endDescent(const Incumbent &best);

  std::shared_ptr<const PricedGraph> current; ///< what is to be joined
  std::unique_ptr<PricedGraph> joined;        ///< while it descends
  Int128 least = 0;
  int passes = 0;
  bool done = false;
  uint64_t visited = 0;
};

} // namespace shardopt::solve

#endif // SHARDOPT_SOLVERS_SELECTION_TIGHTENING_H
