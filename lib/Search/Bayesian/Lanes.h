//===- Lanes.h - The inner loops of regressions -----------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

//
// Sums in lanes, so that no addition waits for the one before. The order of
// additions is part of what a function promises: it is the same on every
// processor, and so are the bits of the sum.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_SEARCH_BAYESIAN_LANES_H
#define SHARDOPT_LIB_SEARCH_BAYESIAN_LANES_H

#include <cstddef>
#include <cstdint>

namespace shardopt::search {

/// The sum of the first `n` products, in four lanes.
double dotProduct(const double *a, const double *b, size_t n);

/// That of `count` rows with one `column`, to the bits of `dotProduct`: several
/// at a time, so that the column is read once for all.
void dotProducts(const double *const *rows, size_t count, const double *column,
                 size_t n, double *out);

/// The sum of the weights where `x` and `y` are equal, in eight lanes.
double weightOfEqual(const uint32_t *x, const uint32_t *y, const float *weight,
                     size_t n);

} // namespace shardopt::search

#endif // SHARDOPT_LIB_SEARCH_BAYESIAN_LANES_H
