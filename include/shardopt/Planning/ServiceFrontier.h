//===- ServiceFrontier.h - Throughput against speed -------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What users get of a machine against what its owner gets: tokens a second of a
// user (1 / TPOT) against tokens a second per GPU.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_PLANNING_SERVICEFRONTIER_H
#define SHARDOPT_PLANNING_SERVICEFRONTIER_H

#include "shardopt/Planning/ServicePlan.h"

#include <string>
#include <vector>

namespace shardopt {

/// By how much a point is faster than the one before, at least.
inline constexpr double defaultFrontierStep = 0.05;

struct ServiceFrontier {
  ServiceProof proof; ///< over all points
  /// By descending TPOT, and by descending throughput. No service serves more
  /// tokens a second per GPU than one of these in no more TPOT than its own.
  /// Each has the limit on TPOT that it is the optimum under. Where nothing
  /// meets the limits, one that has no plan and says why.
  std::vector<ServiceSummary> points;
};

/// The services among which nothing is better in throughput and TPOT, within
/// the limits of `request`: each is the optimum of all that have at most its
/// TPOT. Of neighbours the faster has at most the TPOT of the other over
/// 1 + `step`; 0: all there are. The TPOT is the mean, or of the percentile
/// that its limit is on. At a rate it is a frontier of cost, GPUs where there
/// are no prices. With the engine "any" points are of the best one for each.
ErrorOr<ServiceFrontier>
serviceFrontier(std::shared_ptr<const Scenario> scenario,
                const ServiceRequest &request,
                double step = defaultFrontierStep);
/// The same over several models and requests, as `planVariants` takes them:
/// each point is the optimum of all, and says its `variant`.
ErrorOr<ServiceFrontier>
serviceFrontier(const std::vector<ServiceVariant> &variants,
                double step = defaultFrontierStep);

/// "points", each as `serviceJson` has it, and the numbers of their "variants".
std::string frontierJson(const ServiceFrontier &frontier);

} // namespace shardopt

#endif // SHARDOPT_PLANNING_SERVICEFRONTIER_H
