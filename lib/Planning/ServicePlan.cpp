//===- ServicePlan.cpp - From requests to workers and strategies ----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/ServicePlan.h"
#include "shardopt/Cost/RequestContext.h"
#include "shardopt/Planning/ServiceSides.h"
#include "shardopt/Support/Choice.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace shardopt;
using service::gigabytes;
using service::Sides;
using service::sidesOf;

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
  constexpr int64_t most = 100000;
  for (auto [name, number] : {std::pair("devices", devices),
                              std::pair("prefill-devices", prefillDevices)})
    if (number < 0 || number > most)
      return std::string("'") + name + "' is " + std::to_string(number) +
             ", expected a number from 0 to " + std::to_string(most);
  if (prefillDevices > 0 && prefillMachine.empty())
    return "there are " + std::to_string(prefillDevices) +
           " devices to read prompts on, and no machine of theirs is said";
  for (auto [name, dollars] :
       {std::pair("price", price), std::pair("prefill-price", prefillPrice)})
    if (!(dollars >= 0 && dollars <= 1e6))
      return std::string("'") + name + "' is " + formatNumber(dollars) +
             ", expected dollars of a GPU for an hour, from 0 to 1e6";
  if ((price > 0) != (prefillPrice > 0) && !prefillMachine.empty())
    return "there is a price of one machine, expected one of each";
  return std::nullopt;
}

static LatencyLimit limitOf(const RequestLoad &load, RequestField ms,
                            RequestField percentile, double otherwise) {
  LatencyLimit limit;
  limit.ms = load[ms].value_or(otherwise);
  limit.percentile = int(load[percentile].value_or(0));
  return limit;
}

