//===- EliteHistory.h - The best strategies, as a policy sees them --------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_RESEARCH_ELITEHISTORY_H
#define SHARDOPT_RESEARCH_ELITEHISTORY_H

#include "shardopt/Search/StrategySpace.h"

#include <vector>

namespace shardopt::agent {

/// The `capacity` best strategies found, all different, best first: the elite
/// history of "Learning to Shard". It is sorted by raw performance, which for
/// any common b is the order of the rewards of its Eq. 1.
class EliteHistory {
public:
  struct Record {
    search::Point point;
    double raw;
  };

  explicit EliteHistory(size_t capacity) : capacity(capacity) {}

  /// Takes up a valid strategy if there is room or it is better than the worst
  /// elite, which then goes. A strategy that is there already changes nothing.
  /// Returns whether it was taken up.
  bool tell(const search::Point &point, double raw);

  const std::vector<Record> &records() const { return members; }

  /// [capacity x numVariables]: in a row every variable's index over the last
  /// index of its domain, in [0, 1]; -1 in the rows that no elite fills.
  std::vector<double> observe(const search::StrategySpace &space) const;

private:
  size_t capacity;
  std::vector<Record> members; ///< best first
};

} // namespace shardopt::agent

#endif // SHARDOPT_RESEARCH_ELITEHISTORY_H
