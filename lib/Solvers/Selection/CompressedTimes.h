//===- CompressedTimes.h - The times that say something ---------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_SOLVERS_SELECTION_COMPRESSEDTIMES_H
#define SHARDOPT_LIB_SOLVERS_SELECTION_COMPRESSEDTIMES_H

#include "shardopt/Solvers/Selection/Problem.h"

namespace shardopt::solve {

/// Times at which no more nodes are live than at another one say nothing. What
/// remains is, for each run of begins that is followed by an end, the time
/// between them.
class CompressedTimes {
public:
  explicit CompressedTimes(const Problem &problem);

  size_t size() const { return times.size(); }
  /// The number of times before `time`.
  int32_t countBefore(int64_t time) const;

private:
  std::vector<int64_t> times;
};

} // namespace shardopt::solve

#endif // SHARDOPT_LIB_SOLVERS_SELECTION_COMPRESSEDTIMES_H
