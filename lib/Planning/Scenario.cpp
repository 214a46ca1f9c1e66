//===- Scenario.cpp - A model on a machine under limits -------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/Scenario.h"
#include "IdleDevices.h"
#include "LimitedActivations.h"
#include "SimulatorOption.h"
#include "shardopt/Cost/Breakdown.h"
#include "shardopt/Cost/LowerBound.h"
#include "shardopt/Planning/RooflineSimulator.h"
#include "shardopt/Support/Choice.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>

using namespace shardopt;

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

/// The SLO in milliseconds: `given`, or `otherwise` where it is 0.
static ErrorOr<double> parseSlo(const std::string &option, double given,
                                double otherwise) {
  if (given == 0)
    return otherwise;
  if (given > 0)
    return given;
  return Error{"'" + option + "' is " + std::to_string(given) +
               ", expected a positive number of milliseconds"};
}

/// Bytes for values between ops.
static ErrorOr<double> parseActivations(double gb) {
  if (gb == 0)
    return std::numeric_limits<double>::infinity();
  if (gb > 0)
    return gb * 1e9;
  return Error{"'activations-gb' is " + std::to_string(gb) +
               ", expected 1e9 bytes of at least 0"};
}

//===----------------------------------------------------------------------===//
// Facts for a search
//===----------------------------------------------------------------------===//

/// What a device caches of one sequence with tp and cp and heads that are cut.
static double cachedBytes(const cost::Model &model, int64_t tp, int64_t cp) {
  Degrees degrees(tp, 1, 1, 1);
  degrees.cp = cp;
  double bytes = 0;
  for (const cost::Segment &segment : model.segments)
    for (const cost::Node &node : model.bodies[segment.body].nodes) {
      if (!node.op->cutsContext())
        continue;
      std::vector<cost::Placement> incoming(node.operands.size());
      for (int64_t window : segment.windows) {
        cost::Context context = cost::makeContext(model.workload, degrees);
        context.window = window;
        bytes += node.op->cost(Dim::Zero, incoming, context).cacheBytes;
      }
    }
  return bytes;
}

/// Asked for many degrees that have the same tp and cp, from any thread.
static std::function<double(int64_t, int64_t)>
cacheShareOf(const cost::Model &model) {
  struct Known {
    std::mutex mutex;
    std::map<std::pair<int64_t, int64_t>, double> bytes;
  };
  return [&model, known = std::make_shared<Known>()](int64_t tp, int64_t cp) {
    std::lock_guard<std::mutex> lock(known->mutex);
    auto [at, isNew] = known->bytes.try_emplace({tp, cp});
    if (isNew)
      at->second = cachedBytes(model, tp, cp);
    return at->second;
  };
}

