//===- Regressor.h - Functions learned from strategies ----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_REGRESSOR_H
#define SHARDOPT_SEARCH_REGRESSOR_H

#include "shardopt/Search/StrategySpace.h"

#include <array>
#include <cstddef>

namespace shardopt::search {

/// What is learned of a strategy; see `TargetEncoder` for the meaning.
constexpr size_t numTargets = 3;
using Targets = std::array<double, numTargets>;

/// A function from strategies to targets, fitted on samples.
class Regressor {
public:
  virtual ~Regressor();

  /// Adds a sample. Where not all can be kept, those of the least `badness`
  /// are.
  virtual void add(const Point &point, const Targets &targets,
                   double badness) = 0;

  /// Takes the samples added so far into account.
  virtual void fit() = 0;

  /// The targets of `point` after the last `fit`; zeros before the first.
  virtual Targets predict(const Point &point) const = 0;
};

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_REGRESSOR_H
