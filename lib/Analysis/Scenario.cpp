//===- Scenario.cpp - A model on a machine under limits -------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Analysis/Scenario.h"
#include "SimulatorOption.h"
#include "shardopt/Analysis/RooflineSimulator.h"
#include "shardopt/Cost/Roofline.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace shardopt;

static constexpr double defaultTpotMs = 50;
static constexpr double defaultTtftMs = 2000;

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

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

FailureOr<std::unique_ptr<Scenario>>
Scenario::create(ModuleOp module, const ScenarioOptions &options) {
  auto fail = [&](const Error &error) {
    return emitError(module.getLoc(), error.message);
  };
  ErrorOr<SimulatorChoice> choice = parseSimulator(options.simulator);
  if (!choice)
    return fail(choice.error());
  ErrorOr<bool> isEven =
      parseChoice<bool>("partition", options.partition, {{"even", true}});
  if (!isEven)
    return fail(isEven.error());
  if (options.maxDevices < 0)
    return fail({"'max-devices' is " + std::to_string(options.maxDevices) +
                 ", expected a positive number, or 0 for no limit"});
  ErrorOr<double> tpot =
      parseSlo("slo-tpot-ms", options.sloTpotMs, defaultTpotMs);
  if (!tpot)
    return fail(tpot.error());
  ErrorOr<double> ttft =
      parseSlo("slo-ttft-ms", options.sloTtftMs, defaultTtftMs);
  if (!ttft)
    return fail(ttft.error());
  ErrorOr<Timing> timing = Timing::create(
      module, {options.machine, options.commModel, options.imbalance});
  if (!timing)
    return fail(timing.error());

  FailureOr<ModuleModel> model = buildModuleModel(module);
  if (failed(model))
    return failure();

  std::unique_ptr<Scenario> scenario(new Scenario());
  scenario->moduleOp = module;
  scenario->settings = options;
  scenario->moduleModel = std::move(*model);
  for (const cost::Node *node : scenario->moduleModel.model.nodesByVariable())
    scenario->names.push_back(node->name);
  scenario->cluster = std::move(timing->machine);
  scenario->slo = scenario->isPrefill() ? *ttft : *tpot;
  if (scenario->isPrefill() ? options.sloTpotMs != 0 : options.sloTtftMs != 0)
    emitWarning(module.getLoc(), scenario->isPrefill()
                                     ? "'slo-tpot-ms' has no effect on prefill"
                                     : "'slo-ttft-ms' has no effect on decode");
  scenario->time = timing->time;
  scenario->skew = timing->skew;
  cost::Limits limits;
  limits.maxDevices = options.maxDevices;
  limits.memoryBytes = scenario->cluster.memoryCapacity;
  limits.latencySeconds = scenario->slo / 1e3;
  scenario->costModel =
      std::make_unique<cost::CostModel>(scenario->costsUnder(limits));
  scenario->rooflineOracle =
      std::make_unique<RooflineSimulator>(*scenario->costModel);
  scenario->oracleName = options.simulator;
  auto oracle = makeSimulator(
      *choice, *scenario, options,
      [module](const std::string &text) mutable { module.emitWarning(text); });
  if (!oracle)
    return fail(oracle.error());
  scenario->oracle = std::move(*oracle);
  scenario->externalOracle =
      dynamic_cast<const blackbox::ExternalSimulator *>(scenario->oracle.get());
  return scenario;
}

cost::CostModel Scenario::costsUnder(const cost::Limits &limits) const {
  return cost::CostModel(moduleModel.model, time, skew, limits);
}

//===----------------------------------------------------------------------===//
// Facts for a search
//===----------------------------------------------------------------------===//

search::SpaceFacts Scenario::spaceFacts() const {
  const cost::Model &model = moduleModel.model;
  search::SpaceFacts facts;
  facts.layers = model.numLayers();
  for (const cost::Body &body : model.bodies)
    facts.experts = std::max(facts.experts, body.experts);
  facts.ops = names;
  return facts;
}

search::Objective Scenario::objective(search::Goal goal) const {
  search::Objective objective;
  objective.goal = goal;
  objective.sloMs = std::isinf(slo) ? 0 : slo;
  objective.memoryCapacityGb = memoryCapacityGb();
  return objective;
}
