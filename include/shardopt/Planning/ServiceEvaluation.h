//===- ServiceEvaluation.h - What a given service attains -------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The counterpart of planService: roles, workers and a load are given, and the
// answer has the form of a plan, with everything that the service breaks. What
// a search returned attains the same numbers here, to the last digit.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_PLANNING_SERVICEEVALUATION_H
#define SHARDOPT_PLANNING_SERVICEEVALUATION_H

#include "shardopt/Cost/Serving/RequestReplay.h"
#include "shardopt/Planning/ServicePlan.h"

namespace shardopt {

/// Equal workers of one role. The batch of `degrees` counts for nothing.
struct GivenRole {
  Degrees degrees;
  int64_t workers = 1;
  std::vector<Dim> dims = {}; ///< of all ops; empty: those of the engine
  bool overlaps = false;      ///< steps work on two micro-batches
};

/// A service of the user's.
struct GivenService {
  std::optional<GivenRole> prefill; ///< none: `decode` prefills, too
  GivenRole decode;
  /// Whether `prefill` is on the machine that may compute prompts, if there is
  /// one, and not on that of `decode`.
  bool isElsewhere = true;
  /// Requests in flight over all workers, which may be parts of one; 0: those
  /// of the load, or as many as are best within the limits.
  double concurrency = 0;

  /// Why it cannot be, as a phrase with what was found; none: it can.
  std::optional<std::string> error() const;
};

/// `given` at the load, the limits and the engine of `request`, whose mode
/// counts for nothing. Where the model has no such layout, or a worker no room
/// for one request, the summary has no plan. An error is in the input.
ErrorOr<ServiceSummary>
evaluateService(std::shared_ptr<const Scenario> scenario,
                const ServiceRequest &request, const GivenService &given);

/// What `traced` requests take one by one in the workers of `given`. Lengths,
/// rate and limits of `request` count for nothing. With a `concurrency` so many
/// requests are in flight, and arrivals count for nothing. An error is in the
/// input, or says why there are no such workers.
ErrorOr<std::vector<cost::ServedRequest>>
replayService(std::shared_ptr<const Scenario> scenario,
              const ServiceRequest &request, const GivenService &given,
              const std::vector<cost::TracedRequest> &traced,
              double concurrency = 0);

/// The roles of a plan, and its load.
GivenService givenBy(const ServicePlan &plan);

/// All that the service does not keep, as a sentence; none: nothing.
std::optional<std::string> whyNotKept(const ServiceSummary &summary);

} // namespace shardopt

#endif // SHARDOPT_PLANNING_SERVICEEVALUATION_H
