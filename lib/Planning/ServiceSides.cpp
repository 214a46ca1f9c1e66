//===- ServiceSides.cpp - What a service is planned on --------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/ServiceSides.h"
#include "shardopt/Model/Machine/MachinePrice.h"
#include "shardopt/Model/RequestContext.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::service;

//===----------------------------------------------------------------------===//
// What is asked
//===----------------------------------------------------------------------===//

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
  if (!request.lengths.empty())
    static_cast<cost::RequestLengths &>(goal.load) =
        cost::RequestLengths(request.lengths);
  goal.load.concurrency = load[Field::Concurrency].value_or(0);
  goal.load.traits.accepted = load[Field::AcceptedTokens].value_or(0);
  goal.load.traits.drafts = load[Field::DraftTokens].value_or(0);
  goal.load.traits.drafter = {load[Field::DraftLayers].value_or(0),
                              1e9 * load[Field::DraftParameters].value_or(0)};
  goal.load.traits.found = load[Field::PrefixCacheHitRate].value_or(0);
  goal.load.traits.skew = load[Field::ExpertImbalance].value_or(0);
  goal.load.traits.shares = request.expertLoad;
  goal.rate = load[Field::Rate].value_or(0);
  goal.tpot =
      limitOf(load, Field::TpotMs, Field::TpotPercentile, defaultTpotMs);
  goal.ttft =
      limitOf(load, Field::TtftMs, Field::TtftPercentile, defaultTtftMs);
  goal.devices =
      request.devices ? request.devices : scenario.machine().domainSize;
  goal.prefillDevices = request.prefillDevices;
  goal.isGoodput = request.isGoodput;
  // A steady load is the same for all: its percentiles say nothing of queues.
  goal.load.isOpen =
      goal.ttft.percentile > 0 && goal.load.concurrency <= 0 && !goal.isGoodput;
  goal.stop = request.stop;
  goal.watch = request.watch;
  // What takes longer, is in time within less.
  goal.tpot.ms /= request.times;
  goal.ttft.ms /= request.times;
  return goal;
}

/// Why the load of experts is none of the program's, or is said twice.
static std::optional<std::string> whyNotLoad(const ServiceRequest &request,
                                             const cost::Model &model) {
  if (!request.expertLoad)
    return std::nullopt;
  if (request.load[RequestField::ExpertImbalance])
    return "'expert_imbalance' and 'expert_load' are given, expected one of "
           "them";
  int64_t layers = 0;
  for (const cost::Segment &segment : model.segments)
    if (model.bodies[segment.body].experts)
      layers += int64_t(segment.windows.size());
  return request.expertLoad->whyNot(model.amountOf(Divides::Experts), layers);
}

/// `kind` for the model of `scenario`, with what was fitted on its machine.
static ErrorOr<cost::ServingEngine> engineOf(Engine kind,
                                             const Scenario &scenario) {
  ErrorOr<cost::ServingEngine> engine =
      cost::findEngine(spell(kind), /*version=*/"", /*isTuned=*/true);
  if (!engine)
    return engine.error();
  if (auto wrong =
          cost::applyCalibration(scenario.machine(), scenario.model(), *engine))
    return *wrong;
  return engine;
}

/// Dollars of a device for an hour that are asked, or that the machine says.
static ErrorOr<double> priceOf(double asked, const Scenario &scenario) {
  if (asked > 0)
    return asked;
  auto price = loadPrice(givenMachine(scenario));
  if (!price)
    return price.error();
  return price->value_or(0);
}

static std::optional<Error> takePrices(ServiceSummary &summary,
                                       const ServiceRequest &request) {
  ErrorOr<double> price = priceOf(request.price, *summary.scenario);
  if (!price)
    return price.error();
  ErrorOr<double> other =
      summary.prefillScenario
          ? priceOf(request.prefillPrice, *summary.prefillScenario)
          : price;
  if (!other)
    return other.error();
  if ((*price > 0) != (*other > 0))
    return Error{"the machine '" +
                 givenMachine(*price > 0 ? *summary.prefillScenario
                                         : *summary.scenario) +
                 "' has no price, and the other one has: expected one of each"};
  summary.hasPrice = *price > 0;
  if (summary.hasPrice) {
    summary.goal.price = *price;
    summary.goal.prefillPrice = *other;
  }
  return std::nullopt;
}

