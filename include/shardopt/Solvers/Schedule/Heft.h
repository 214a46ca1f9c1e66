//===- Heft.h - The earliest finish of each operator in turn ----*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// HEFT (Topcuoglu et al. 2002), the usual heuristic for graphs without a
// placement: operators in the order of their ranks, each on the device where it
// ends first, in a gap if there is one. It is a baseline, and where the search
// for placements begins.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SCHEDULE_HEFT_H
#define SHARDOPT_SOLVERS_SCHEDULE_HEFT_H

#include "shardopt/Solvers/Schedule/ListScheduler.h"

namespace shardopt::schedule {

/// What groups ask of the memory of a device.
struct GroupNeeds {
  explicit GroupNeeds(const Instance &instance);

  /// Whether `group` can run on `device`, which holds `parameters` already.
  bool fit(const PlanGraph &graph, int32_t group, int32_t device,
           int64_t parametersThere) const;

  std::vector<std::vector<int32_t>> members; ///< of groups
  std::vector<int64_t> parameters;           ///< of groups
  std::vector<int64_t> largestBirth;         ///< of groups
};

/// Of operators of the graph: the longest time to the end of all, with
/// transfers as likely as they are.
std::vector<int64_t> upwardRanks(const Instance &instance);

/// List scheduling by ranks, a repetition after the other.
DispatchRule rankRule(const Instance &instance,
                      const std::vector<int64_t> &ranks);

/// The devices of HEFT and, of the first repetition, its starts. Nothing if it
/// finds no room for some group.
std::optional<Schedule>
placeByEarliestFinish(const Instance &instance, const GroupNeeds &needs,
                      const std::vector<int64_t> &ranks);

/// A valid schedule of all repetitions on the devices of HEFT: its own, or
/// where it has more than one or exceeds memory, list scheduling by ranks, or
/// else one operator after the other. Nothing if none of them fits.
std::optional<Schedule> scheduleByEarliestFinish(const Instance &instance);

} // namespace shardopt::schedule

#endif // SHARDOPT_SOLVERS_SCHEDULE_HEFT_H
