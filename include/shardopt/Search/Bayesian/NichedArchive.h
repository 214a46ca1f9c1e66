//===- NichedArchive.h - The best strategies, by niche ----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_BAYESIAN_NICHEDARCHIVE_H
#define SHARDOPT_SEARCH_BAYESIAN_NICHEDARCHIVE_H

#include "shardopt/Search/Objective.h"
#include "shardopt/Search/StrategySpace.h"

#include <cstddef>
#include <vector>

namespace shardopt::search {

/// The best `capacity` strategies told, at most one for each tuple of degrees,
/// best first: valid ones before invalid ones, as `Objective::better` orders
/// them; of equals the first told.
///
/// Without the niches a good tuple of degrees crowds out all others, and a
/// search that edits elites never leaves it.
class NichedArchive {
public:
  struct Elite {
    Point point;
    Evaluation evaluation;
  };

  /// The first `numDegrees` variables of a point are its niche.
  NichedArchive(size_t capacity, size_t numDegrees, const Objective &objective)
      : capacity(capacity), numDegrees(numDegrees), objective(objective) {}

  /// Returns whether the strategy entered.
  bool tell(const Point &point, const Evaluation &evaluation);

  const std::vector<Elite> &elites() const { return members; }

private:
  size_t capacity, numDegrees;
  Objective objective;
  std::vector<Elite> members; ///< best first
};

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_BAYESIAN_NICHEDARCHIVE_H