/// Why no worker can overlap, where all that do have to.
static std::optional<std::string> whyNoOverlap(const ServiceSummary &summary) {
  const ServicePins &pins = summary.goal.pins;
  if (!pins.mustOverlap())
    return std::nullopt;
  Degrees two(2, 2, 1, 1); // that exchange, on one stage
  EngineFacts facts(summary.scenario->model());
  for (const RolePins *role : {&pins.serve, &pins.prefill, &pins.decode})
    if (const std::vector<int64_t> &pp = role->degrees[Degree::Pp];
        !role->allowOverlap(false) && !pp.empty())
      two.pp = *std::min_element(pp.begin(), pp.end());
  std::optional<std::string> why = whyNotOverlap(summary.engine, two, facts);
  if (!why)
    return why;
  return "'overlap' is pinned to on, and " + *why + ": expected off";
}

ErrorOr<ServiceSummary>
service::summaryOf(std::shared_ptr<const Scenario> scenario,
                   const ServiceRequest &request) {
  if (std::optional<std::string> why = request.error())
    return Error{*why};
  if (auto why = cost::contextError(scenario->workload(), request.load))
    return Error{*why};
  if (auto why = whyNotLoad(request, scenario->model()))
    return Error{*why};
  ErrorOr<Runner> runner = request.engine.empty()
                               ? ErrorOr<Runner>(Runner(usualEngine))
                               : parseRunner(request.engine);
  if (!runner)
    return runner.error();
  ServiceSummary summary;
  summary.load = request.load;
  summary.lengths = request.lengths;
  summary.options = request.options;
  summary.engine = *runner;
  summary.goal = goalOf(request, *scenario);
  ErrorOr<cost::ServingEngine> engine = engineOf(summary.clock(), *scenario);
  if (!engine)
    return engine.error();
  summary.chunkTokens =
      request.chunkTokens > 0 ? request.chunkTokens : engine->chunkTokens;
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
  if (std::optional<std::string> why = whyNoOverlap(summary))
    return Error{*why};
  if (std::optional<Error> wrong = takePrices(summary, request))
    return *wrong;
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
    ServiceMode of = pin.rfind("serve.", 0) == 0 ? ServiceMode::Aggregated
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

//===----------------------------------------------------------------------===//
// Machines
//===----------------------------------------------------------------------===//

/// The model of `scenario` on another machine.
ErrorOr<std::shared_ptr<const Scenario>>
service::onMachine(const Scenario &scenario, const std::string &machine) {
  ScenarioOptions options = scenario.options();
  options.timing.machine = machine;
  return Scenario::create(scenario.modelName(), scenario.model(), options);
}

ErrorOr<Sides> service::sidesOf(const ServiceSummary &summary) {
  auto engineOn = [&](const Scenario &scenario) {
    ErrorOr<cost::ServingEngine> engine = engineOf(summary.clock(), scenario);
    if (engine) {
      engine->chunkTokens = summary.chunkTokens;
      cost::apply(summary.options, *engine);
    }
    return engine;
  };
  ErrorOr<cost::ServingEngine> engine = engineOn(*summary.scenario);
  if (!engine)
    return engine.error();
  Sides sides;
  sides.engine = *engine;
  const cost::ServingTraits &traits = summary.goal.load.traits;
  auto decode = service::Side::create(*summary.scenario, sides.engine, traits);
  if (!decode)
    return decode.error();
  sides.decode = std::move(*decode);
  if (!summary.prefillScenario)
    return sides;
  // The host of decode workers counts, and the kernels of each machine.
  engine = engineOn(*summary.prefillScenario);
  if (!engine)
    return engine.error();
  auto prefill =
      service::Side::create(*summary.prefillScenario, *engine, traits);
  if (!prefill)
    return prefill.error();
  sides.prefill = std::move(*prefill);
  return sides;
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

static bool isBetterApart(const ServicePlan &apart, const ServicePlan &together,
                          const ServiceGoal &goal, double tie) {
  if (goal.rate > 0)
    return apart.costUnder(goal) != together.costUnder(goal)
               ? apart.costUnder(goal) < together.costUnder(goal)
               : apart.times.tpot.ms < (1 - tie) * together.times.tpot.ms;
  if (goal.isGoodput)
    return apart.goodput > (1 + tie) * together.goodput;
  return apart.tokensPerDevice > (1 + tie) * together.tokensPerDevice;
}

std::optional<ServiceMode> service::modeOf(const ServiceSummary &summary,
                                           std::optional<ServiceMode> asked,
                                           double tie) {
  bool hasTogether = summary.aggregated.has_value(),
       hasApart = summary.disaggregated.has_value();
  if (asked)
    return (*asked == ServiceMode::Aggregated ? hasTogether : hasApart)
               ? asked
               : std::nullopt;
  if (hasApart &&
      (!hasTogether || isBetterApart(*summary.disaggregated,
                                     *summary.aggregated, summary.goal, tie)))
    return ServiceMode::Disaggregated;
  return hasTogether ? std::optional(ServiceMode::Aggregated) : std::nullopt;
}

void service::findPlans(ServiceSummary &summary, const Sides &sides,
                        std::optional<ServiceMode> mode,
                        ServiceShortage &shortage, double tie,
                        const Found &known) {
  ServiceSearcher searcher(*sides.decode, sides.prefill.get(), sides.engine,
                           summary.engine, summary.goal);
  findPlans(summary, searcher, mode, shortage, tie, known);
}

void service::findPlans(ServiceSummary &summary, ServiceSearcher &searcher,
                        std::optional<ServiceMode> mode,
                        ServiceShortage &shortage, double tie,
                        const Found &known) {
  Found found =
      searcher.find(summary.goal, summary.proof, shortage, std::nullopt, known);
  summary.aggregated = std::move(found.aggregated);
  summary.disaggregated = std::move(found.disaggregated);
  summary.asked = mode;
  summary.mode = modeOf(summary, mode, tie);
}

ErrorOr<Asked> Asked::create(std::shared_ptr<const Scenario> scenario,
                             const ServiceRequest &request) {
  Asked asked;
  ErrorOr<ServiceSummary> summary = summaryOf(std::move(scenario), request);
  if (!summary)
    return summary.error();
  asked.summary = std::move(*summary);
  auto mode = askedMode(request);
  if (!mode)
    return mode.error();
  asked.mode = *mode;
  asked.isEngineAsked = !request.engine.empty();
  ErrorOr<Sides> sides = sidesOf(asked.summary);
  if (!sides)
    return sides.error();
  asked.sides = std::move(*sides);
  return asked;
}

ServiceSummary Asked::under(const ServiceGoal &goal,
                            ServiceShortage &shortage) const {
  ServiceSummary found = summary;
  found.goal = goal;
  findPlans(found, sides, mode, shortage);
  giveDims(found, sides);
  return found;
}

/// The plans of `summary`, of an engine, where no other layout gains more than
/// a tie, else the best of any layout.
static ServiceSummary anyLayout(const ServiceSummary &summary,
                                const Asked &asked) {
  ServiceSummary same = summary;
  same.engine = std::nullopt;
  // Layouts of more are too many to try after those of an engine.
  constexpr int64_t mostDevices = 512;
  if (summary.goal.allDevices() > mostDevices)
    return same;
  ServiceSummary free = same;
  ServiceShortage shortage;
  findPlans(free, asked.sides, asked.mode, shortage, usualTie,
            {summary.aggregated, summary.disaggregated});
  if (!free.best() ||
      gainOf(*free.best(), *summary.best(), summary.goal) <= usualTie)
    return same;
  // What was known is the best of a mode in which nothing is better.
  for (auto plan :
       {&ServiceSummary::aggregated, &ServiceSummary::disaggregated})
    if (!(free.*plan))
      free.*plan = summary.*plan;
  return free;
}

/// Searches any sharding, for what is better than the plans of `summary`.
static void findFree(ServiceSummary &summary, const Asked &asked) {
  if (!summary.best())
    return;
  ServiceSummary free = anyLayout(summary, asked);
  giveDims(free, asked.sides);
  double gain = gainOf(*free.best(), *summary.best(), summary.goal);
  if (gain <= usualTie)
    return;
  if (gain <= runnableLoss) {
    summary.free = *free.best();
    return;
  }
  free.runnable = *summary.best();
  summary = std::move(free);
}

/// The best plan within domains, with the same rules, if that of `summary` is
/// not.
static void findInDomains(ServiceSummary &summary, const Asked &asked) {
  const ServicePlan *best = summary.best();
  if (!best)
    return;
  auto spans = [](const ServiceRole &role, int64_t domain) {
    return role.degrees.devices() > domain;
  };
  const Side &reads =
      best->prefillMachine.empty() ? *asked.sides.decode : *asked.sides.prefill;
  summary.spansDomains =
      spans(best->decode, asked.domain()) ||
      (best->prefill && spans(*best->prefill, reads.domainSize()));
  if (!summary.spansDomains)
    return;
  ServiceSummary found = asked.summary;
  found.engine = summary.engine;
  found.goal.withinDomains = true;
  ServiceShortage shortage;
  findPlans(found, asked.sides, asked.mode, shortage);
  giveDims(found, asked.sides);
  summary.proof += found.proof;
  if (found.best())
    summary.inDomains = *found.best();
}

void service::findOthers(ServiceSummary &summary, const Asked &asked) {
  if (!asked.isEngineAsked)
    findFree(summary, asked);
  else
    giveDims(summary, asked.sides);
  findInDomains(summary, asked);
}
