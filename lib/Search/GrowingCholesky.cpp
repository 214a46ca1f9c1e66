//===- GrowingCholesky.cpp - A factor that grows by rows ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/GrowingCholesky.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace shardopt::search {

/// Four partial sums: one would make every addition wait for the one before.
static double dotProduct(const double *a, const double *b, size_t n) {
  double sums[4] = {0, 0, 0, 0};
  size_t i = 0;
  for (; i + 4 <= n; i += 4)
    for (size_t lane = 0; lane < 4; ++lane)
      sums[lane] += a[i + lane] * b[i + lane];
  for (; i < n; ++i)
    sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// Several rows at a time, column by column, so that the rows before them are
/// read once for all.
void GrowingCholesky::grow(
    size_t size, const std::function<double(size_t, size_t)> &kernel) {
  constexpr size_t together = 8;
  while (rows.size() < size) {
    const size_t begin = rows.size();
    const size_t end = std::min(begin + together, size);
    for (size_t i = begin; i < end; ++i) {
      rows.emplace_back(i + 1);
      for (size_t j = 0; j <= i; ++j)
        rows[i][j] = kernel(i, j);
    }
    for (size_t j = 0; j < end; ++j) {
      if (j >= begin) {
        double *row = rows[j].data();
        // What is left is at least the noise, but for rounding.
        const double rest = row[j] + noise - dotProduct(row, row, j);
        row[j] = std::sqrt(std::max(rest, noise));
      }
      const double *column = rows[j].data();
      for (size_t i = std::max(begin, j + 1); i < end; ++i) {
        double *row = rows[i].data();
        row[j] = (row[j] - dotProduct(row, column, j)) / column[j];
      }
    }
  }
}

double GrowingCholesky::solveEntry(size_t i, double y,
                                   const double *before) const {
  return (y - dotProduct(rows[i].data(), before, i)) / rows[i][i];
}

void GrowingCholesky::solveTransposed(
    const std::vector<std::vector<double> *> &vectors) const {
  for (size_t i = rows.size(); i-- > 0;) {
    const double *row = rows[i].data();
    for (std::vector<double> *vector : vectors) {
      double *x = vector->data();
      const double last = x[i] /= row[i];
      for (size_t j = 0; j < i; ++j)
        x[j] -= last * row[j];
    }
  }
}

void GrowingCholesky::solve(std::vector<double> &values) const {
  assert(values.size() == rows.size() && "a value for each row");
  for (size_t i = 0; i < rows.size(); ++i)
    values[i] = solveEntry(i, values[i], values.data());
  solveTransposed({&values});
}

} // namespace shardopt::search
