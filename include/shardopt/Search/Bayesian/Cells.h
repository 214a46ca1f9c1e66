//===- Cells.h - Strategies as one-hot vectors ------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_BAYESIAN_CELLS_H
#define SHARDOPT_SEARCH_BAYESIAN_CELLS_H

#include "shardopt/Search/StrategySpace.h"

#include <cstdint>
#include <vector>

namespace shardopt::search {

/// Numbers the (variable, value) pairs of a space, the values of a variable in
/// a row: the coordinates of a one-hot vector. A strategy has one for
/// each variable.
class Cells {
public:
  explicit Cells(const StrategySpace &space) : firstDim(space.firstDim()) {
    for (size_t i = 0; i < space.numVariables(); ++i)
      begins.push_back(begins.back() + uint32_t(space.domainSize(i)));
  }

  size_t numVariables() const { return begins.size() - 1; }
  size_t numDegrees() const { return firstDim; }
  size_t size() const { return begins.back(); }

  /// The cells of `variable` are [begin(variable), begin(variable + 1)).
  uint32_t begin(size_t variable) const { return begins[variable]; }

  std::vector<uint32_t> of(Point point) const {
    for (size_t i = 0; i < point.size(); ++i)
      point[i] += begins[i];
    return point;
  }

private:
  size_t firstDim;
  std::vector<uint32_t> begins = {0};
};

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_BAYESIAN_CELLS_H
