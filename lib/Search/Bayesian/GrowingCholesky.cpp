//===- GrowingCholesky.cpp - A factor that grows by rows ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Bayesian/GrowingCholesky.h"
#include "Lanes.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace shardopt::search {

/// Several rows at a time, column by column, so that the rows before them are
/// read once for all.
void GrowingCholesky::grow(
    size_t size, const std::function<double(size_t, size_t)> &kernel) {
  constexpr size_t together = 8;
  const double *after[together];
  double products[together];
  while (rows.size() < size) {
    size_t begin = rows.size();
    size_t end = std::min(begin + together, size);
    for (size_t i = begin; i < end; ++i) {
      rows.emplace_back(i + 1);
      for (size_t j = 0; j <= i; ++j)
        rows[i][j] = kernel(i, j);
    }
    for (size_t j = 0; j < end; ++j) {
      if (j >= begin) {
        double *row = rows[j].data();
        // What is left is at least the noise, but for rounding.
        double rest = row[j] + noise - dotProduct(row, row, j);
        row[j] = std::sqrt(std::max(rest, noise));
      }
      const double *column = rows[j].data();
      size_t first = std::max(begin, j + 1);
      for (size_t i = first; i < end; ++i)
        after[i - first] = rows[i].data();
      dotProducts(after, end - first, column, j, products);
      for (size_t i = first; i < end; ++i)
        rows[i][j] = (rows[i][j] - products[i - first]) / column[j];
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
      double last = x[i] /= row[i];
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
