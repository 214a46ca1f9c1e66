//===- ServiceFrontier.cpp - Throughput against speed ---------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/ServiceFrontier.h"
#include "shardopt/Planning/ServiceSides.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace shardopt;
using namespace shardopt::service;

namespace {
/// The variants and the engines that are asked for, and what their searches
/// keep.
class Contenders {
public:
  static ErrorOr<Contenders>
  create(const std::vector<ServiceVariant> &variants);

  const ServiceGoal &goal() const { return all.front().goal(); }
  /// The best within a TPOT of `limitMs`; none: there is no plan.
  std::optional<ServiceSummary> pointOf(double limitMs, ServiceProof &proof);

private:
  /// Searches one of them, for what is better than `known`.
  ServiceSummary found(size_t index, double limitMs,
                       std::optional<ServicePlan> known) const;

  std::vector<Asked> all;
  std::vector<std::unique_ptr<ServiceSearcher>> searchers;
  size_t last = 0; ///< the best of the last point
};
} // namespace

ErrorOr<Contenders>
Contenders::create(const std::vector<ServiceVariant> &variants) {
  Contenders made;
  std::optional<Error> wrong;
  for (size_t i = 0; i < variants.size(); ++i) {
    ServiceRequest request = variants[i].request;
    bool isAny = request.engine == anyEngine;
    for (Engine engine : allEngines) {
      if (isAny)
        request.engine = spell(engine);
      ErrorOr<Asked> asked = Asked::create(variants[i].scenario, request);
      if (asked) {
        asked->summary.variant = i;
        made.all.push_back(std::move(*asked));
      } else if (!wrong) {
        wrong = asked.error();
      }
      if (!isAny)
        break;
    }
  }
  if (made.all.empty())
    return *wrong;
  for (const Asked &asked : made.all)
    made.searchers.push_back(std::make_unique<ServiceSearcher>(
        *asked.sides.decode, asked.sides.prefill.get(), asked.sides.engine,
        asked.summary.engine, asked.goal()));
  return made;
}

ServiceSummary Contenders::found(size_t index, double limitMs,
                                 std::optional<ServicePlan> known) const {
  const std::optional<ServiceMode> &asked = all[index].mode;
  ServiceSummary found = all[index].summary;
  found.goal.tpot.ms = limitMs;
  found.asked = asked;
  found.isOtherSought = false;
  ServiceShortage shortage;
  for (ServiceMode mode :
       {ServiceMode::Aggregated, ServiceMode::Disaggregated}) {
    if (asked && *asked != mode)
      continue;
    if (known)
      known->isBound = true;
    Found one = searchers[index]->find(found.goal, found.proof, shortage, mode,
                                       {known, known});
    std::optional<ServicePlan> &plan =
        mode == ServiceMode::Aggregated ? one.aggregated : one.disaggregated;
    if (!plan)
      continue;
    // The best of both is the only one that is told.
    known = plan;
    found.aggregated = std::move(one.aggregated);
    found.disaggregated = std::move(one.disaggregated);
    found.mode = mode;
  }
  return found;
}

std::optional<ServiceSummary> Contenders::pointOf(double limitMs,
                                                  ServiceProof &proof) {
  // The best of the last point is first: what it attains rules out most of the
  // others.
  std::vector<size_t> order(all.size());
  std::iota(order.begin(), order.end(), size_t(0));
  std::rotate(order.begin(), order.begin() + ptrdiff_t(last),
              order.begin() + ptrdiff_t(last) + 1);
  std::optional<ServiceSummary> best;
  std::optional<ServicePlan> known;
  for (size_t index : order) {
    ServiceSummary one = found(index, limitMs, known);
    proof += one.proof;
    if (!one.best())
      continue;
    known = *one.best();
    best = std::move(one);
    last = index;
  }
  return best;
}

ErrorOr<ServiceFrontier>
shardopt::serviceFrontier(std::shared_ptr<const Scenario> scenario,
                          const ServiceRequest &request, double step) {
  return serviceFrontier({{std::move(scenario), request}}, step);
}

ErrorOr<ServiceFrontier>
shardopt::serviceFrontier(const std::vector<ServiceVariant> &variants,
                          double step) {
  if (!(step >= 0) || std::isinf(step))
    return Error{"the step of a frontier is " + formatNumber(step) +
                 ", expected a number of at least 0"};
  auto all = Contenders::create(variants);
  if (!all)
    return all.error();
  ServiceFrontier frontier;
  LatencyLimit asked = all->goal().tpot;
  for (double limit = asked.ms;;) {
    std::optional<ServiceSummary> found = all->pointOf(limit, frontier.proof);
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
  if (all->goal().isStopped())
    return Error{"stopped before all points were found"};
  if (!frontier.points.empty())
    return frontier;
  // Why there is none.
  const auto &[scenario, request] = variants.front();
  ErrorOr<ServiceSummary> none = planService(scenario, request);
  if (!none)
    return none.error();
  frontier.points.push_back(std::move(*none));
  return frontier;
}
