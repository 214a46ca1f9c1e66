//===- Incumbent.h - The best assignment so far -----------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SELECTION_INCUMBENT_H
#define SHARDOPT_SOLVERS_SELECTION_INCUMBENT_H

#include "shardopt/Solvers/Selection/Network.h"

#include <limits>

namespace shardopt::solve {

/// An assignment that fits, with its cost and usage kept.
struct Incumbent {
  Assignment assignment;
  std::vector<int64_t> usage;
  double cost = std::numeric_limits<double>::infinity();

  bool exists() const { return cost < std::numeric_limits<double>::infinity(); }

  /// Takes `candidate` if it fits and is cheaper.
  bool improve(const Network &network, const Assignment &candidate) {
    double newCost = computeCost(network, candidate);
    if (!(newCost < cost))
      return false;
    std::vector<int64_t> newUsage = computeUsage(network, candidate);
    if (!fits(network, newUsage))
      return false;
    assignment = candidate;
    usage = std::move(newUsage);
    cost = newCost;
    return true;
  }
};

} // namespace shardopt::solve

#endif // SHARDOPT_SOLVERS_SELECTION_INCUMBENT_H
