//===- Bounds.h - What no schedule can undercut -----------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SCHEDULE_BOUNDS_H
#define SHARDOPT_SOLVERS_SCHEDULE_BOUNDS_H

#include "shardopt/Solvers/Schedule/Instance.h"

namespace shardopt::schedule {

/// For each operator, the least time before its start (`heads`) and from its
/// start to the end of all (`tails`), along edges, along the repetitions of an
/// operator, which wait for each other, and along bytes that must be gone
/// before others find room.
struct Windows {
  std::vector<int64_t> heads, tails;
};

/// `devices`: of groups, -1 where free, which takes the shortest time and no
/// transfers.
Windows computeWindows(const Instance &instance,
                       const std::vector<int32_t> &devices);

/// Lower bounds of the makespan; 0 where one says nothing.
struct Bounds {
  int64_t criticalPath = 0; ///< LB1: the longest chain
  /// LB2: what comes at least before the operators of a machine, their sum, and
  /// what comes at least after. Where groups are free, the sum of all over all.
  int64_t machine = 0;
  /// LB3: until the first operator that needs none of its bytes, or gives some
  /// back, a machine can only do what fits into the memory.
  int64_t memoryRamp = 0;
  /// LB6: before the last operator that takes bytes, or works with them in the
  /// same phase, a machine has done all others, and what gives back as many
  /// bytes as do not fit; behind it comes what follows it at least.
  int64_t memoryTurn = 0;
  /// LB5, Little's law: bytes times the least time that each lives cannot
  /// exceed memory times makespan.
  int64_t residence = 0;
  /// LB4: one more than the largest makespan that a solver refuted.
  int64_t refuted = 0;

  int64_t makespan() const;
};

Bounds computeBounds(const Instance &instance,
                     const std::vector<int32_t> &devices);

/// What the time between two repetitions cannot undercut when they go on for
/// ever: the work of a machine, and the bytes times the least time that they
/// live over the memory (Little's law).
int64_t leastPeriod(const Instance &instance,
                    const std::vector<int32_t> &devices);

/// Of each device, bytes that it holds at some time in any schedule, those of
/// free groups (-1 in `devices`) left out.
std::vector<int64_t> leastMemory(const Instance &instance,
                                 const std::vector<int32_t> &devices);

/// Why nothing fits, whatever the order: a device whose memory does not hold
/// its parameters and the bytes that live at once. Says how much is missing and
/// what would hold them.
std::optional<Error> checkCapacity(const Instance &instance,
                                   const std::vector<int32_t> &devices);

} // namespace shardopt::schedule

#endif // SHARDOPT_SOLVERS_SCHEDULE_BOUNDS_H
