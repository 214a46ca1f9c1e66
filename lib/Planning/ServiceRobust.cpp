//===- ServiceRobust.cpp - Plans for what is not known --------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan is worth its least share of the optimum over scenarios. In the
// scenario that is worst for the best plan that is known, no plan attains less
// than it is worth there, so that the bounds of the search in that scenario
// rule out whatever is not better (docs/decisions/0024).
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/ServiceEvaluation.h"
#include "shardopt/Planning/ServiceSides.h"
#include "shardopt/Support/Suggest.h"

#include <algorithm>
#include <map>

using namespace shardopt;
using namespace shardopt::service;
using Robustness = ServiceRobustness;

//===----------------------------------------------------------------------===//
// Bands
//===----------------------------------------------------------------------===//

/// Most bands: two to their number are the corners.
static constexpr size_t mostBands = 4;
/// The band of all times.
static constexpr const char *ofTimes = "times";

/// Whether a band may be of `field`; limits are what is asked for.
static bool mayVary(RequestField field) {
  switch (field) {
  case RequestField::Isl:
  case RequestField::Osl:
  case RequestField::Concurrency:
  case RequestField::AcceptedTokens:
  case RequestField::PrefixCacheHitRate:
  case RequestField::ExpertImbalance:
    return true;
  default:
    return false;
  }
}

/// The request where the number of a band is `value`.
static ErrorOr<ServiceRequest>
withValue(ServiceRequest request, const std::string &name, double value) {
  if (name == ofTimes) {
    if (!(value > 0.01 && value < 100))
      return Error{"'times' is " + formatNumber(value) +
                   ", expected a number above 0.01 and below 100"};
    request.times = value;
    return request;
  }
  std::optional<RequestField> field = parseRequestField(name);
  if (field && mayVary(*field)) {
    if ((*field == RequestField::Isl || *field == RequestField::Osl) &&
        !request.lengths.empty())
      return Error{"'" + name +
                   "' has a band, and requests have several lengths, expected "
                   "one of both"};
    request.load[*field] = value;
    if (std::optional<std::string> why = request.load.error())
      return Error{*why};
    return request;
  }
  auto options =
      cost::parseServingOptions(name + "=" + formatNumber(value, 17));
  if (!options) {
    std::vector<std::string> known = {ofTimes};
    for (const RequestFieldInfo &info : requestFields)
      if (mayVary(info.field))
        known.emplace_back(info.name);
    const std::string &why = options.error().message;
    return why.rfind("unknown", 0) != 0
               ? options.error()
               : Error{"unknown band '" + abbreviate(name) +
                       "', nor is it a constant of the engine such as "
                       "collective_times; " +
                       listKnown(name, known)};
  }
  request.options.insert(request.options.end(), options->begin(),
                         options->end());
  return request;
}

static std::optional<Error> wrongBands(const ServiceRequest &request,
                                       const std::vector<ServiceBand> &bands) {
  if (bands.empty() || bands.size() > mostBands)
    return Error{"there are " + std::to_string(bands.size()) +
                 " bands, expected 1 to " + std::to_string(mostBands) +
                 ", such as prefix_cache_hit_rate=0:0.6"};
  if (request.load[RequestField::Rate] || request.isGoodput)
    return Error{"a robust plan is of the highest throughput, expected no "
                 "request rate and no goodput"};
  for (const ServiceBand &band : bands)
    if (!(band.low < band.high))
      return Error{"the band of '" + band.name + "' is from " +
                   formatNumber(band.low) + " to " + formatNumber(band.high) +
                   ", expected a lower and a higher number"};
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Scenarios
//===----------------------------------------------------------------------===//

namespace {
/// What is asked in one or more of them, which differ in their limits alone.
struct Work {
  static ErrorOr<std::shared_ptr<const Work>>
  create(const std::shared_ptr<const Scenario> &on,
         const ServiceRequest &request);

  Asked asked;
  std::unique_ptr<ServiceSearcher> searcher;
};

/// One, and its optimum.
struct RobustCase {
  std::shared_ptr<const Work> work;
  ServiceGoal goal;
  Robustness::Scenario told;
  Found best; ///< of those that were not known from others

  const Asked &asked() const { return work->asked; }
  ServiceSearcher &search() const { return *work->searcher; }
};

/// All scenarios, and the plan that is worth most.
class Maximin final : public PlanWorth {
public:
  static ErrorOr<Maximin> create(const std::shared_ptr<const Scenario> &on,
                                 const ServiceRequest &request,
                                 const std::vector<ServiceBand> &bands);

  void run();
  /// The plan under the numbers as asked, and what it loses elsewhere; an error
  /// where none meets the limits of all scenarios.
  ErrorOr<ServiceSummary> finished();

  /// Searches the optimum of `one`, for what is better than those before.
  std::optional<Error> findOptimum(RobustCase &one);

  double of(const ServicePlan &plan) const override {
    return share(plan) * cases[driver].told.optimum;
  }

private:
  /// The least share of the optimum; 0 where it is not above the best's.
  double share(const ServicePlan &plan) const;
  /// The scenario in which the best plan has its least share.
  size_t worstCase();

  std::vector<ServiceBand> bands;
  mutable std::vector<RobustCase> cases; ///< they keep what was asked for
  size_t driver = 0;
  mutable std::optional<ServicePlan> best;
  mutable double bestShare = 0;
  mutable ServiceProof proof;
};
} // namespace

/// "isl 4000, times 1.2"
static std::string describe(const std::vector<ServiceBand> &bands,
                            const std::vector<double> &values) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i)
    text += (i ? ", " : "") + bands[i].name + " " + formatNumber(values[i]);
  return values.empty() ? "the numbers as asked" : text;
}

