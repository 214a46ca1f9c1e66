//===- TrainingStep.h - A model that is trained, in chunks ------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The forward pass, the gradients of inputs and those of weights of each layer,
// from the kernels and collectives of its ops. A chunk is a number of layers,
// the first one with the embedding and the last one with the head.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_PLANNING_ORDERING_TRAININGSTEP_H
#define SHARDOPT_PLANNING_ORDERING_TRAININGSTEP_H

#include "shardopt/Cost/CostModel.h"
#include "shardopt/Solvers/Schedule/Patterns.h"

namespace shardopt::ordering {

/// Bytes of a device for each parameter: weights in 16 bits, and gradient,
/// weights and both moments of Adam in 32.
constexpr int64_t bytesOfTrainedParameter = 18;

/// A micro-batch of a program in training. Times are nanoseconds.
class TrainingStep {
public:
  /// That of `strategy`, whose stages are the devices of the pipeline. An error
  /// unless the program is a prefill, and where `makeStepGraph` has one.
  static ErrorOr<TrainingStep> create(const cost::CostModel &costs,
                                      const Strategy &strategy);

  /// In the chunks of `pipeline`; nothing where there are fewer layers. Of
  /// three divisions that in which an order made by hand for the placement
  /// takes the least: with even chunks, with even devices, and with devices
  /// that work less if they start later.
  std::optional<schedule::TrainChunks>
  divide(const schedule::Pipeline &pipeline, int32_t microbatches) const;

private:
  /// Embedding, layers, head.
  std::vector<schedule::TrainChunks::Chunk> nodes;
  int64_t send = 0;
};

} // namespace shardopt::ordering

#endif // SHARDOPT_PLANNING_ORDERING_TRAININGSTEP_H