static ServiceGoal goalOf(const ServiceRequest &request,
                          const Scenario &scenario) {
  using Field = RequestField;
  const RequestLoad &load = request.load;
  ServiceGoal goal;
  goal.load.inputTokens = *load[Field::Isl];
  goal.load.outputTokens = *load[Field::Osl];
  goal.load.concurrency = load[Field::Concurrency].value_or(0);
  goal.load.traits.accepted = load[Field::AcceptedTokens].value_or(0);
  goal.load.traits.drafts = load[Field::DraftTokens].value_or(0);
  goal.load.traits.found = load[Field::PrefixHit].value_or(0);
  goal.load.traits.skew = load[Field::ExpertSkew].value_or(0);
  goal.rate = load[Field::Rate].value_or(0);
  goal.tpot =
      limitOf(load, Field::TpotMs, Field::TpotPercentile, defaultTpotMs);
  goal.ttft =
      limitOf(load, Field::TtftMs, Field::TtftPercentile, defaultTtftMs);
  goal.devices =
      request.devices ? request.devices : scenario.machine().domainSize;
  goal.prefillDevices = request.prefillDevices;
  goal.stop = request.stop;
  if (request.price > 0)
    goal.price = request.price;
  goal.prefillPrice =
      request.prefillPrice > 0 ? request.prefillPrice : goal.price;
  return goal;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

const ServicePlan *ServiceSummary::best() const {
  if (!mode)
    return nullptr;
  return *mode == ServiceMode::Aggregated ? &*aggregated : &*disaggregated;
}

/// By how much two roles have to be better than one.
static constexpr double tie = 1e-3;

static bool isBetterApart(const ServicePlan &apart, const ServicePlan &together,
                          const ServiceGoal &goal) {
  if (goal.rate > 0)
    return apart.costUnder(goal) != together.costUnder(goal)
               ? apart.costUnder(goal) < together.costUnder(goal)
               : apart.times.tpot.ms < (1 - tie) * together.times.tpot.ms;
  return apart.tokensPerDevice > (1 + tie) * together.tokensPerDevice;
}

/// The mode that is taken: the one that is asked for, else the better.
static std::optional<ServiceMode> modeOf(const ServiceSummary &summary,
                                         std::optional<ServiceMode> asked) {
  const bool hasTogether = summary.aggregated.has_value(),
             hasApart = summary.disaggregated.has_value();
  if (asked)
    return (*asked == ServiceMode::Aggregated ? hasTogether : hasApart)
               ? asked
               : std::nullopt;
  if (hasApart &&
      (!hasTogether || isBetterApart(*summary.disaggregated,
                                     *summary.aggregated, summary.goal)))
    return ServiceMode::Disaggregated;
  return hasTogether ? std::optional(ServiceMode::Aggregated) : std::nullopt;
}

/// The model of `scenario` on another machine.
ErrorOr<std::shared_ptr<const Scenario>>
service::onMachine(const Scenario &scenario, const std::string &machine) {
  ScenarioOptions options = scenario.options();
  options.timing.machine = machine;
  return Scenario::create(scenario.modelName(), scenario.model(), options);
}

ErrorOr<Sides> service::sidesOf(const ServiceSummary &summary) {
  ErrorOr<cost::ServingEngine> engine =
      cost::findEngine(spell(summary.engine), /*version=*/"", /*isTuned=*/true);
  if (!engine)
    return engine.error();
  if (!cost::isMeasuredArchitecture(summary.scenario->model().architecture))
    engine->widenBands();
  Sides sides;
  sides.engine = *engine;
  const cost::ServingTraits &traits = summary.goal.load.traits;
  auto decode = service::Side::create(*summary.scenario, sides.engine, traits);
  if (!decode)
    return decode.error();
  sides.decode = std::move(*decode);
  if (!summary.prefillScenario)
    return sides;
  auto prefill =
      service::Side::create(*summary.prefillScenario, sides.engine, traits);
  if (!prefill)
    return prefill.error();
  sides.prefill = std::move(*prefill);
  return sides;
}

void service::findPlans(ServiceSummary &summary, const Sides &sides,
                        std::optional<ServiceMode> mode,
                        ServiceShortage &shortage) {
  Found found = search(*sides.decode, sides.prefill.get(), sides.engine,
                       summary.engine, summary.goal, summary.proof, shortage);
  summary.aggregated = std::move(found.aggregated);
  summary.disaggregated = std::move(found.disaggregated);
  summary.asked = mode;
  summary.mode = modeOf(summary, mode);
}

/// Devices, in whole domains, with which there is a plan: the fewest up to
/// `mostPaired` of them, and of aggregated services beyond, where pairs of
/// roles take long, unless that takes more than `mostEffort` evaluations of
/// loads. 0 where none were found, or more than are worth a search do not
/// suffice.
static int64_t fewestDevices(const ServiceSummary &summary, const Sides &sides,
                             std::optional<ServiceMode> mode) {
  constexpr int64_t mostTimes = 8, mostEffort = 100'000, mostPaired = 64;
  const int64_t domain = sides.decode->domainSize();
  const int64_t from = summary.goal.devices / domain + 1;
  ServiceProof effort;
  auto isOver = [&] {
    return summary.goal.isStopped() ||
           effort.evaluations + effort.intervals > mostEffort;
  };
  // The search in one mode is the quicker one: it finds devices that suffice.
  auto hasPlan = [&](int64_t domains,
                     std::initializer_list<ServiceMode> modes) {
    ServiceGoal goal = summary.goal;
    goal.devices = domains * domain;
    ServiceShortage shortage;
    for (ServiceMode one : modes) {
      const bool isLong = one == ServiceMode::Disaggregated && !mode &&
                          goal.devices > mostPaired;
      if ((mode && *mode != one) || isLong || isOver())
        continue;
      const Found found =
          service::search(*sides.decode, sides.prefill.get(), sides.engine,
                          summary.engine, goal, effort, shortage, one);
      if (found.aggregated || found.disaggregated)
        return true;
    }
    return false;
  };
  constexpr ServiceMode one = ServiceMode::Aggregated,
                        two = ServiceMode::Disaggregated;
  int64_t enough = from, least = from; // fewer than `least` are too few
  while (enough <= mostTimes * from && !hasPlan(enough, {one}))
    enough *= 2;
  if (enough > mostTimes * from)
    for (enough = from; !hasPlan(enough, {one, two}); enough *= 2) {
      least = enough + 1;
      if (enough >= mostTimes * from || isOver())
        return 0;
    }
  while (least < enough && !isOver()) {
    const int64_t middle = (least + enough) / 2;
    if (hasPlan(middle, {one, two}))
      enough = middle;
    else
      least = middle + 1;
  }
  return enough * domain;
}

/// Completes `shortage`, what a search without a plan has learned.
static ServiceShortage explain(const ServiceSummary &summary,
                               const Sides &sides,
                               std::optional<ServiceMode> mode,
                               ServiceShortage shortage) {
  if (summary.goal.rate > 0) {
    ServiceSummary any = summary;
    any.goal.rate = 0;
    service::findPlans(any, sides, mode, shortage);
    if (const ServicePlan *best = any.best()) {
      shortage.part = "rate";
      shortage.mostRequestsPerSecond = best->requestsPerSecond;
    }
  }
  if (shortage.part.empty())
    shortage.part = "limits";
  // More devices have more memory and serve more; a limit that one worker
  // misses, others miss too.
  if (shortage.part == "memory" || shortage.part == "rate")
    shortage.fewestDevices = fewestDevices(summary, sides, mode);
  return shortage;
}

ErrorOr<ServiceSummary>
service::summaryOf(std::shared_ptr<const Scenario> scenario,
                   const ServiceRequest &request) {
  if (std::optional<std::string> why = request.error())
    return Error{*why};
  if (auto why = cost::contextError(scenario->workload(), request.load))
    return Error{*why};
  ErrorOr<Engine> runner = parseEngine(request.engine);
  if (!runner)
    return runner.error();
  ServiceSummary summary;
  summary.load = request.load;
  summary.engine = *runner;
  summary.goal = goalOf(request, *scenario);
  summary.hasPrice = request.price > 0;
  ErrorOr<ServicePins> pins = ServicePins::parse(request.pins);
  if (!pins)
    return pins.error();
  summary.goal.pins = std::move(*pins);
  if (!request.prefillMachine.empty()) {
    auto other = service::onMachine(*scenario, request.prefillMachine);
    if (!other)
      return other.error();
    summary.prefillScenario = std::move(*other);
  }
  summary.scenario = std::move(scenario);
  return summary;
}

/// The mode that is asked for; pins of roles ask for one, too.
ErrorOr<std::optional<ServiceMode>>
service::askedMode(const ServiceRequest &request) {
  std::optional<ServiceMode> mode = request.mode;
  const std::string *by = nullptr;
  for (const auto &[pin, text] : request.pins) {
    if (pin.find('.') == std::string::npos)
      continue;
    const ServiceMode of = pin.rfind("serve.", 0) == 0
                               ? ServiceMode::Aggregated
                               : ServiceMode::Disaggregated;
    if (mode && *mode != of)
      return Error{"the pin '" + pin + "' is of a service that is " +
                   spell(of) + ", and " +
                   (by ? "'" + *by + "' is of one that is "
                       : std::string("the mode is ")) +
                   spell(*mode)};
    mode = of;
    by = &pin;
  }
  return mode;
}

/// The plan on one engine.
static ErrorOr<ServiceSummary> planOn(std::shared_ptr<const Scenario> scenario,
                                      const ServiceRequest &request) {
  ErrorOr<ServiceSummary> asked =
      service::summaryOf(std::move(scenario), request);
  if (!asked)
    return asked.error();
  ServiceSummary summary = std::move(*asked);
  auto mode = service::askedMode(request);
  if (!mode)
    return mode.error();
  ErrorOr<Sides> sides = sidesOf(summary);
  if (!sides)
    return sides.error();
  ServiceShortage shortage;
  service::findPlans(summary, *sides, *mode, shortage);
  if (!summary.mode) {
    if (auto why = service::whyPinsFail(summary, *sides, *mode, request.pins))
      return Error{*why};
    summary.shortage = explain(summary, *sides, *mode, std::move(shortage));
  }
  if (summary.goal.isStopped())
    return Error{"stopped before the best service was found"};
  return summary;
}

static EngineOutcome outcomeOf(const ServiceSummary &summary) {
  EngineOutcome outcome;
  outcome.engine = summary.engine;
  outcome.mode = summary.mode;
  if (const ServicePlan *best = summary.best()) {
    outcome.tokensPerDevice = best->tokensPerDevice;
    outcome.tpotMs = best->times.tpot.ms;
    outcome.cost = best->costUnder(summary.goal);
  } else {
    outcome.why = whyNoService(summary);
  }
  return outcome;
}

/// Whether `a` is better, as plans are.
static bool isBetterOutcome(const EngineOutcome &a, const EngineOutcome &b,
                            double rate) {
  if (!a.mode || !b.mode)
    return a.mode && !b.mode;
  if (rate <= 0)
    return a.tokensPerDevice > b.tokensPerDevice;
  return a.cost != b.cost ? a.cost < b.cost : a.tpotMs < b.tpotMs;
}

/// The best plan over all engines. Where pins suit none of them, the error is
/// that of the first.
static ErrorOr<ServiceSummary>
planOnAny(const std::shared_ptr<const Scenario> &scenario,
          ServiceRequest request) {
  std::optional<ServiceSummary> best;
  std::optional<Error> wrong;
  std::vector<EngineOutcome> outcomes;
  for (Engine engine : allEngines) {
    request.engine = spell(engine);
    ErrorOr<ServiceSummary> summary = planOn(scenario, request);
    if (!summary) {
      if (!wrong)
        wrong = summary.error();
      outcomes.push_back(
          {engine, std::nullopt, 0, 0, 0, summary.error().message});
      continue;
    }
    const EngineOutcome outcome = outcomeOf(*summary);
    if (!best || isBetterOutcome(outcome, outcomeOf(*best), summary->goal.rate))
      best = std::move(*summary);
    outcomes.push_back(outcome);
  }
  if (!best)
    return *wrong;
  std::stable_sort(outcomes.begin(), outcomes.end(),
                   [&](const EngineOutcome &a, const EngineOutcome &b) {
                     return isBetterOutcome(a, b, best->goal.rate);
                   });
  best->engines = std::move(outcomes);
  return std::move(*best);
}

ErrorOr<ServiceSummary>
shardopt::planService(std::shared_ptr<const Scenario> scenario,
                      const ServiceRequest &request) {
  return request.engine == "any" ? planOnAny(scenario, request)
                                 : planOn(std::move(scenario), request);
}

//===----------------------------------------------------------------------===//
// Why not
//===----------------------------------------------------------------------===//

std::string service::gigabytes(double bytes) {
  return formatNumber(std::round(bytes / 1e7) / 1e2) + " GB";
}

/// The limit that is missed, and the nearest that would be met.
static std::string missedLimits(const ServiceSummary &summary) {
  const ServiceShortage &shortage = *summary.shortage;
  const ServiceGoal &goal = summary.goal;
  std::string text;
  auto add = [&](const char *name, const LatencyLimit &limit, double least) {
    if (least <= limit.ms)
      return;
    text += (text.empty() ? "" : ", and ") + std::string("a ") + name + " of " +
            limit.describe() + " is missed: the least is " +
            formatNumber(std::ceil(least * 100) / 100) + " ms";
  };
  add("TPOT", goal.tpot, shortage.leastTpotMs);
  add("TTFT", goal.ttft, shortage.leastTtftMs);
  if (text.empty())
    text = "a TPOT of " + goal.tpot.describe() + " and a TTFT of " +
           goal.ttft.describe() + " are not met at once";
  return text;
}

std::string shardopt::whyNoService(const ServiceSummary &summary) {
  const ServiceGoal &goal = summary.goal;
  const ServiceShortage &shortage = *summary.shortage;
  const std::string devices = formatNumber(double(goal.allDevices()));
  std::string text = summary.aggregated || summary.disaggregated
                         ? "the mode that is asked for has no plan: "
                         : "no plan on " + devices + " devices: ";
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
        goal.tpot.describe() + " and a TTFT of " + goal.ttft.describe();
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
  const int64_t groups = role.degrees.dp;
  const int64_t each =
      summary.scenario->isPrefill() ? 1 : role.degrees.batch / groups;
  constexpr int64_t shares = 16;
  std::vector<int64_t> batches;
  for (int64_t share = shares; share > 0; --share) {
    const int64_t batch = std::max<int64_t>(1, each * share / shares) * groups;
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
  request.space.lists[Degree::Batch] = batchesOf(summary);
  request.engine = summary.engine;
  request.goal = search::Goal::Throughput;
  return makePlan(std::move(*scenario), request);
}
