//===- Kernels.h - The inner loops of message passing -----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_SOLVE_KERNELS_H
#define SHARDOPT_LIB_SOLVE_KERNELS_H

#include <cstddef>

namespace shardopt::solve {

/// out[y] = min over x of from[x] + table[x][y], for a row-major table.
void minPlus(const double *from, size_t rows, const double *table,
             size_t columns, double *out);

/// Lowers out[j] to `base` + first[j] + … of `count` rows of `length` elements
/// where that is less.
void lowerRow(double base, const double *const *rows, size_t count,
              size_t length, double *out);

} // namespace shardopt::solve

#endif // SHARDOPT_LIB_SOLVE_KERNELS_H
