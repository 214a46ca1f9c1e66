//===- Kernels.h - The inner loops of message passing -----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_SOLVERS_SELECTION_KERNELS_H
#define SHARDOPT_LIB_SOLVERS_SELECTION_KERNELS_H

#include "shardopt/Solvers/Selection/Elimination.h"

#include <cstddef>

namespace shardopt::solve {

/// out[y] = min over x of from[x] + table[x][y], for a row-major table.
void minPlus(const double *from, size_t rows, const double *table,
             size_t columns, double *out);

/// Lowers each of `count` rows of `length` elements of `out`, one behind the
/// other, where a sum is less: in row r, `start`, the element that each of
/// `scalars` has for r, and the `length` elements that each of `rows` has
/// there.
void lowerBlock(double start, Span<const Strided> scalars,
                Span<const Strided> rows, size_t count, size_t length,
                double *out);

} // namespace shardopt::solve

#endif // SHARDOPT_LIB_SOLVERS_SELECTION_KERNELS_H
