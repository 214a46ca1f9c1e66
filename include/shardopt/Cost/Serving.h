//===- Serving.h - Continuous batching at steady state ----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_SERVING_H
#define SHARDOPT_COST_SERVING_H

#include "shardopt/Cost/ServingStep.h"

namespace shardopt::cost {

/// What is asked of a replica.
struct ServingLoad {
  double inputTokens = 1;  ///< of a request, in the mean
  double outputTokens = 1; ///< likewise
  double concurrency = 1;  ///< requests in flight over the whole replica
  ServingTraits traits = {};
};

/// A predicted time, the mean over requests, and between which 80 % of measured
/// ones are; and what half and nine in ten of the requests are within
/// (docs/Serving.md).
struct ServingTime {
  double ms = 0, low = 0, high = 0;
  double p50 = 0, p90 = 0;
};

struct ServingTimes {
  ServingTime tpot, ttft;
  double sequences = 0;    ///< decoding in an attention group, in the mean
  double admitted = 0;     ///< requests in flight in a group; the others wait
  double sentUs = 0;       ///< of which TTFT is the way of a cache
  ServingStep::Terms step; ///< one that only decodes, microseconds
};

/// A replica that decodes and reads prompts in the same steps. An error where
/// the weights leave no memory for one request.
ErrorOr<ServingTimes> serveAggregated(const calibrated::CalibratedKernels &,
                                      const ServingSetup &setup,
                                      const ServingEngine &engine,
                                      const ServingLoad &load);

/// Replicas of one kind, and how many of them there are.
struct ServingWorkers {
  ServingSetup setup;
  double count = 1;
};

/// Replicas that read prompts and hand their caches to replicas that decode,
/// over the network; `load` is that of all together. Where prompts are read on
/// another machine, `reading` are its kernels, and the slower network counts.
ErrorOr<ServingTimes>
serveDisaggregated(const calibrated::CalibratedKernels &,
                   const ServingWorkers &readers,
                   const ServingWorkers &decoders, const ServingEngine &engine,
                   const ServingLoad &load,
                   const calibrated::CalibratedKernels *reading = nullptr);

} // namespace shardopt::cost

#endif // SHARDOPT_COST_SERVING_H
