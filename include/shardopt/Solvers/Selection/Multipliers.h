//===- Multipliers.h - Prices of memory over time ---------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SELECTION_MULTIPLIERS_H
#define SHARDOPT_SOLVERS_SELECTION_MULTIPLIERS_H

#include "shardopt/Solvers/Selection/Network.h"

#include <algorithm>

namespace shardopt::solve {

/// A price for memory at each time. A cost that includes what memory costs at
/// these prices, less that of the slacks, bounds from below the cost of every
/// assignment that fits.
class Multipliers {
public:
  explicit Multipliers(const Network &network)
      : prices(network.numTimes(), 0.0), network(network),
        average(network.numTimes(), 0.0) {}

  std::vector<double> prices;

  /// The same price at all times.
  void setAll(double price) { std::fill(prices.begin(), prices.end(), price); }
  /// Takes those of a network of the same graph before times were removed; the
  /// price of a time that is gone goes to one next to it.
  void carryOver(const Multipliers &before, const Network &old);
  /// What the memory of each strategy costs.
  std::vector<double> strategyPrices() const;
  /// The price of the slack of all times.
  double slackPrice() const;
  /// Raises the prices of times at which more is used than there is, and lowers
  /// the others, by a factor of at most e^rate, after averaging over calls.
  void adapt(const std::vector<double> &usage, double rate);

private:
  const Network &network;
  std::vector<double> average; ///< of usages, decaying
  bool isFirst = true;
};

} // namespace shardopt::solve

#endif // SHARDOPT_SOLVERS_SELECTION_MULTIPLIERS_H
