//===- SequenceLengths.cpp - Contexts of the sequences of a batch ---------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Simulation/SequenceLengths.h"

#include "shardopt/Model/Context.h"
#include "shardopt/Support/Rng.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::simulation;

SequenceLengths::SequenceLengths(int64_t context, int64_t window, double spread,
                                 uint64_t seed) {
  if (spread == 0) {
    uniform = window ? std::min(context, window) : context;
    return;
  }
  Rng rng(seed);
  std::vector<double> factors(period);
  double total = 0;
  for (double &factor : factors) {
    factor = std::exp(spread * rng.normal());
    total += factor;
  }
  sums.push_back(0);
  for (double factor : factors) {
    double length = double(context) * factor * double(period) / total;
    sums.push_back(sums.back() +
                   (window ? std::min(length, double(window)) : length));
  }
}

double SequenceLengths::tokens(int64_t begin, int64_t end) const {
  auto first = [&](int64_t count) {
    return double(count / period) * sums.back() + sums[size_t(count % period)];
  };
  return first(end) - first(begin);
}

int64_t SequenceLengths::longest(int64_t groups, int64_t stride, int64_t begin,
                                 int64_t size, int64_t parts) const {
  if (uniform)
    return uniform;
  int64_t each = cost::ceilDiv(size, parts);
  double most = 0;
  int64_t seen = 0;
  for (int64_t group = 0; group < groups && seen < maxParts; ++group) {
    int64_t first = group * stride + begin;
    for (int64_t offset = 0; offset < size && seen < maxParts;
         offset += each, ++seen)
      most = std::max(
          most, tokens(first + offset, first + std::min(offset + each, size)));
  }
  return std::max<int64_t>(1, std::llround(most / double(each)));
}
