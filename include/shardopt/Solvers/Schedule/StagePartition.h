//===- StagePartition.h - A graph for devices in a row ----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SCHEDULE_STAGEPARTITION_H
#define SHARDOPT_SOLVERS_SCHEDULE_STAGEPARTITION_H

#include "shardopt/Solvers/Schedule/Search.h"

namespace shardopt::schedule {

/// Groups of a graph as stages of a pipeline: device d is stage d, and no edge
/// goes back to an earlier one.
struct StagePartition {
  std::vector<int32_t> devices; ///< of groups
  /// Of devices: the work of its compute machine and what it sends to others.
  std::vector<int64_t> loads;
  int64_t bottleneck = 0; ///< the largest load: the inverse of the throughput
  /// No partition has less: a chain is cut exactly (`partitionChain`); of other
  /// graphs this is the relaxation in which every operator may be spread over
  /// devices, each at its own speed, by its dual.
  int64_t bound = 0;
};

/// The loads of `devices` of all groups, and the bottleneck.
StagePartition measureStages(const Instance &instance,
                             const std::vector<int32_t> &devices);

/// Cuts topological orders exactly and moves groups between the devices of the
/// best, `steps` times. Devices need not be alike, and parameters fit into
/// their memory; groups with a device keep it. Nothing if none of the orders
/// has a cut that fits.
std::optional<StagePartition> partitionStages(const Instance &instance,
                                              uint64_t seed, int64_t steps,
                                              const Budget &budget);

} // namespace shardopt::schedule

#endif // SHARDOPT_SOLVERS_SCHEDULE_STAGEPARTITION_H
