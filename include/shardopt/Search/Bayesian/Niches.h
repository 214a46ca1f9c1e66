//===- Niches.h - What is known of each tuple of degrees ------ -*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_BAYESIAN_NICHES_H
#define SHARDOPT_SEARCH_BAYESIAN_NICHES_H

#include "shardopt/Search/Bayesian/DimTables.h"
#include "shardopt/Search/Simulator.h"

#include <limits>
#include <map>
#include <optional>
#include <vector>

namespace shardopt::search {

/// A tuple of degrees, the best that was evaluated there, and what is expected.
struct Niche {
  struct Elite {
    DimIndices dims;
    Evaluation evaluation;
    double score;
  };

  Point degrees; ///< with the first dim of every op
  /// Valid and invalid strategies have an elite each: one that barely exceeds a
  /// limit has better neighbours than some valid ones, and is no plan.
  std::optional<Elite> valid, invalid;
  size_t calls = 0;
  size_t stale = 0;      ///< calls since the last gain
  bool isDead = false;   ///< no strategy of these degrees can be feasible
  bool isInert = false;  ///< dims hardly change what is predicted
  uint64_t lookedAt = 0; ///< the round in which it was looked at last
  double expected = std::numeric_limits<double>::lowest();
  DimIndices expectedDims; ///< of `expected`

  const Elite *best() const {
    return valid ? &*valid : invalid ? &*invalid : nullptr;
  }
  /// What it has, less what was spent on it in vain.
  double promise() const;
};

/// The tuples of a space: all, or where there are too many, those drawn and
/// those that were evaluated.
class Niches {
public:
  Niches(const StrategySpace &space, Rng &rng);

  size_t size() const { return niches.size(); }
  Niche &operator[](size_t i) { return niches[i]; }
  const Niche &operator[](size_t i) const { return niches[i]; }

  /// The niche of the degrees of `point`, which is added where it is missing.
  size_t find(const Point &point);

  /// Notes an evaluation with its score.
  void tell(const Point &point, const Evaluation &evaluation, double score);

  /// The niches with an elite, most promising first.
  std::vector<size_t> ranked() const;

  /// One of `ranked`, drawn so that no value of a degree is forgotten: half of
  /// the time the best with a value of a degree, drawn by its rank.
  size_t drawParent(const std::vector<size_t> &ranked, Rng &rng) const;

  Point pointOf(size_t niche, const DimIndices &dims) const;
  DimIndices dimsOf(const Point &point) const;

private:
  const StrategySpace &space;
  std::vector<Niche> niches;
  std::map<Point, size_t> numberOf;
};

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_BAYESIAN_NICHES_H
