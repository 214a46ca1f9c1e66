//===- ListScheduler.h - Always the ready operator that matters *- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SCHEDULE_LISTSCHEDULER_H
#define SHARDOPT_SOLVERS_SCHEDULE_LISTSCHEDULER_H

#include "shardopt/Solvers/Schedule/Search.h"

namespace shardopt::schedule {

/// What an idle machine takes: of the operators that are ready and whose bytes
/// find room, the one with the least key, ties by index. It never waits where
/// it could work.
struct DispatchRule {
  std::vector<int64_t> keys; ///< of operators
  /// How many micro-batches may hold the bytes of an operator of the graph at
  /// once; 0: as many as fit. Keeps the front of a pipeline from taking the
  /// memory that its end needs to free any.
  std::vector<int32_t> mostInFlight;
};

/// Schedules with `devices` of all groups. Nothing if memory ends in a
/// deadlock, once the makespan is known to reach `limit` (0: none), or once
/// `budget` (null: none) is over.
std::optional<Schedule> dispatch(const Instance &instance,
                                 const std::vector<int32_t> &devices,
                                 const DispatchRule &rule, int64_t limit = 0,
                                 const Budget *budget = nullptr);

} // namespace shardopt::schedule

#endif // SHARDOPT_SOLVERS_SCHEDULE_LISTSCHEDULER_H