ErrorOr<std::shared_ptr<const Work>>
Work::create(const std::shared_ptr<const Scenario> &on,
             const ServiceRequest &request) {
  ErrorOr<Asked> asked = Asked::create(on, request);
  if (!asked)
    return asked.error();
  auto work = std::make_shared<Work>();
  work->asked = std::move(*asked);
  const Sides &sides = work->asked.sides;
  work->searcher = std::make_unique<ServiceSearcher>(
      *sides.decode, sides.prefill.get(), sides.engine,
      work->asked.summary.engine, work->asked.goal());
  return std::shared_ptr<const Work>(std::move(work));
}

ErrorOr<Maximin> Maximin::create(const std::shared_ptr<const Scenario> &on,
                                 const ServiceRequest &request,
                                 const std::vector<ServiceBand> &bands) {
  if (auto wrong = wrongBands(request, bands))
    return *wrong;
  Maximin all;
  all.bands = bands;
  // Longer times are shorter limits.
  std::map<std::vector<double>, std::shared_ptr<const Work>> known;
  size_t corners = size_t(1) << bands.size();
  for (size_t corner = 0; corner <= corners; ++corner) {
    ServiceRequest one = request;
    RobustCase made;
    std::vector<double> others;
    for (size_t i = 0; corner > 0 && i < bands.size(); ++i) {
      double value = (corner - 1) >> i & 1 ? bands[i].high : bands[i].low;
      auto changed = withValue(std::move(one), bands[i].name, value);
      if (!changed)
        return changed.error();
      one = std::move(*changed);
      made.told.values.push_back(value);
      if (bands[i].name != ofTimes)
        others.push_back(value);
    }
    std::shared_ptr<const Work> &work = known[others];
    if (!work) {
      auto created = Work::create(on, one);
      if (!created)
        return created.error();
      work = std::move(*created);
    }
    ErrorOr<ServiceSummary> asked = summaryOf(on, one);
    if (!asked)
      return asked.error();
    made.work = work;
    made.goal = asked->goal;
    all.cases.push_back(std::move(made));
  }
  for (RobustCase &one : all.cases)
    if (auto wrong = all.findOptimum(one))
      return *wrong;
  return all;
}