/// Refers to `model`.
static search::SpaceFacts factsOf(const cost::Model &model) {
  search::SpaceFacts facts;
  facts.layers = model.numLayers();
  for (const cost::Body &body : model.bodies)
    facts.experts = std::max(facts.experts, body.experts);
  facts.ops = model.opNames();
  for (const cost::Node *node : model.nodesByVariable()) {
    std::vector<Dim> &dims = facts.choices.emplace_back();
    for (const cost::DimChoice &choice : node->op->choices())
      if (choice.dim != dimBoth || !node->op->canShardBothDims())
        dims.push_back(choice.dim);
    if (node->op->canShardBothDims())
      facts.bothDimsOps.push_back(node->variable);
    if (node->op->cutsContext())
      facts.contextOps.push_back(node->variable);
  }
  facts.cutsPositions = model.workload.phase == cost::Phase::Prefill;
  facts.cacheShare = cacheShareOf(model);
  return facts;
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

ErrorOr<std::shared_ptr<const Scenario>>
Scenario::create(std::string name, cost::Model model,
                 const ScenarioOptions &options) {
  ErrorOr<SimulatorChoice> choice = parseSimulator(options.simulator);
  if (!choice)
    return choice.error();
  ErrorOr<cost::StageDivision> division = parseChoice<cost::StageDivision>(
      "partition", options.partition,
      {{"even", cost::StageDivision::Even},
       {"balanced", cost::StageDivision::Balanced}});
  if (!division)
    return division.error();
  bool isBalanced = *division == cost::StageDivision::Balanced;
  if (isBalanced && !choice->source())
    return Error{"'partition' is 'balanced' and 'simulator' is '" +
                 options.simulator +
                 "', expected roofline or calibrated, which know what each "
                 "layer takes"};
  if (options.maxDevices < 0)
    return Error{"'max-devices' is " + std::to_string(options.maxDevices) +
                 ", expected a positive number, or 0 for no limit"};
  ErrorOr<double> tpot =
      parseSlo("slo-tpot-ms", options.sloTpotMs, defaultTpotMs);
  if (!tpot)
    return tpot.error();
  ErrorOr<double> ttft =
      parseSlo("slo-ttft-ms", options.sloTtftMs, defaultTtftMs);
  if (!ttft)
    return ttft.error();
  ErrorOr<double> activations = parseActivations(options.activationsGb);
  if (!activations)
    return activations.error();
  TimingOptions times = options.timing;
  times.source = choice->source().value_or(TimeSource::Roofline);
  ErrorOr<Timing> timing = Timing::create(times);
  if (!timing)
    return timing.error();

  if (options.countIdle && !options.maxDevices)
    return Error{"'count-idle' needs to know how many devices there are: "
                 "expected 'max-devices' or 'devices'"};

  std::shared_ptr<Scenario> scenario(new Scenario());
  scenario->settings = options;
  if (choice->kind == SimulatorChoice::Kind::Auto)
    scenario->settings.simulator =
        timing->isCalibrated ? "calibrated" : "roofline";
  scenario->name = std::move(name);
  scenario->names = model.opNames();
  scenario->cluster = std::move(timing->machine);
  scenario->time = timing->time;
  scenario->skew = timing->skew;
  bool isPrefill = model.workload.phase == cost::Phase::Prefill;
  scenario->slo = isPrefill ? *ttft : *tpot;
  if ((isPrefill ? options.sloTpotMs : options.sloTtftMs) != 0 && options.warn)
    options.warn(isPrefill ? "'slo-tpot-ms' has no effect on prefill"
                           : "'slo-ttft-ms' has no effect on decode");
  cost::Limits limits;
  limits.maxDevices = options.maxDevices;
  if (options.countIdle)
    limits.available = options.maxDevices;
  limits.memoryBytes = scenario->cluster.memoryCapacity;
  limits.activationBytes = *activations;
  limits.latencySeconds = scenario->slo / 1e3;
  scenario->costModel = std::make_unique<cost::CostModel>(
      std::move(model), timing->time, timing->skew, limits, *division);
  scenario->facts = factsOf(scenario->model());
  scenario->rooflineOracle =
      std::make_unique<RooflineSimulator>(*scenario->costModel);
  auto oracle = makeSimulator(*choice, *scenario);
  if (!oracle)
    return oracle.error();
  scenario->externalOracle =
      dynamic_cast<const blackbox::ExternalSimulator *>(oracle->get());
  scenario->oracle = std::move(*oracle);
  if (scenario->oracle && limits.limitsActivations())
    scenario->oracle = std::make_unique<LimitedActivations>(
        std::move(scenario->oracle), *scenario->costModel);
  if (scenario->oracle && limits.available)
    scenario->oracle = std::make_unique<IdleDevices>(
        std::move(scenario->oracle), limits.available);
  return std::shared_ptr<const Scenario>(std::move(scenario));
}

double Scenario::lowerBoundMs(const Strategy &strategy) const {
  cost::CostModel atPeaks(model(), std::make_shared<cost::LowerBound>(cluster),
                          std::nullopt, costModel->limits(),
                          costModel->division());
  return cost::breakdown(atPeaks, strategy).evaluation.latencyMs;
}

cost::CostModel Scenario::costsUnder(const cost::Limits &limits) const {
  return cost::CostModel(model(), time, skew, limits, costModel->division());
}

search::Objective Scenario::objective(search::Goal goal) const {
  search::Objective objective;
  objective.goal = goal;
  objective.sloMs = std::isinf(slo) ? 0 : slo;
  objective.memoryCapacityGb = memoryCapacityGb();
  if (costModel->limits().limitsActivations())
    objective.activationsGb = costModel->limits().activationBytes / 1e9;
  return objective;
}
