//===- ServiceVariants.cpp - The best of several models and requests ------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/ServiceSides.h"

#include <array>

using namespace shardopt;
using namespace shardopt::service;

namespace {
/// The best plans of both modes, over variants.
class Contest {
public:
  /// Searches the next variant, for what is better than those before.
  void take(const Asked &asked);
  bool isEmpty() const { return !best.aggregated && !best.disaggregated; }
  /// The recommended plan with the best of the other mode of its variant.
  ServiceSummary summary(const std::vector<Asked> &all) const;

private:
  /// What a plan has to beat in place of that of `mode`.
  static std::optional<ServicePlan>
  bound(const std::optional<ServicePlan> &plan);
  static void keep(std::optional<ServicePlan> &best, size_t &from,
                   std::optional<ServicePlan> found, size_t index) {
    if (!found)
      return;
    best = std::move(found);
    from = index;
  }

  Found best;
  size_t fromTogether = 0, fromApart = 0, count = 0;
  ServiceProof proof;
};
} // namespace

std::optional<ServicePlan>
Contest::bound(const std::optional<ServicePlan> &plan) {
  if (!plan)
    return std::nullopt;
  ServicePlan least = *plan;
  least.isBound = true;
  least.tokensPerDevice *= 1 + usualTie;
  least.requestsPerSecond *= 1 + usualTie;
  least.worth *= 1 + usualTie;
  least.times.tpot.ms *= 1 - usualTie;
  return least;
}

void Contest::take(const Asked &asked) {
  ServiceSummary found = asked.summary;
  ServiceShortage shortage;
  findPlans(found, asked.sides, asked.mode, shortage, usualTie,
            {bound(best.aggregated), bound(best.disaggregated)});
  proof += found.proof;
  keep(best.aggregated, fromTogether, std::move(found.aggregated), count);
  keep(best.disaggregated, fromApart, std::move(found.disaggregated), count);
  ++count;
}

ServiceSummary Contest::summary(const std::vector<Asked> &all) const {
  ServiceSummary both = all.front().summary;
  both.aggregated = best.aggregated;
  both.disaggregated = best.disaggregated;
  both.mode = modeOf(both, all.front().mode);
  bool isApart = both.mode == ServiceMode::Disaggregated;
  size_t chosen = isApart ? fromApart : fromTogether;
  ServiceSummary found = all[chosen].summary;
  found.variant = chosen;
  found.asked = all.front().mode;
  found.mode = both.mode;
  found.aggregated = best.aggregated;
  found.disaggregated = best.disaggregated;
  found.proof = proof;
  if (!found.mode || fromTogether == fromApart)
    return found;
  // The other mode is that of another variant.
  const Sides &sides = all[chosen].sides;
  ServiceShortage shortage;
  Found other = service::search(
      *sides.decode, sides.prefill.get(), sides.engine, found.engine,
      found.goal, found.proof, shortage,
      isApart ? ServiceMode::Aggregated : ServiceMode::Disaggregated);
  if (isApart)
    found.aggregated = std::move(other.aggregated);
  else
    found.disaggregated = std::move(other.disaggregated);
  return found;
}

static ErrorOr<ServiceSummary>
planVariantsOn(const std::vector<ServiceVariant> &variants,
               const std::string &engine) {
  std::vector<Asked> all;
  std::vector<size_t> numbers;
  std::optional<Error> wrong;
  Contest contest;
  for (size_t i = 0; i < variants.size(); ++i) {
    ServiceRequest request = variants[i].request;
    request.engine = engine;
    ErrorOr<Asked> asked = Asked::create(variants[i].scenario, request);
    if (!asked) {
      if (!wrong)
        wrong = asked.error();
      continue;
    }
    contest.take(*asked);
    all.push_back(std::move(*asked));
    numbers.push_back(i);
  }
  if (all.empty())
    return *wrong;
  if (all.front().goal().isStopped())
    return Error{"stopped before the best service was found"};
  if (contest.isEmpty()) {
    // Why the first has none.
    ServiceRequest request = variants[numbers.front()].request;
    request.engine = engine;
    return planService(variants[numbers.front()].scenario, request);
  }
  ServiceSummary found = contest.summary(all);
  findOthers(found, all[found.variant]);
  found.variant = numbers[found.variant];
  return found;
}

ErrorOr<ServiceSummary>
shardopt::planVariants(const std::vector<ServiceVariant> &variants) {
  return onEngines(variants.front().request, [&](const ServiceRequest &one) {
    return planVariantsOn(variants, one.engine);
  });
}
