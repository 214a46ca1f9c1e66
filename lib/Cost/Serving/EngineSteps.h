//===- EngineSteps.h - Steps with what an engine adds -----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the formulas of ServiceLoop and the events of RequestReplay share.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_COST_SERVING_ENGINESTEPS_H
#define SHARDOPT_LIB_COST_SERVING_ENGINESTEPS_H

#include "shardopt/Cost/Serving/ServiceLoop.h"

#include <algorithm>

namespace shardopt::cost {

/// Share of its network that a transfer of caches attains.
inline constexpr double networkShare = 0.8;

/// What the host adds to a step of `sequences`, microseconds.
template <typename Number>
Number hostUs(const ServingEngine &engine, Number sequences) {
  bool isCritical = engine.isCpuBound || engine.kind == Engine::Sglang;
  double each = engine.alwaysUs + (engine.isCpuBound ? engine.sequenceUs : 0);
  return each * sequences + (isCritical ? engine.stepUs : 0);
}

/// Least time of a step with prompts, which is no graph, microseconds.
inline double eagerUs(const ServingEngine &engine, const Model &model) {
  return engine.isCpuBound && !model.hasExperts()
             ? engine.eagerLayerUs * double(model.numLayers())
             : 0;
}

/// Of the step of an attention group, microseconds; its sequences are spread
/// over as many micro-batches as there are stages.
inline double stepUs(const ServingWorker &worker, const ServingEngine &engine,
                     StepMix mix) {
  mix.sequences /= double(worker.steps->degrees().pp);
  return worker.steps->seconds(mix) * 1e6 + engine.launchUs;
}

/// The same of a step with prompts.
inline double promptStepUs(const ServingWorker &worker,
                           const ServingEngine &engine, const StepMix &mix) {
  return std::max(stepUs(worker, engine, mix),
                  eagerUs(engine, worker.steps->costs().model()));
}

/// Tokens of a prompt that have to be computed if the prefix cache has a share
/// `found` of it.
inline double computedTokens(double inputTokens, double found) {
  return std::max(std::min(1.0, inputTokens), inputTokens * (1 - found));
}

/// Steps in which an answer is made.
inline double answerSteps(double outputTokens, double accepted) {
  return std::max(std::min(1.0, outputTokens), outputTokens / (1 + accepted));
}

} // namespace shardopt::cost

#endif // SHARDOPT_LIB_COST_SERVING_ENGINESTEPS_H
