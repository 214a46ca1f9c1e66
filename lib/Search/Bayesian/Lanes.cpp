//===- Lanes.cpp - The inner loops of regressions -------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"
#include "shardopt/Support/Wide.h"

#include <cstring>

namespace shardopt::search {

static constexpr size_t lanesOfProduct = 4, lanesOfEqual = 8;

SHARDOPT_WIDE
double dotProduct(const double *a, const double *b, size_t n) {
  double sums[lanesOfProduct] = {};
  size_t i = 0;
  for (; i + lanesOfProduct <= n; i += lanesOfProduct)
    for (size_t lane = 0; lane < lanesOfProduct; ++lane)
      sums[lane] += a[i + lane] * b[i + lane];
  for (; i < n; ++i)
    sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// Four rows, each with lanes of its own. They are spelt as a vector, which the
/// compiler does not see in loops over rows and lanes.
SHARDOPT_WIDE
static void dotProductsOfFour(const double *const *rows, const double *column,
                              size_t n, double *out) {
  using Lanes = double __attribute__((vector_size(32)));
  constexpr size_t numRows = 4;
  Lanes sums[numRows] = {};
  size_t i = 0;
  for (; i + lanesOfProduct <= n; i += lanesOfProduct) {
    Lanes right;
    std::memcpy(&right, column + i, sizeof right);
    for (size_t row = 0; row < numRows; ++row) {
      Lanes left;
      std::memcpy(&left, rows[row] + i, sizeof left);
      sums[row] += left * right;
    }
  }
  for (size_t row = 0; row < numRows; ++row) {
    Lanes &of = sums[row];
    for (size_t j = i; j < n; ++j)
      of[0] += rows[row][j] * column[j];
    out[row] = (of[0] + of[1]) + (of[2] + of[3]);
  }
}

void dotProducts(const double *const *rows, size_t count, const double *column,
                 size_t n, double *out) {
  size_t row = 0;
  for (; row + 4 <= count; row += 4)
    dotProductsOfFour(rows + row, column, n, out + row);
  for (; row < count; ++row)
    out[row] = dotProduct(rows[row], column, n);
}

SHARDOPT_WIDE
double weightOfEqual(const uint32_t *x, const uint32_t *y, const float *weight,
                     size_t n) {
  float sums[lanesOfEqual] = {};
  size_t i = 0;
  for (; i + lanesOfEqual <= n; i += lanesOfEqual)
    for (size_t lane = 0; lane < lanesOfEqual; ++lane)
      sums[lane] += x[i + lane] == y[i + lane] ? weight[i + lane] : 0;
  for (; i < n; ++i)
    sums[0] += x[i] == y[i] ? weight[i] : 0;
  double sum = 0;
  for (float of : sums)
    sum += of;
  return sum;
}

} // namespace shardopt::search
