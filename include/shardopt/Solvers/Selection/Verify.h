//===- Verify.h - What a solution costs, from first principles --*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SELECTION_VERIFY_H
#define SHARDOPT_SOLVERS_SELECTION_VERIFY_H

#include "shardopt/Solvers/Selection/Problem.h"

namespace shardopt::solve {

/// Sums of costs and usages, which need not fit 64 bits.
using Int128 = __int128;

/// Decimal digits, with a '-' before them if negative.
std::string toString(Int128 number);

/// A strategy for each node.
using Solution = std::vector<int32_t>;

/// What a solution is worth. Computed from the problem alone, by nothing that
/// the solver uses.
struct Verdict {
  Int128 cost = 0;
  Int128 peak = 0;       ///< the most memory in use at any time
  int64_t peakTime = 0;  ///< the first time of it
  bool feasible = false; ///< whether the peak is within the limit
  /// Runs of times at which at least 99 % of the limit is in use.
  std::vector<Interval> tight;
};

/// An error where there is not one strategy, from those that it has, for each
/// node.
ErrorOr<Verdict> verify(const Problem &problem, const Solution &solution);

/// Where memory cannot suffice: a time at which even the smallest usages
/// exceed the limit the most.
struct Shortage {
  int64_t time;
  Int128 smallest; ///< the sum of the smallest usages at that time
};

std::optional<Shortage> findShortage(const Problem &problem);

/// The solution of the smallest usage of each node, among equals the cheapest
/// alone. Feasible wherever anything is.
Solution smallestUsage(const Problem &problem);

} // namespace shardopt::solve

#endif // SHARDOPT_SOLVERS_SELECTION_VERIFY_H