std::optional<Error> Maximin::findOptimum(RobustCase &one) {
  // The usual plan has both modes.
  Found known;
  for (const RobustCase &before : cases) {
    if (&before == &one)
      break;
    for (const auto *plan :
         {&before.best.aggregated, &before.best.disaggregated}) {
      double rate = *plan ? one.search().attained(**plan, one.goal,
                                                  one.told.optimum, proof)
                          : 0;
      if (rate <= one.told.optimum)
        continue;
      one.told.optimum = rate;
      known.aggregated = **plan;
      known.aggregated->isBound = true;
      known.aggregated->worth = rate;
      known.disaggregated = known.aggregated;
    }
  }
  ServiceShortage shortage;
  one.best =
      one.search().find(one.goal, proof, shortage, one.asked().mode, known);
  for (const auto *plan : {&one.best.aggregated, &one.best.disaggregated})
    if (*plan)
      one.told.optimum = std::max(one.told.optimum, (*plan)->requestsPerSecond);
  if (one.goal.isStopped())
    return Error{"stopped before the best service was found"};
  if (one.told.optimum <= 0)
    return Error{"no plan on " + std::to_string(one.goal.allDevices()) +
                 " devices meets the SLOs with " +
                 describe(bands, one.told.values)};
  return std::nullopt;
}

double Maximin::share(const ServicePlan &plan) const {
  double least = 1;
  // The hardest first: where the best plan is worst.
  for (size_t i = 0; i < cases.size(); ++i) {
    RobustCase &one = cases[i == 0 ? driver : i <= driver ? i - 1 : i];
    double rate = one.search().attained(plan, one.goal,
                                        bestShare * one.told.optimum, proof);
    least = std::min(least, rate / one.told.optimum);
    if (least <= bestShare)
      return 0;
  }
  best = plan;
  bestShare = least;
  return least;
}

size_t Maximin::worstCase() {
  size_t worst = 0;
  double least = 2;
  for (size_t i = 0; i < cases.size(); ++i) {
    RobustCase &one = cases[i];
    double found =
        one.search().attained(*best, one.goal, 0, proof) / one.told.optimum;
    if (found < least) {
      least = found;
      worst = i;
    }
  }
  return worst;
}

void Maximin::run() {
  for (const RobustCase &one : cases)
    for (const auto *plan : {&one.best.aggregated, &one.best.disaggregated})
      if (*plan)
        share(**plan);
  if (!best) // every optimum misses the limits of another scenario
    driver = cases.size() - 1;
  else
    driver = worstCase();
  RobustCase &one = cases[driver];
  ServiceGoal goal = one.goal;
  goal.worth = this;
  for (ServiceMode mode :
       {ServiceMode::Aggregated, ServiceMode::Disaggregated}) {
    if (one.asked().mode && *one.asked().mode != mode)
      continue;
    std::optional<ServicePlan> known;
    if (best) {
      known = *best;
      known->isBound = true;
      known->worth = bestShare * one.told.optimum;
    }
    ServiceShortage shortage;
    one.search().find(goal, proof, shortage, mode, {known, known});
  }
}

ErrorOr<ServiceSummary> Maximin::finished() {
  const RobustCase &usual = cases.front();
  if (usual.goal.isStopped())
    return Error{"stopped before the best service was found"};
  if (!best)
    return Error{"no plan on " + std::to_string(usual.goal.allDevices()) +
                 " devices meets the SLOs in all " +
                 std::to_string(cases.size()) + " scenarios"};
  ServiceSummary found = usual.asked().summary;
  found.asked = usual.asked().mode;
  Robustness robustness;
  robustness.bands = bands;
  found.aggregated = usual.best.aggregated;
  found.disaggregated = usual.best.disaggregated;
  found.mode = modeOf(found, usual.asked().mode);
  ServicePlan asAsked = *found.best();
  for (RobustCase &one : cases) {
    one.told.attained = one.search().attained(*best, one.goal, 0, proof);
    one.told.usual = one.search().attained(asAsked, one.goal, 0, proof);
    robustness.scenarios.push_back(one.told);
  }
  GivenService given = givenBy(*best);
  given.concurrency = 0;
  found.aggregated.reset();
  found.disaggregated.reset();
  judgeService(found, usual.asked().sides, given);
  found.breaches.reset();
  found.proof = proof;
  found.robustness = std::move(robustness);
  return found;
}

ErrorOr<ServiceSummary>
shardopt::planRobust(std::shared_ptr<const Scenario> scenario,
                     const ServiceRequest &request,
                     const std::vector<ServiceBand> &bands) {
  return onEngines(request, [&](const ServiceRequest &one) {
    ErrorOr<Maximin> all = Maximin::create(scenario, one, bands);
    if (!all)
      return ErrorOr<ServiceSummary>(all.error());
    all->run();
    return all->finished();
  });
}
