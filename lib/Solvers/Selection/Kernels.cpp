//===- Kernels.cpp - The inner loops of message passing -------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "shardopt/Support/Wide.h"

#include <limits>

using namespace shardopt;

SHARDOPT_WIDE
void solve::minPlus(const double *from, size_t rows, const double *table,
                    size_t columns, double *__restrict out) {
  for (size_t y = 0; y < columns; ++y)
    out[y] = std::numeric_limits<double>::infinity();
  for (size_t x = 0; x < rows; ++x) {
    const double *row = table + x * columns;
    double base = from[x];
    for (size_t y = 0; y < columns; ++y) {
      double sum = base + row[y];
      out[y] = sum < out[y] ? sum : out[y];
    }
  }
}

SHARDOPT_WIDE
void solve::lowerBlock(double start, Span<const Strided> scalars,
                       Span<const Strided> rows, size_t count, size_t length,
                       double *__restrict out) {
  constexpr size_t most = 64;
  double sums[most];
  for (size_t r = 0; r < count; ++r, out += length) {
    double base = start;
    for (const Strided &scalar : scalars)
      base += scalar.at[r * scalar.stride];
    if (rows.size() == 1) {
      const double *row = rows.data()->at + r * rows.data()->stride;
      for (size_t j = 0; j < length; ++j) {
        double sum = base + row[j];
        out[j] = sum < out[j] ? sum : out[j];
      }
      continue;
    }
    for (size_t begin = 0; begin < length; begin += most) {
      size_t width = length - begin < most ? length - begin : most;
      for (size_t j = 0; j < width; ++j)
        sums[j] = base;
      for (const Strided &part : rows) {
        const double *row = part.at + r * part.stride + begin;
        for (size_t j = 0; j < width; ++j)
          sums[j] += row[j];
      }
      for (size_t j = 0; j < width; ++j)
        out[begin + j] = sums[j] < out[begin + j] ? sums[j] : out[begin + j];
    }
  }
}
