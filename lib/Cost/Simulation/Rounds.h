//===- Rounds.h - Micro-batches in a pipeline -------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_COST_SIMULATION_ROUNDS_H
#define SHARDOPT_LIB_COST_SIMULATION_ROUNDS_H

#include "shardopt/Support/Span.h"

#include <cstdint>
#include <vector>

namespace shardopt::simulation {

/// Times of a pipeline of stages.
struct StageTimes {
  size_t numClasses = 1;    ///< micro-batch m is of class m % numClasses
  std::vector<double> busy; ///< by stage, then class: seconds of a micro-batch
  /// Seconds that a micro-batch travels to the next stage while this one goes
  /// on with the next micro-batch.
  double travel = 0;
  double back = 0; ///< seconds of the way from the last stage to the first

  size_t numStages() const { return busy.size() / numClasses; }
};

/// Seconds between two steps of all of `microBatches` micro-batches, which go
/// round and round and enter each stage in order, once they follow each other
/// steadily.
double roundSeconds(const StageTimes &times, int64_t microBatches);

} // namespace shardopt::simulation

#endif // SHARDOPT_LIB_COST_SIMULATION_ROUNDS_H
