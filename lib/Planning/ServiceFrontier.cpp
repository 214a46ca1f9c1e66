//===- ServiceFrontier.cpp - Throughput against speed ---------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/ServiceFrontier.h"
#include "shardopt/Planning/ServiceSides.h"

#include <cmath>

using namespace shardopt;
using namespace shardopt::service;

/// The engines that are asked for.
static ErrorOr<std::vector<Asked>>
askedOf(const std::shared_ptr<const Scenario> &scenario,
        ServiceRequest request) {
  std::vector<Asked> all;
  std::optional<Error> wrong;
  bool isAny = request.engine == anyEngine;
  for (Engine engine : allEngines) {
    if (isAny)
      request.engine = spell(engine);
    ErrorOr<Asked> asked = Asked::create(scenario, request);
    if (asked)
      all.push_back(std::move(*asked));
    else if (!wrong)
      wrong = asked.error();
    if (!isAny)
      break;
  }
  if (all.empty())
    return *wrong;
  return all;
}

/// What searches on each of them share.
static std::vector<std::unique_ptr<ServiceSearcher>>
searchersOf(const std::vector<Asked> &all) {
  std::vector<std::unique_ptr<ServiceSearcher>> searchers;
  for (const Asked &asked : all)
    searchers.push_back(std::make_unique<ServiceSearcher>(
        *asked.sides.decode, asked.sides.prefill.get(), asked.sides.engine,
        asked.summary.engine, asked.goal()));
  return searchers;
}

/// The best of all engines within a TPOT of `limitMs`; none: there is no plan.
static std::optional<ServiceSummary>
pointOf(const std::vector<Asked> &all,
        const std::vector<std::unique_ptr<ServiceSearcher>> &searchers,
        double limitMs, ServiceProof &proof) {
  std::optional<ServiceSummary> best;
  for (size_t i = 0; i < all.size(); ++i) {
    const Asked &asked = all[i];
    ServiceSummary found = asked.summary;
    found.goal.tpot.ms = limitMs;
    ServiceShortage shortage;
    findPlans(found, *searchers[i], asked.mode, shortage, /*tie=*/0);
    proof += found.proof;
    if (found.best() && (!best || isBetterService(found, *best)))
      best = std::move(found);
  }
  return best;
}

ErrorOr<ServiceFrontier>
shardopt::serviceFrontier(std::shared_ptr<const Scenario> scenario,
                          const ServiceRequest &request, double step) {
  if (!(step >= 0) || std::isinf(step))
    return Error{"the step of a frontier is " + formatNumber(step) +
                 ", expected a number of at least 0"};
  auto all = askedOf(scenario, request);
  if (!all)
    return all.error();
  auto searchers = searchersOf(*all);
  ServiceFrontier frontier;
  LatencyLimit asked = all->front().goal().tpot;
  for (double limit = asked.ms;;) {
    std::optional<ServiceSummary> found =
        pointOf(*all, searchers, limit, frontier.proof);
    if (!found)
      break;
    // Each says the limit that it is the optimum under.
    if (!frontier.points.empty())
      found->load[RequestField::TpotMs] = limit;
    double reached = asked.of<double>(found->best()->times.tpot);
    limit = std::min(reached / (1 + step), std::nextafter(reached, 0));
    // What prefill workers bind is served as often with a lower TPOT.
    if (!frontier.points.empty() &&
        !isBetterService(frontier.points.back(), *found))
      frontier.points.pop_back();
    frontier.points.push_back(std::move(*found));
  }
  if (request.stop && request.stop->requested())
    return Error{"stopped before all points were found"};
  if (!frontier.points.empty())
    return frontier;
  // Why there is none.
  ErrorOr<ServiceSummary> none = planService(std::move(scenario), request);
  if (!none)
    return none.error();
  frontier.points.push_back(std::move(*none));
  return frontier;
}
