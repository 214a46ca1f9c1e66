//===- LargeNeighbourhood.h - Improving regions of an assignment ----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SELECTION_LARGENEIGHBOURHOOD_H
#define SHARDOPT_SOLVERS_SELECTION_LARGENEIGHBOURHOOD_H

#include "shardopt/Solvers/Selection/Elimination.h"
#include "shardopt/Solvers/Selection/Incumbent.h"
#include "shardopt/Support/Rng.h"

namespace shardopt::solve {

/// Large-neighbourhood search: replaces the strategies of a random connected
/// region, or of a larger random forest, by its best ones, at prices of memory
/// that vary around the multipliers, and keeps the result wherever it fits and
/// costs no more. Regions begin at nodes whose strategy is expensive, as
/// messages have it, more often than at others; in some, nodes have few
/// strategies to choose from, those that messages have as the best ones.
class LargeNeighbourhood {
public:
  LargeNeighbourhood(const Network &network, const Rng &rng);

  /// What memory costs, by strategy.
  void setPrices(std::vector<double> strategyPrices) {
    prices = std::move(strategyPrices);
  }
  /// How much each strategy costs above the best one of its node, as messages
  /// have it. Without, no node and no strategy comes before others.
  void setRises(std::vector<double> strategyRises) {
    rises = std::move(strategyRises);
  }
  /// Another good assignment, whose better parts are looked for; of several,
  /// the last few.
  void addPartner(const Assignment &partner);
  void forgetPartners() { partners.clear(); }
  Incumbent &incumbent() { return best; }
  const Rng &random() const { return rng; }

  /// Takes from `other` the parts in which it differs that are better, each a
  /// connected region.
  void fuse(const Incumbent &other);

  /// One region. Returns whether the incumbent became cheaper.
  bool move();
  /// Table entries visited so far: time, in a unit that is the same everywhere.
  uint64_t work() const { return visited; }

private:
  int32_t drawSeed();
  /// A node in which the incumbent is unlike `partner`, -1 if none was met.
  int32_t drawDifference(const Assignment &partner);
  /// For each node of the region its strategy and the best others, as messages
  /// have it and chance.
  void drawDomains(size_t most);
  /// For each its strategy and that of `partner`.
  void drawDomains(const Assignment &partner);
  double riseOf(int32_t node) const {
    return rises[network.first[node] + best.assignment[node]];
  }
  /// With `forest`, a region without cycles; with `partner`, of nodes in which
  /// the incumbent is unlike it.
  void drawRegion(size_t size, bool forest, const Assignment *partner);
  /// Whether a node has edges to at most one other node of the region.
  bool isLeaf(int32_t node) const;
  /// How much the cost changes from the incumbent to `candidate` where the two
  /// differ in the nodes of `changed` alone.
  double costChange(const std::vector<int32_t> &changed) const;
  bool fitsAfter(const std::vector<int32_t> &changed);
  bool attempt(double factor, bool &exceeds);
  /// Makes the candidate, which differs in `changed`, the incumbent if it is no
  /// dearer and fits; otherwise the candidate is the incumbent again.
  bool accept(const std::vector<int32_t> &changed, bool &exceeds);

  const Network &network;
  Elimination elimination;
  Rng rng;
  Incumbent best;
  Assignment candidate;
  std::vector<double> prices, unary;
  std::vector<double> rises;
  std::vector<Assignment> partners;
  Elimination::Domains domains;
  std::vector<std::pair<double, int32_t>> ranked;
  std::vector<int32_t> region;
  std::vector<int32_t> seen;   ///< by node: the last region that reached it
  std::vector<int32_t> inside; ///< by node: the last region that it was in
  int32_t numRegions = 0;
  std::vector<int64_t> usageChange;
  int32_t changeBegin = 0, changeEnd = 0;
  uint64_t visited = 0;
};

} // namespace shardopt::solve

#endif // SHARDOPT_SOLVERS_SELECTION_LARGENEIGHBOURHOOD_H
