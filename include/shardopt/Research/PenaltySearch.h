//===- PenaltySearch.h - A weight on the memory of each node ----*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_RESEARCH_PENALTYSEARCH_H
#define SHARDOPT_RESEARCH_PENALTYSEARCH_H

#include "shardopt/Solvers/Selection/OtherMethod.h"
#include "shardopt/Solvers/Selection/TreeReweighted.h"
#include "shardopt/Support/Rng.h"

namespace shardopt::solve {

/// The method of "Soft constraints, strong solutions" (Algorithm 1), to compare
/// with: the limit is replaced by a weight on what each node uses at its peak.
/// As long as what costs least then fits, all weights fall; where it does not,
/// those of the nodes rise that are live when too much is in use. It bounds
/// nothing.
///
/// The relaxation is not solved by a cost function network here, but by some
/// sweeps of messages, whose cheapest choice is taken.
class PenaltySearch final : public OtherMethod {
public:
  /// With `polishes`, strategies of single nodes are then exchanged as long as
  /// that helps.
  PenaltySearch(const Network &network, uint64_t seed, bool polishes);

  /// Solves one relaxation and adapts the weights.
  void step(Incumbent &incumbent) override;
  uint64_t work() const override { return visited; }

private:
  void setWeights(double scale);
  /// The cheapest choice of some sweeps at the present weights.
  Assignment solveRelaxed();
  void polish(Assignment &assignment);
  void adapt(const std::vector<int64_t> &usage);

  const Network &network;
  TreeReweighted trees;
  Rng rng;
  bool polishes;
  std::vector<double> peaks;   ///< of each strategy, over time
  std::vector<double> weights; ///< of each node
  std::vector<double> bestWeights;
  double bestCost;
  double scale;
  int numScales = 0; ///< that were tried
  bool adapting = false;
  uint64_t visited = 0;
};

} // namespace shardopt::solve

#endif // SHARDOPT_RESEARCH_PENALTYSEARCH_H
