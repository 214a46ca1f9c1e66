//===- RequestReplay.h - Requests served one by one -------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A discrete-event simulation of continuous batching: what the formulas of
// ServiceLoop say of requests in the mean, for requests with lengths and
// arrivals of their own (docs/Serving.md).
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_SERVING_REQUESTREPLAY_H
#define SHARDOPT_COST_SERVING_REQUESTREPLAY_H

#include "shardopt/Cost/Serving/ServiceLoop.h"
#include "shardopt/Support/Stop.h"

#include <vector>

namespace shardopt::cost {

struct TracedRequest {
  double arrivalS = 0; ///< at or after that of the request before
  double inputTokens = 1;
  double outputTokens = 1;
  double cachedTokens = 0; ///< of the prompt that the prefix cache has
};

/// When the tokens of a request come, seconds.
struct ServedRequest {
  double arrivalS = 0, firstTokenS = 0, endS = 0;
};

struct ReplayOptions {
  /// Without `found`, which each request has of its own, and `skew`, which
  /// steps are made with.
  ServingTraits traits = {};
  /// Requests in flight: the next one arrives when one ends, and arrivals of
  /// the trace count for nothing; 0: they arrive as the trace says.
  double concurrency = 0;
  const StopToken *stop = nullptr; ///< may be null; a stop is an error
};

/// What `requests` take in workers that prefill and decode, in their order. A
/// request goes to the attention group with the fewest in flight. An error is a
/// request for whose cache no group has room.
ErrorOr<std::vector<ServedRequest>>
replayAggregated(const ServingPool &workers, const ServingEngine &engine,
                 const std::vector<TracedRequest> &requests,
                 const ReplayOptions &options);

/// The same where `prefill` workers compute prompts, in order of arrival, and
/// send the caches to `decode` workers.
ErrorOr<std::vector<ServedRequest>>
replayDisaggregated(const ServingPool &prefill, const ServingPool &decode,
                    const ServingEngine &engine,
                    const std::vector<TracedRequest> &requests,
                    const ReplayOptions &options);

} // namespace shardopt::cost

#endif // SHARDOPT_COST_SERVING_REQUESTREPLAY_H
