//===- Sequential.h - One operator after the other --------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SCHEDULE_SEQUENTIAL_H
#define SHARDOPT_SOLVERS_SCHEDULE_SEQUENTIAL_H

#include "shardopt/Solvers/Schedule/Instance.h"

namespace shardopt::schedule {

/// A whole micro-batch before the next, and everything in a row, with `devices`
/// of all groups: the slowest schedule, which mostly fits wherever a single
/// micro-batch does.
Schedule scheduleSequentially(const Instance &instance,
                              const std::vector<int32_t> &devices);

/// One operator after the other, in `order`, which keeps edges.
Schedule scheduleInOrder(const Instance &instance,
                         const std::vector<int32_t> &devices,
                         const std::vector<int32_t> &order);

} // namespace shardopt::schedule

#endif // SHARDOPT_SOLVERS_SCHEDULE_SEQUENTIAL_H
