//===- Schedule.h - How a stage interleaves its work ------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_COST_SIMULATION_SCHEDULE_H
#define SHARDOPT_LIB_COST_SIMULATION_SCHEDULE_H

#include "LayerProgram.h"

namespace shardopt::simulation {

/// What a runtime may choose when it executes a strategy.
struct Schedule {
  bool overlaps = false; ///< communication runs during computation
  /// Parts of a micro-batch that are computed in turns, so that one computes
  /// while another communicates.
  int64_t chunks = 1;
  /// Each chunk is half a layer behind the one before it, and not in step.
  bool isStaggered = false;
  /// Parts of a kernel's result. A collective that follows sends each of them
  /// as soon as it is made.
  int slices = 1;
};

/// Times of the layers of one kind in a stage.
struct LayerTimes {
  double fill = 0;  ///< seconds before layers follow each other steadily
  double layer = 0; ///< seconds of each layer then
  double send = 0;  ///< seconds of a transfer to the next stage meanwhile
};

/// Samples of layers of one kind that follow each other in turns.
using LayerSamples = Span<const LayerProgram>;

/// Runs some layers one after the other on `events`, and extrapolates. `send`
/// is the transfer of the previous micro-batch, which starts with the first
/// layer; no seconds if there is none.
LayerTimes simulateLayers(EventSimulation &events, LayerSamples samples,
                          const Schedule &schedule, const Task &send);

} // namespace shardopt::simulation

#endif // SHARDOPT_LIB_COST_SIMULATION_SCHEDULE_H
