//===- ServicePlan.cpp - From requests to workers and strategies ----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/ServicePlan.h"
#include "shardopt/Planning/ServiceSides.h"
#include "shardopt/Support/Choice.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace shardopt;
using namespace shardopt::service;

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

const char *shardopt::spell(ServiceMode mode) {
  return mode == ServiceMode::Aggregated ? "aggregated" : "disaggregated";
}

ErrorOr<std::optional<ServiceMode>>
shardopt::parseServiceMode(const std::string &text) {
  using Mode = std::optional<ServiceMode>;
  return parseChoice<Mode>("mode", text,
                           {{"best", std::nullopt},
                            {"aggregated", ServiceMode::Aggregated},
                            {"disaggregated", ServiceMode::Disaggregated}});
}

std::string LatencyLimit::describe() const {
  return formatNumber(ms) + " ms (" +
         (percentile ? "p" + std::to_string(percentile) : "mean") + ")";
}

std::optional<std::string> ServiceRequest::error() const {
  if (std::optional<std::string> why = load.error())
    return why;
  if (!load.hasRequests())
    return "a service needs the lengths of its requests, 'isl' and 'osl'";
  if (!lengths.empty())
    if (std::optional<std::string> why = cost::whyNoLengths(lengths))
      return why;
  if (isGoodput && load[RequestField::Rate])
    return "goodput is of the highest throughput, expected no request rate";
  if (isGoodput && (load[RequestField::TpotPercentile] ||
                    load[RequestField::TtftPercentile]))
    return "goodput counts single requests, expected SLOs without percentiles";
  constexpr int64_t most = 100000;
  for (auto [name, number] : {std::pair("devices", devices),
                              std::pair("prefill-devices", prefillDevices)})
    if (number < 0 || number > most)
      return std::string("'") + name + "' is " + std::to_string(number) +
             ", expected a number from 0 to " + std::to_string(most);
  if (prefillDevices > 0 && prefillMachine.empty())
    return "there are " + std::to_string(prefillDevices) +
           " prefill devices without a machine, expected 'prefill-machine'";
  if (!(chunkTokens >= 0 && chunkTokens <= 1e6) ||
      chunkTokens != std::floor(chunkTokens))
    return "'chunk' is " + formatNumber(chunkTokens) +
           ", expected a whole number of tokens from 1 to 1000000";
  for (auto [name, dollars] :
       {std::pair("price", price), std::pair("prefill-price", prefillPrice)})
    if (!(dollars >= 0 && dollars <= 1e6))
      return std::string("'") + name + "' is " + formatNumber(dollars) +
             ", expected dollars of a GPU for an hour, from 0 to 1e6";
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

ServiceProof &ServiceProof::operator+=(const ServiceProof &other) {
  layouts += other.layouts;
  pairs += other.pairs;
  prunedPairs += other.prunedPairs;
  evaluations += other.evaluations;
  intervals += other.intervals;
  gap = std::max(gap, other.gap);
  return *this;
}

const ServicePlan *ServiceSummary::best() const {
  if (!mode)
    return nullptr;
  return *mode == ServiceMode::Aggregated ? &*aggregated : &*disaggregated;
}

/// The fewest devices, of more than one domain in whole domains, with which
/// there is a plan; 0: as many as `mostTimes` those of the goal do not suffice.
static int64_t fewestDevices(const Asked &asked) {
  const ServiceSummary &summary = asked.summary;
  const Sides &sides = asked.sides;
  std::optional<ServiceMode> mode = asked.mode;
  constexpr int64_t mostTimes = 8;
  int64_t domain = sides.decode->domainSize();
  int64_t from = summary.goal.devices / domain + 1;
  ServiceProof effort;
  auto isOver = [&] { return summary.goal.isStopped(); };
  // The search in one mode is the quicker one: it finds devices that suffice.
  auto isEnough = [&](int64_t devices,
                      std::initializer_list<ServiceMode> modes) {
    ServiceGoal goal = summary.goal;
    goal.devices = devices;
    ServiceShortage shortage;
    for (ServiceMode one : modes) {
      if ((mode && *mode != one) || isOver())
        continue;
      Found found =
          service::search(*sides.decode, sides.prefill.get(), sides.engine,
                          summary.engine, goal, effort, shortage, one);
      if (found.aggregated || found.disaggregated)
        return true;
    }
    return false;
  };
  constexpr ServiceMode one = ServiceMode::Aggregated,
                        two = ServiceMode::Disaggregated;
  // Of `unit` devices each; fewer than `least` are too few, `enough` are not.
  auto fewestBetween = [&](int64_t least, int64_t enough, int64_t unit) {
    while (least < enough && !isOver()) {
      int64_t middle = (least + enough) / 2;
      if (isEnough(middle * unit, {one, two}))
        enough = middle;
      else
        least = middle + 1;
    }
    return enough * unit;
  };
  int64_t enough = from, least = from;
  while (enough <= mostTimes * from && !isEnough(enough * domain, {one}))
    enough *= 2;
  if (enough > mostTimes * from) {
    // More devices meet no fewer limits, so the most of them answer for all.
    if (!isEnough(mostTimes * from * domain, {one, two}))
      return 0;
    for (enough = from; !isEnough(enough * domain, {one, two}); enough *= 2) {
      if (isOver())
        return 0;
      least = enough + 1;
    }
  }
  if (enough == 1)
    return fewestBetween(summary.goal.devices + 1, domain, 1);
  return fewestBetween(least, enough, domain);
}

/// What would be met in the place of a limit, the rate and all else as they
/// are; says whether there are both.
static std::pair<bool, bool> findNearest(const Asked &asked,
                                         ServiceShortage &shortage) {
  constexpr int64_t mostEffort = 20'000;
  auto tpot = nearestLimit(asked, &ServiceGoal::tpot, &cost::ServingTimes::tpot,
                           shortage.leastTpotMs, mostEffort);
  auto ttft = nearestLimit(asked, &ServiceGoal::ttft, &cost::ServingTimes::ttft,
                           shortage.leastTtftMs, mostEffort);
  if (tpot)
    shortage.nearestTpotMs = tpot->ms;
  if (ttft)
    shortage.nearestTtftMs = ttft->ms;
  return {tpot.has_value(), ttft.has_value()};
}

/// Which limit is missed, and what would be met in its place.
static void findMissed(const Asked &asked, ServiceShortage &shortage) {
  shortage.part = "limits";
  auto [hasTpot, hasTtft] = findNearest(asked, shortage);
  const ServiceGoal &goal = asked.goal();
  bool missesTpot = shortage.leastTpotMs > goal.tpot.ms,
       missesTtft = shortage.leastTtftMs > goal.ttft.ms;
  if (hasTpot != hasTtft)
    shortage.part = hasTpot ? "tpot" : "ttft";
  else if (!hasTpot && missesTpot != missesTtft)
    shortage.part = missesTpot ? "tpot" : "ttft";
}

ServiceShortage service::explain(const Asked &asked, ServiceShortage shortage,
                                 bool seeksDevices) {
  if (asked.goal().rate > 0) {
    ServiceGoal any = asked.goal();
    any.rate = 0;
    ServiceSummary found = asked.under(any, shortage);
    if (const ServicePlan *best = found.best()) {
      shortage.part = "rate";
      shortage.mostRequestsPerSecond = best->requestsPerSecond;
      findNearest(asked, shortage);
    }
  }
  if (shortage.part.empty())
    findMissed(asked, shortage);
  if (seeksDevices && shortage.part != "engine")
    shortage.fewestDevices = fewestDevices(asked);
  return shortage;
}

namespace {
/// The best plans of each mode. One is worth what the last of them attains, so
/// that a search goes on until it has them all.
class Candidates final : public PlanWorth {
public:
  explicit Candidates(size_t count) : count(count) {}

  double of(const ServicePlan &plan) const override {
    std::vector<ServicePlan> &kept = byMode[size_t(plan.mode())];
    auto at = std::upper_bound(kept.begin(), kept.end(), plan, isBefore);
    kept.insert(at, plan);
    if (kept.size() > count)
      kept.pop_back();
    return kept.size() < count ? 0 : kept.back().requestsPerSecond;
  }
  /// Puts them into `summary`.
  void tell(ServiceSummary &summary, std::optional<ServiceMode> asked) const;

private:
  static bool isBefore(const ServicePlan &a, const ServicePlan &b) {
    return a.requestsPerSecond > b.requestsPerSecond;
  }

  size_t count;
  mutable std::array<std::vector<ServicePlan>, 2> byMode;
};
} // namespace

void Candidates::tell(ServiceSummary &summary,
                      std::optional<ServiceMode> asked) const {
  const auto &[together, apart] = byMode;
  if (!together.empty())
    summary.aggregated = together.front();
  if (!apart.empty())
    summary.disaggregated = apart.front();
  summary.mode = modeOf(summary, asked);
  for (ServiceMode mode :
       {ServiceMode::Aggregated, ServiceMode::Disaggregated}) {
    const std::vector<ServicePlan> &kept = byMode[size_t(mode)];
    if (!asked || *asked == mode)
      summary.candidates.insert(summary.candidates.end(), kept.begin(),
                                kept.end());
  }
  std::stable_sort(summary.candidates.begin(), summary.candidates.end(),
                   isBefore);
}

/// The plan on one engine.
static ErrorOr<ServiceSummary> planOn(std::shared_ptr<const Scenario> scenario,
                                      const ServiceRequest &request) {
  ErrorOr<Asked> asked = Asked::create(std::move(scenario), request);
  if (!asked)
    return asked.error();
  ServiceShortage shortage;
  ServiceGoal goal = asked->goal();
  Candidates candidates(request.candidates);
  if (request.candidates > 0 && goal.rate <= 0)
    goal.worth = &candidates;
  ServiceSummary summary = asked->under(goal, shortage);
  if (goal.worth)
    candidates.tell(summary, asked->mode);
  summary.goal.worth = nullptr;
  if (!summary.mode) {
    if (auto why =
            whyPinsFail(summary, asked->sides, asked->mode, request.pins))
      return Error{*why};
    summary.shortage = explain(*asked, std::move(shortage), true);
  }
  findOthers(summary, *asked);
  if (summary.goal.isStopped())
    return Error{"stopped before the best service was found"};
  return summary;
}

bool service::isBetterService(const ServiceSummary &a,
                              const ServiceSummary &b) {
  const ServicePlan *one = a.best(), *other = b.best();
  if (!one || !other)
    return one && !other;
  if (a.goal.isGoodput)
    return one->goodput > other->goodput;
  if (a.goal.rate <= 0)
    return one->tokensPerDevice > other->tokensPerDevice;
  double cost = one->costUnder(a.goal), than = other->costUnder(b.goal);
  return cost != than ? cost < than : one->times.tpot.ms < other->times.tpot.ms;
}

double shardopt::gainOf(const ServicePlan &plan, const ServicePlan &other,
                        const ServiceGoal &goal) {
  if (goal.isGoodput)
    return plan.goodput / other.goodput - 1;
  return goal.rate > 0 ? 1 - plan.costUnder(goal) / other.costUnder(goal)
                       : plan.tokensPerDevice / other.tokensPerDevice - 1;
}

static EngineOutcome outcomeOf(const ServiceSummary &summary) {
  const ServicePlan *best = summary.best();
  if (!best)
    return {summary.clock(), std::nullopt, whyNoService(summary)};
  EngineOutcome outcome{summary.clock(), *best, ""};
  outcome.cost = summary.goal.rate > 0 ? best->costUnder(summary.goal) : 0;
  return outcome;
}

ErrorOr<ServiceSummary> service::onEngines(
    ServiceRequest request,
    const std::function<ErrorOr<ServiceSummary>(const ServiceRequest &)> &on) {
  if (request.engine != anyEngine)
    return on(request);
  std::vector<ServiceSummary> found;
  std::optional<Error> wrong;
  std::vector<EngineOutcome> failed;
  for (Engine engine : allEngines) {
    request.engine = spell(engine);
    ErrorOr<ServiceSummary> summary = on(request);
    if (summary) {
      found.push_back(std::move(*summary));
      continue;
    }
    if (!wrong)
      wrong = summary.error();
    failed.push_back({engine, std::nullopt, summary.error().message});
  }
  if (found.empty())
    return *wrong;
  std::stable_sort(found.begin(), found.end(), isBetterService);
  std::vector<EngineOutcome> outcomes;
  for (const ServiceSummary &summary : found)
    outcomes.push_back(outcomeOf(summary));
  outcomes.insert(outcomes.end(), failed.begin(), failed.end());
  found.front().engines = std::move(outcomes);
  return std::move(found.front());
}

ErrorOr<ServiceSummary>
shardopt::planService(std::shared_ptr<const Scenario> scenario,
                      const ServiceRequest &request) {
  return onEngines(request, [&](const ServiceRequest &one) {
    return planOn(scenario, one);
  });
}

//===----------------------------------------------------------------------===//
// Why not
//===----------------------------------------------------------------------===//

std::string service::gigabytes(double bytes) {
  return formatNumber(std::round(bytes / 1e7) / 1e2) + " GB";
}

static std::string inMs(double ms) {
  return formatNumber(std::ceil(ms * 100) / 100) + " ms";
}

/// "; a TPOT of 31 ms would be, or a TTFT of 2000 ms", of what would be met.
static std::string nearestOf(const ServiceShortage &shortage,
                             const char *would) {
  double tpot = shortage.nearestTpotMs, ttft = shortage.nearestTtftMs;
  std::string text;
  if (tpot > 0)
    text += "; a TPOT of " + inMs(tpot) + would;
  if (ttft > 0)
    text += std::string(tpot > 0 ? ", or " : "; ") + "a TTFT of " + inMs(ttft) +
            (tpot > 0 ? "" : would);
  return text;
}

/// The limit that is missed, and the nearest that would be met.
static std::string missedLimits(const ServiceSummary &summary) {
  const ServiceShortage &shortage = *summary.shortage;
  const ServiceGoal &goal = summary.goal;
  double tpot = shortage.nearestTpotMs, ttft = shortage.nearestTtftMs;
  std::string text;
  auto add = [&](const char *name, const LatencyLimit &limit, double least) {
    text += (text.empty() ? "" : ", and ") + std::string("a ") + name + " of " +
            limit.describe() + " is missed: the least is " + inMs(least);
  };
  if (shortage.part == "tpot")
    add("TPOT", goal.tpot, tpot > 0 ? tpot : shortage.leastTpotMs);
  else if (shortage.part == "ttft")
    add("TTFT", goal.ttft, ttft > 0 ? ttft : shortage.leastTtftMs);
  if (!text.empty())
    return text;
  if (tpot <= 0 && ttft <= 0 && shortage.leastTpotMs > goal.tpot.ms)
    add("TPOT", goal.tpot, shortage.leastTpotMs);
  if (tpot <= 0 && ttft <= 0 && shortage.leastTtftMs > goal.ttft.ms)
    add("TTFT", goal.ttft, shortage.leastTtftMs);
  if (!text.empty())
    return text;
  text = "a TPOT of " + goal.tpot.describe() + " and a TTFT of " +
         goal.ttft.describe() + " are not met at once";
  return text + nearestOf(shortage, " would be");
}

std::string shardopt::whyNoService(const ServiceSummary &summary) {
  const ServiceGoal &goal = summary.goal;
  const ServiceShortage &shortage = *summary.shortage;
  int64_t devices = goal.allDevices();
  std::string text = summary.aggregated || summary.disaggregated
                         ? "the mode that is asked for has no plan: "
                         : "no plan on " + std::to_string(devices) +
                               (devices == 1 ? " device: " : " devices: ");
  if (shortage.part == "engine")
    text += "'" + std::string(spell(summary.engine)) +
            "' runs no layout of the model; of the first, " + shortage.example;
  else if (shortage.part == "memory")
    text += "weights and the cache of one request take " +
            gigabytes(shortage.leastBytes) + " of a device, which has " +
            gigabytes(shortage.capacityBytes);
  else if (shortage.part == "rate")
    text +=
        "at most " +
        formatNumber(std::floor(shortage.mostRequestsPerSecond * 100) / 100) +
        " of " + formatNumber(goal.rate) +
        " requests a second are served within a TPOT of " +
        goal.tpot.describe() + " and a TTFT of " + goal.ttft.describe() +
        nearestOf(shortage, " would do");
  else
    text += missedLimits(summary);
  if (goal.load.concurrency > 0)
    text +=
        "; with " + formatNumber(goal.load.concurrency) + " requests in flight";
  if (shortage.fewestDevices > 0)
    text += "; " + std::to_string(shortage.fewestDevices) + " devices suffice";
  return text;
}

//===----------------------------------------------------------------------===//
// Strategies
//===----------------------------------------------------------------------===//

const ServiceRole &shardopt::workersOf(const ServiceSummary &summary) {
  const ServicePlan &plan = *summary.best();
  return summary.scenario->isPrefill() && plan.prefill ? *plan.prefill
                                                       : plan.decode;
}

bool shardopt::isOnPrefillMachine(const ServiceSummary &summary) {
  const ServicePlan &plan = *summary.best();
  return plan.prefill && &workersOf(summary) == &*plan.prefill &&
         !plan.prefillMachine.empty();
}

const Scenario &shardopt::scenarioOf(const ServiceSummary &summary) {
  return isOnPrefillMachine(summary) ? *summary.prefillScenario
                                     : *summary.scenario;
}

/// Sequences over a worker, descending: those of a step, and shares of them,
/// as sequences at their end hold more than in the mean.
static std::vector<int64_t> batchesOf(const ServiceSummary &summary) {
  const ServiceRole &role = workersOf(summary);
  int64_t groups = role.degrees.dp;
  int64_t each =
      summary.scenario->isPrefill() ? 1 : role.degrees.batch / groups;
  constexpr int64_t shares = 16;
  std::vector<int64_t> batches;
  for (int64_t share = shares; share > 0; --share) {
    int64_t batch = std::max<int64_t>(1, each * share / shares) * groups;
    if (batches.empty() || batch < batches.back())
      batches.push_back(batch);
  }
  return batches;
}

ErrorOr<PlanSummary> shardopt::planWorkers(const ServiceSummary &summary,
                                           PlanRequest request) {
  const Scenario &given = scenarioOf(summary);
  const Degrees &degrees = workersOf(summary).degrees;
  // Limits are those of the whole service, which meets them.
  ScenarioOptions options = given.options();
  options.sloTpotMs =
      given.isPrefill() ? 0 : std::numeric_limits<double>::infinity();
  options.sloTtftMs =
      given.isPrefill() ? std::numeric_limits<double>::infinity() : 0;
  options.maxDevices = 0;
  options.countIdle = false;
  auto scenario = Scenario::create(given.modelName(), given.model(), options);
  if (!scenario)
    return scenario.error();
  request.space = search::SpaceRequest();
  request.space.kind = search::SpaceKind::Serving;
  for (Degree degree : {Degree::Tp, Degree::Dp, Degree::Ep, Degree::Pp,
                        Degree::Cp, Degree::Exchange})
    request.space.lists[degree] = {degrees[degree]};
  if (degrees.tp2 > 1)
    request.space.lists[Degree::Tp2] = {degrees.tp2};
  if (degrees.hasEplb())
    request.space.lists[Degree::Eplb] = {degrees.eplb};
  request.space.lists[Degree::Batch] = batchesOf(summary);
  // An engine has dims of its own.
  if (const std::vector<Dim> &own = workersOf(summary).dims; !summary.engine) {
    std::vector<Dim> dims = own.empty() ? engineDims(summary.engine, degrees,
                                                     EngineFacts(given.model()))
                                        : own;
    request.space.pinnedDims.assign(dims.begin(), dims.end());
  }
  request.engine = summary.engine;
  request.goal = search::Goal::Throughput;
  return makePlan(std::move(*scenario), request);
}
