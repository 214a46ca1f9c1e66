//===- ServicePlan.cpp - From requests to replicas and strategies ---------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/ServicePlan.h"
#include "shardopt/Cost/ServingMemory.h"
#include "shardopt/Support/Choice.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace shardopt;
using cost::calibrated::CalibratedKernels;

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

const cost::ServingPlan *ServiceSummary::best() const {
  if (!mode)
    return nullptr;
  return *mode == ServiceMode::Aggregated ? &*plans.aggregated
                                          : &*plans.disaggregated;
}

Degrees shardopt::degreesOf(const cost::ServingWorkers &workers,
                            int64_t batch) {
  const cost::ServingSetup &setup = workers.setup;
  Degrees degrees(int64_t(setup.tp), int64_t(setup.expertEp), 1, batch);
  degrees.dp = int64_t(setup.attentionDp);
  return degrees;
}

/// How rows may reach the experts of `degrees`.
static std::vector<Degrees> withExchanges(Degrees degrees, bool hasExperts) {
  std::vector<Degrees> all = {degrees};
  degrees.exchange = exchangeGather;
  if (hasExperts && degrees.tp * degrees.dp > 1)
    all.push_back(degrees);
  return all;
}

/// The exchanges with which `engine` runs `workers`, and with which the cost
/// model finds room for a sequence in each group.
static std::vector<int64_t> exchangesOf(const Scenario &scenario, Engine engine,
                                        const cost::ServingWorkers &workers) {
  const EngineFacts facts(scenario.model());
  const EngineSimulator simulator(scenario.simulator(), engine, facts);
  std::vector<int64_t> exchanges;
  const int64_t least = int64_t(workers.setup.attentionDp);
  for (const Degrees &degrees :
       withExchanges(degreesOf(workers, least), scenario.hasExperts()))
    if (!scenario.model().structuralError(degrees, /*maxDevices=*/0) &&
        !whyNotRun(engine, degrees, facts) &&
        simulator.solve(degrees, scenario.spaceFacts().choices,
                        search::Goal::Throughput, /*incumbent=*/std::nullopt))
      exchanges.push_back(degrees.exchange);
  return exchanges;
}

/// `machine` with as much room for weights and caches as the cost model knows,
/// which engines have a bit more of, so that what is planned fits both.
static Machine withRoomOf(const Machine &machine) {
  Machine limited = machine;
  if (!machine.calibration)
    return limited;
  auto constants = std::make_shared<Calibration>(*machine.calibration);
  const double none = cost::usableBytes(0);
  const double each = cost::usableBytes(1) - none;
  double &bytes = constants->sheet.memoryBytes;
  bytes = std::min(bytes, (machine.memoryCapacity - none) / each);
  limited.calibration = std::move(constants);
  return limited;
}

/// The mode that is taken: the one that is asked for, else the better.
static std::optional<ServiceMode> modeOf(const cost::ServingPlans &plans,
                                         std::optional<ServiceMode> asked) {
  const bool hasAggregated = plans.aggregated.has_value(),
             hasDisaggregated = plans.disaggregated.has_value();
  if (asked)
    return (*asked == ServiceMode::Aggregated ? hasAggregated
                                              : hasDisaggregated)
               ? asked
               : std::nullopt;
  const cost::ServingPlan *best = plans.best();
  if (!best)
    return std::nullopt;
  return hasAggregated && best == &*plans.aggregated
             ? ServiceMode::Aggregated
             : ServiceMode::Disaggregated;
}

static ErrorOr<CalibratedKernels> kernelsOf(const Scenario &scenario) {
  return CalibratedKernels::create(withRoomOf(scenario.machine()));
}

/// The model of `scenario` on another machine.
static ErrorOr<std::shared_ptr<const Scenario>>
onMachine(const Scenario &scenario, const std::string &machine) {
  ScenarioOptions options = scenario.options();
  options.timing.machine = machine;
  return Scenario::create(scenario.modelName(), scenario.model(), options);
}

/// Which layouts `engine` runs on the machine of `scenario`.
static std::function<bool(const cost::ServingSetup &)>
whatRuns(const Scenario &scenario, Engine engine) {
  return [&scenario, engine](const cost::ServingSetup &setup) {
    return !exchangesOf(scenario, engine, {setup, 1}).empty();
  };
}

namespace {
/// The other machine of a service, for as long as it is planned.
struct PrefillSide {
  std::shared_ptr<const Scenario> scenario;
  CalibratedKernels kernels;

  cost::PrefillMachine machine(Engine engine) const {
    return {scenario->machine().name, kernels, scenario->machine().domainSize,
            whatRuns(*scenario, engine)};
  }
};
} // namespace

/// None where prompts are read on the machine of `scenario` alone.
static ErrorOr<std::optional<PrefillSide>>
prefillSideOf(const Scenario &scenario, const std::string &machine) {
  if (machine.empty())
    return std::optional<PrefillSide>();
  auto other = onMachine(scenario, machine);
  if (!other)
    return other.error();
  auto kernels = kernelsOf(**other);
  if (!kernels)
    return kernels.error();
  return std::optional<PrefillSide>({std::move(*other), std::move(*kernels)});
}

