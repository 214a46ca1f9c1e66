//===- UnlikeStages.h - Stages on machines that differ ----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each stage of a pipeline stands on one machine of several kinds. Which kind
// comes where, and how many layers each stage has, so that the slowest is as
// fast as can be.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_PLANNING_ORDERING_UNLIKESTAGES_H
#define SHARDOPT_PLANNING_ORDERING_UNLIKESTAGES_H

#include "shardopt/Planning/Ordering/StepGraph.h"

namespace shardopt::ordering {

/// Stages that the devices of one kind hold.
struct StageKind {
  std::string name;
  std::shared_ptr<const cost::TimeModel> time;
  double memoryBytes = 0; ///< of a device
  int32_t stages = 1;
};

struct UnlikeStages {
  std::vector<int32_t> kinds; ///< of stages
  StageCut cut;
  /// Nanoseconds that a stage works on a micro-batch and sends it on, one after
  /// the other.
  std::vector<int64_t> loads;
  /// Of the slowest stage. No other row of the kinds and no other cut has less,
  /// where a transfer takes what it takes behind the slowest kind.
  int64_t bottleneck = 0;
  /// That of stages with as many layers each, in the best row; nothing where
  /// none fits into memory.
  std::optional<int64_t> even;

  std::vector<const cost::TimeModel *>
  clocks(const std::vector<StageKind> &all) const;
};

/// The stages of `strategy`, whose pp is theirs in all and whose cut is not
/// looked at. Errors: a strategy that is structurally invalid, fewer layers
/// than stages, memory that holds no cut, kinds that can be taken in too many
/// ways.
ErrorOr<UnlikeStages> planUnlikeStages(const cost::CostModel &costs,
                                       const Strategy &strategy,
                                       const std::vector<StageKind> &kinds);

} // namespace shardopt::ordering

#endif // SHARDOPT_PLANNING_ORDERING_UNLIKESTAGES_H
