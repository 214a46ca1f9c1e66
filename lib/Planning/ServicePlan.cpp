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
                          double rate) {
  if (rate > 0)
    return apart.usedDevices() != together.usedDevices()
               ? apart.usedDevices() < together.usedDevices()
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
                                     *summary.aggregated, summary.goal.rate)))
    return ServiceMode::Disaggregated;
  return hasTogether ? std::optional(ServiceMode::Aggregated) : std::nullopt;
}

/// The model of `scenario` on another machine.
static ErrorOr<std::shared_ptr<const Scenario>>
onMachine(const Scenario &scenario, const std::string &machine) {
  ScenarioOptions options = scenario.options();
  options.timing.machine = machine;
  return Scenario::create(scenario.modelName(), scenario.model(), options);
}

ErrorOr<Sides> service::sidesOf(const ServiceSummary &summary) {
  ErrorOr<cost::ServingEngine> engine =
      cost::findEngine(spell(summary.engine), /*version=*/"", /*isTuned=*/true);
  if (!engine)
    return engine.error();
  // Programs that name no family are of one that nobody compared.
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

/// The fewest devices, in whole domains, with which there is a plan; 0 where
/// more devices than are worth a search do not suffice.
static int64_t fewestDevices(const ServiceSummary &summary, const Sides &sides,
                             std::optional<ServiceMode> mode) {
  constexpr int64_t mostTimes = 8;
  const int64_t domain = sides.decode->domainSize();
  const int64_t from = summary.goal.devices / domain + 1;
  auto hasPlan = [&](int64_t domains) {
    ServiceSummary larger = summary;
    larger.goal.devices = domains * domain;
    ServiceProof proof;
    ServiceShortage shortage;
    service::Found found =
        service::search(*sides.decode, sides.prefill.get(), sides.engine,
                        summary.engine, larger.goal, proof, shortage);
    larger.aggregated = std::move(found.aggregated);
    larger.disaggregated = std::move(found.disaggregated);
    return modeOf(larger, mode).has_value();
  };
  int64_t enough = from;
  while (!hasPlan(enough)) {
    if (enough >= mostTimes * from || summary.goal.isStopped())
      return 0;
    enough *= 2;
  }
  for (int64_t low = std::max(from, enough / 2 + 1); low < enough;) {
    const int64_t middle = (low + enough) / 2;
    if (hasPlan(middle))
      enough = middle;
    else
      low = middle + 1;
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
    ServiceProof proof;
    service::Found found =
        service::search(*sides.decode, sides.prefill.get(), sides.engine,
                        summary.engine, any.goal, proof, shortage);
    any.aggregated = std::move(found.aggregated);
    any.disaggregated = std::move(found.disaggregated);
    any.mode = modeOf(any, mode);
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
  if (!request.prefillMachine.empty()) {
    auto other = onMachine(*scenario, request.prefillMachine);
    if (!other)
      return other.error();
    summary.prefillScenario = std::move(*other);
  }
  summary.scenario = std::move(scenario);
  return summary;
}

ErrorOr<ServiceSummary>
shardopt::planService(std::shared_ptr<const Scenario> scenario,
                      const ServiceRequest &request) {
  ErrorOr<ServiceSummary> asked =
      service::summaryOf(std::move(scenario), request);
  if (!asked)
    return asked.error();
  ServiceSummary summary = std::move(*asked);
  ErrorOr<Sides> sides = sidesOf(summary);
  if (!sides)
    return sides.error();
  ServiceShortage shortage;
  service::Found found =
      service::search(*sides->decode, sides->prefill.get(), sides->engine,
                      summary.engine, summary.goal, summary.proof, shortage);
  summary.aggregated = std::move(found.aggregated);
  summary.disaggregated = std::move(found.disaggregated);
  summary.mode = modeOf(summary, request.mode);
  if (!summary.mode)
    summary.shortage =
        explain(summary, *sides, request.mode, std::move(shortage));
  if (summary.goal.isStopped())
    return Error{"stopped before the best service was found"};
  return summary;
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