ErrorOr<ServiceSummary>
shardopt::planService(std::shared_ptr<const Scenario> scenario,
                      const ServiceRequest &request) {
  if (std::optional<std::string> why = request.error())
    return Error{*why};
  if (auto why = cost::contextError(scenario->workload(), request.load))
    return Error{*why};
  ErrorOr<Engine> runner = parseEngine(request.engine);
  if (!runner)
    return runner.error();
  ErrorOr<cost::ServingEngine> engine =
      cost::findEngine(request.engine, /*version=*/"", /*isTuned=*/true);
  if (!engine)
    return engine.error();
  auto kernels = kernelsOf(*scenario);
  if (!kernels)
    return kernels.error();
  ErrorOr<cost::ServedModel> model = cost::servedModelOf(scenario->model());
  if (!model)
    return model.error();

  auto prefill = prefillSideOf(*scenario, request.prefillMachine);
  if (!prefill)
    return prefill.error();

  ServiceSummary summary;
  summary.load = request.load;
  summary.engine = *runner;
  summary.goal = cost::goalOf(request.load);
  summary.goal.domainSize = scenario->machine().domainSize;
  summary.goal.devices =
      request.devices ? request.devices : summary.goal.domainSize;
  summary.goal.prefillDevices = request.prefillDevices;
  std::optional<cost::PrefillMachine> other;
  if (*prefill)
    other.emplace((*prefill)->machine(*runner));
  auto plans = cost::planServing(*kernels, cost::setupOf(*model), *engine,
                                 summary.goal, whatRuns(*scenario, *runner),
                                 other ? &*other : nullptr);
  if (!plans)
    return plans.error();
  if (*prefill)
    summary.prefillScenario = (*prefill)->scenario;
  summary.plans = std::move(*plans);
  summary.mode = modeOf(summary.plans, request.mode);
  summary.scenario = std::move(scenario);
  return summary;
}

std::string shardopt::whyNoService(const ServiceSummary &summary) {
  const cost::ServingGoal &goal = summary.goal;
  std::string text = summary.plans.best() ? "the mode that is asked for has no "
                                            "layout of "
                                          : "no layout of ";
  text += formatNumber(goal.allDevices()) + " devices holds a TPOT of " +
          formatNumber(goal.tpotMs) + " ms and a TTFT of " +
          formatNumber(goal.ttftMs) + " ms";
  if (goal.rate > 0)
    text += " at " + formatNumber(goal.rate) + " requests a second";
  if (goal.concurrency > 0)
    text += " with " + formatNumber(goal.concurrency) + " requests in flight";
  return text;
}

//===----------------------------------------------------------------------===//
// Strategies
//===----------------------------------------------------------------------===//

const cost::ServingWorkers &shardopt::workersOf(const ServiceSummary &summary) {
  const cost::ServingPlan &plan = *summary.best();
  return summary.scenario->isPrefill() && plan.readers ? *plan.readers
                                                       : plan.decoders;
}

bool shardopt::isOnPrefillMachine(const ServiceSummary &summary) {
  const cost::ServingPlan &plan = *summary.best();
  return plan.readers && &workersOf(summary) == &*plan.readers &&
         !plan.readingMachine.empty();
}

const Scenario &shardopt::scenarioOf(const ServiceSummary &summary) {
  return isOnPrefillMachine(summary) ? *summary.prefillScenario
                                     : *summary.scenario;
}

/// Sequences in a group of attention at a time, or prompts.
static int64_t batchOfGroup(const ServiceSummary &summary, bool isReading) {
  return isReading ? 1
                   : std::max<int64_t>(
                         1, std::llround(summary.best()->times.sequences));
}

int64_t shardopt::batchOf(const ServiceSummary &summary, bool isReading) {
  const cost::ServingPlan &plan = *summary.best();
  const cost::ServingWorkers &workers =
      isReading && plan.readers ? *plan.readers : plan.decoders;
  return batchOfGroup(summary, isReading) * int64_t(workers.setup.attentionDp);
}

/// Sequences over a replica, descending: those that are decoded at a time, and
/// shares of them.
static std::vector<int64_t> batchesOf(const ServiceSummary &summary) {
  const int64_t groups = int64_t(workersOf(summary).setup.attentionDp);
  const int64_t each = batchOfGroup(summary, summary.scenario->isPrefill());
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
  const cost::ServingWorkers &workers = workersOf(summary);
  // Limits are those of the whole service, which holds them.
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
  const Degrees degrees = degreesOf(workers, /*batch=*/1);
  request.space = search::SpaceRequest();
  request.space.kind = search::SpaceKind::Serving;
  for (Degree degree :
       {Degree::Tp, Degree::Dp, Degree::Ep, Degree::Pp, Degree::Cp})
    request.space.lists[degree] = {degrees[degree]};
  request.space.lists[Degree::Exchange] =
      exchangesOf(given, summary.engine, workers);
  request.space.lists[Degree::Batch] = batchesOf(summary);
  request.engine = summary.engine;
  request.goal = search::Goal::Throughput;
  return makePlan(std::move(*scenario), request);
}
