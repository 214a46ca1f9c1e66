//===- SequenceLengths.h - Contexts of the sequences of a batch -*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_SIMULATION_SEQUENCELENGTHS_H
#define SHARDOPT_COST_SIMULATION_SEQUENCELENGTHS_H

#include <cstdint>
#include <vector>

namespace shardopt::simulation {

/// How many tokens of context each sequence of a batch has. Lengths are
/// log-normal with the workload's context as their mean; sequence i has the
/// same length in every batch, and the sequences repeat after `period`.
class SequenceLengths {
public:
  static constexpr int64_t period = 8192, maxParts = 256;

  /// `spread` is the standard deviation of the logarithm; 0: all alike. What
  /// exceeds a `window` is not attended to; 0: no window.
  SequenceLengths(int64_t context, int64_t window, double spread,
                  uint64_t seed);

  /// Of `groups` groups of `stride` consecutive sequences each, those between
  /// `begin` and `begin + size` of every group are divided, in order, into
  /// parts of ceil(size / parts). The longest of all parts (of the first
  /// `maxParts`, if there are more), in tokens a sequence of a full part,
  /// rounded; at least 1.
  int64_t longest(int64_t groups, int64_t stride, int64_t begin, int64_t size,
                  int64_t parts) const;

private:
  /// Tokens of the sequences [begin, end).
  double tokens(int64_t begin, int64_t end) const;

  int64_t uniform = 0;      ///< length of all, if they are alike
  std::vector<double> sums; ///< tokens of the first i sequences
};

} // namespace shardopt::simulation

#endif // SHARDOPT_COST_SIMULATION_SEQUENCELENGTHS_H
