//===- Patterns.h - Graphs of pipelines -------------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SCHEDULE_PATTERNS_H
#define SHARDOPT_SOLVERS_SCHEDULE_PATTERNS_H

#include "shardopt/Solvers/Schedule/PlanGraph.h"

namespace shardopt::schedule {

/// Which device runs which chunk of a model.
enum class Placement : uint8_t {
  Linear,        ///< chunk s on device s
  Bidirectional, ///< a second copy of the model the other way round
  V,             ///< two chunks a device: s and 2 P - 1 - s
  Wave,          ///< four chunks a device: a V, twice
  Free           ///< the solver chooses
};

/// The times of a chunk.
struct TrainTimes {
  int64_t forward = 1, inputGradient = 1, weightGradient = 1;
};

/// The chunks of a model that is trained.
struct TrainChunks {
  struct Chunk {
    TrainTimes times;
    int64_t activation = 1; ///< from its forward pass to its weight gradient
    int64_t parameters = 0;
  };
  std::vector<Chunk> chunks; ///< in the order of the forward pass
  int64_t send = 0;          ///< time between chunks on different devices
};

/// The four steps of a layer of experts: attention, dispatch, experts, combine.
/// The second and the fourth occupy the comm machine.
struct ExpertTimes {
  int64_t attention = 2, dispatch = 2, experts = 2, combine = 2;
};

struct Pipeline {
  Placement placement = Placement::Linear;
  int32_t devices = 1;
  std::optional<int64_t> memory; ///< activations of chunks that fit

  /// Chunks that a micro-batch goes through.
  int32_t chunks() const;
  /// Micro-batches in a repetition of the graph.
  int32_t directions() const {
    return placement == Placement::Bidirectional ? 2 : 1;
  }
  int32_t deviceOf(int32_t direction, int32_t chunk) const;
};

/// Forward, input gradient and weight gradient of each chunk. The activation of
/// a chunk lives from the start of its forward pass to the end of its weight
/// gradient. The second direction has micro-batches from `copies` on. `train`
/// has as many chunks as the pipeline.
PlanGraph makeChunkGraph(const Pipeline &pipeline, const TrainChunks &train,
                         int32_t copies);
/// The same of equal chunks, with memory in units of their activations.
PlanGraph makeTrainGraph(const Pipeline &pipeline, const TrainTimes &times,
                         int32_t copies);
/// Chunks that are all alike.
TrainChunks equalChunks(const Pipeline &pipeline, const TrainTimes &times);

/// The same with chunks of single operators: A, D, E, C forward, C', E', D', A'
/// backward, WE and WA, which together end the activation.
PlanGraph makeExpertTrainGraph(const Pipeline &pipeline,
                               const ExpertTimes &times, int32_t copies);

/// Two-batch overlap: `layers` times A, D, E, C on one device; each micro-batch
/// is a batch of its own.
PlanGraph makeOverlapGraph(int32_t layers, const ExpertTimes &times);

/// Decoding on a ring of stages: a group of requests goes through all of them,
/// `send` between two, and once round for each token. A repetition is a group.
PlanGraph makeDecodeGraph(const std::vector<int64_t> &stageTimes, int64_t send,
                          int32_t tokens);

/// Chunked prefill: chunk k of the prompt takes times[k] on each of `stages`
/// devices, and on each one waits for the chunk before it, whose keys and
/// values it reads. A single repetition.
PlanGraph makePrefillGraph(int32_t stages, const std::vector<int64_t> &times);

} // namespace shardopt::schedule

#endif // SHARDOPT_SOLVERS_SCHEDULE_PATTERNS_H
