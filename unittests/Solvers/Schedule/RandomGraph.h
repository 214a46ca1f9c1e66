//===- RandomGraph.h - Small graphs, and their best schedules ---*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_UNITTESTS_SOLVERS_SCHEDULE_RANDOMGRAPH_H
#define SHARDOPT_UNITTESTS_SOLVERS_SCHEDULE_RANDOMGRAPH_H

#include "shardopt/Solvers/Schedule/Validate.h"

namespace shardopt::schedule {

struct RandomGraphOptions {
  int32_t ops = 6;
  int32_t devices = 2;
  int32_t copies = 1;
  int64_t leastTime = 0, mostTime = 3;
  int32_t edgePercent = 30;
  int32_t commPercent = 20;
  int32_t birthPercent = 40;
  int32_t mostBytes = 2; ///< of an edge
  bool isPlaced = true;
  /// Of each device; none: enough.
  std::optional<int64_t> memory;
};

Instance makeRandomInstance(uint64_t seed, const RandomGraphOptions &options);

/// The least makespan, by trying every placement and every start; none if there
/// is no schedule below `limit`.
std::optional<int64_t> findBestMakespan(const Instance &instance,
                                        int64_t limit);

} // namespace shardopt::schedule

#endif // SHARDOPT_UNITTESTS_SOLVERS_SCHEDULE_RANDOMGRAPH_H
