//===- MachineOrders.h - In which order machines work -----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SCHEDULE_MACHINEORDERS_H
#define SHARDOPT_SOLVERS_SCHEDULE_MACHINEORDERS_H

#include "shardopt/Solvers/Schedule/Instance.h"

namespace shardopt::schedule {

/// The operators of each machine, one after the other.
using MachineOrders = std::vector<std::vector<int32_t>>;

/// Starts every operator as early as the order of its machine, its edges and
/// what they send permit. Nothing if those contradict each other. Memory is not
/// looked at.
std::optional<Schedule> retime(const Instance &instance,
                               const std::vector<int32_t> &devices,
                               const MachineOrders &orders);

/// The orders of a schedule.
MachineOrders ordersOf(const Instance &instance, const Schedule &schedule);

} // namespace shardopt::schedule

#endif // SHARDOPT_SOLVERS_SCHEDULE_MACHINEORDERS_H
