//===- Admission.h - What may still be evaluated -------------- -*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_SEARCH_BAYESIAN_ADMISSION_H
#define SHARDOPT_LIB_SEARCH_BAYESIAN_ADMISSION_H

#include "shardopt/Search/StrategySpace.h"
#include "shardopt/Support/Hash.h"

#include <functional>
#include <optional>
#include <unordered_set>
#include <vector>

namespace shardopt::search {

struct PointHash {
  size_t operator()(const Point &point) const {
    WordHash hash;
    for (uint32_t value : point)
      hash.add(value);
    return hash.value();
  }
};
using PointSet = std::unordered_set<Point, PointHash>;

/// Admits the strategies of a space that are neither proposed before, be they
/// evaluated or pending, nor of infeasible degrees; and counts those that it
/// refuses.
class Admission {
public:
  /// `isHopeless` may be empty. The space outlives it.
  Admission(const StrategySpace &space,
            std::function<bool(const Degrees &)> isHopeless)
      : space(space), isHopeless(std::move(isHopeless)) {}

  /// Whether `point` may be proposed. Points out of the space count nowhere.
  bool admit(const Point &point);

  /// Whether it was proposed. Asking counts nothing.
  bool isKnown(const Point &point) const { return known.count(point); }
  /// Whether its degrees are infeasible, which counts as little.
  bool isHopelessAt(const Point &point) const {
    return isHopeless && isHopeless(space.degreesAt(point));
  }

  /// Notes that `point` is proposed.
  void add(const Point &point) { known.insert(point); }

  /// A strategy drawn uniformly of those that may be proposed; where most may
  /// not, drawn from the degrees that are feasible; where all draws are
  /// known as well, the first of these degrees that is not known. None if there
  /// is none.
  std::optional<Point> drawUniform(Rng &rng);

  uint64_t refused() const { return numRefused; }

private:
  std::vector<Point> firstOfHopeful() const;

  const StrategySpace &space;
  const std::function<bool(const Degrees &)> isHopeless;
  PointSet known;
  uint64_t numRefused = 0;
  /// The first strategy of every tuple of degrees that is feasible, once it
  /// was needed.
  std::optional<std::vector<Point>> hopeful;
};

} // namespace shardopt::search

#endif // SHARDOPT_LIB_SEARCH_BAYESIAN_ADMISSION_H
