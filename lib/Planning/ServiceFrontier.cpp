//===- ServiceFrontier.cpp - Throughput against speed ---------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/ServiceFrontier.h"
#include "shardopt/Planning/ServiceSides.h"

#include <cmath>
#include <limits>

using namespace shardopt;

/// The better plan of the modes that are asked for; none: there is no plan.
static std::optional<ServicePlan> bestOf(service::Found found,
                                         std::optional<ServiceMode> mode) {
  if (mode == ServiceMode::Aggregated)
    return std::move(found.aggregated);
  if (mode == ServiceMode::Disaggregated || !found.aggregated)
    return std::move(found.disaggregated);
  const bool isApart =
      found.disaggregated &&
      found.disaggregated->tokensPerDevice > found.aggregated->tokensPerDevice;
  return std::move(isApart ? found.disaggregated : found.aggregated);
}

ErrorOr<ServiceFrontier>
shardopt::serviceFrontier(std::shared_ptr<const Scenario> scenario,
                          const ServiceRequest &request, double step) {
  if (!(step >= 0) || std::isinf(step))
    return Error{"the step of a frontier is " + formatNumber(step) +
                 ", expected a number of at least 0"};
  if (request.load[RequestField::Rate])
    return Error{"a frontier is of what a service can serve, and 'rate' says "
                 "what it is to serve"};
  ErrorOr<ServiceSummary> asked =
      service::summaryOf(std::move(scenario), request);
  if (!asked)
    return asked.error();
  ErrorOr<service::Sides> sides = service::sidesOf(*asked);
  if (!sides)
    return sides.error();
  if (!request.load[RequestField::TpotMs])
    asked->goal.tpot.ms = std::numeric_limits<double>::infinity();
  ServiceGoal goal = asked->goal;
  ServiceFrontier frontier;
  while (true) {
    ServiceShortage shortage;
    std::optional<ServicePlan> plan = bestOf(
        service::search(*sides->decode, sides->prefill.get(), sides->engine,
                        asked->engine, goal, asked->proof, shortage),
        request.mode);
    if (!plan)
      break;
    const double reached = goal.tpot.of<double>(plan->times.tpot);
    goal.tpot.ms = std::min(reached / (1 + step), std::nextafter(reached, 0));
    // What prefill workers bind is served as often with a lower TPOT.
    if (!frontier.points.empty() &&
        plan->tokensPerDevice >= frontier.points.back().tokensPerDevice)
      frontier.points.pop_back();
    frontier.points.push_back(std::move(*plan));
  }
  frontier.summary = std::move(*asked);
  return frontier;
}
