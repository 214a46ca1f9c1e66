//===- GrowingCholesky.h - A factor that grows by rows -------- -*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_BAYESIAN_GROWINGCHOLESKY_H
#define SHARDOPT_SEARCH_BAYESIAN_GROWINGCHOLESKY_H

#include <cstddef>
#include <functional>
#include <vector>

namespace shardopt::search {

/// The lower factor L of a positive definite matrix K + noise I whose rows
/// become known one after another. A row costs as many operations as the factor
/// has entries.
class GrowingCholesky {
public:
  explicit GrowingCholesky(double noise) : noise(noise) {}

  size_t size() const { return rows.size(); }

  /// Leaves it its first `size` rows.
  void cut(size_t size) { rows.resize(size); }

  /// Adds rows until there are `size`; `kernel(i, j)` is the entry of K, asked
  /// for with j <= i.
  void grow(size_t size, const std::function<double(size_t, size_t)> &kernel);

  /// Entry `i` of L^-1 y; `before` are the entries before it, and `y`
  /// is the entry of y.
  double solveEntry(size_t i, double y, const double *before) const;
  /// Turns each of the vectors v into L^-T v, all in one pass over the factor:
  /// reading it is what costs.
  void solveTransposed(const std::vector<std::vector<double> *> &vectors) const;
  /// Turns the values y into (K + noise I)^-1 y.
  void solve(std::vector<double> &values) const;

private:
  double noise;
  std::vector<std::vector<double>> rows; ///< row i has i + 1 entries
};

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_BAYESIAN_GROWINGCHOLESKY_H
