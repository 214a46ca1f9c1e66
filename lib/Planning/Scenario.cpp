//===- Scenario.cpp - A model on a machine under limits -------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/Scenario.h"
#include "SimulatorOption.h"
#include "shardopt/Planning/RooflineSimulator.h"
#include "shardopt/Support/Choice.h"

#include <algorithm>
#include <cmath>

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

ErrorOr<std::shared_ptr<const Scenario>>
Scenario::create(std::string name, cost::Model model,
                 const ScenarioOptions &options) {
  ErrorOr<SimulatorChoice> choice = parseSimulator(options.simulator);
  if (!choice)
    return choice.error();
  ErrorOr<bool> isEven =
      parseChoice<bool>("partition", options.partition, {{"even", true}});
  if (!isEven)
    return isEven.error();
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
  TimingOptions times = options.timing;
  times.isCalibrated = choice->kind == SimulatorChoice::Kind::Calibrated;
  ErrorOr<Timing> timing = Timing::create(times);
  if (!timing)
    return timing.error();

  std::shared_ptr<Scenario> scenario(new Scenario());
  scenario->settings = options;
  scenario->name = std::move(name);
  scenario->names = model.opNames();
  scenario->cluster = std::move(timing->machine);
  scenario->time = timing->time;
  scenario->skew = timing->skew;
  const bool isPrefill = model.workload.phase == cost::Phase::Prefill;
  scenario->slo = isPrefill ? *ttft : *tpot;
  if ((isPrefill ? options.sloTpotMs : options.sloTtftMs) != 0 && options.warn)
    options.warn(isPrefill ? "'slo-tpot-ms' has no effect on prefill"
                           : "'slo-ttft-ms' has no effect on decode");
  cost::Limits limits;
  limits.maxDevices = options.maxDevices;
  limits.memoryBytes = scenario->cluster.memoryCapacity;
  limits.latencySeconds = scenario->slo / 1e3;
  scenario->costModel = std::make_unique<cost::CostModel>(
      std::move(model), timing->time, timing->skew, limits);
  scenario->rooflineOracle =
      std::make_unique<RooflineSimulator>(*scenario->costModel);
  auto oracle = makeSimulator(*choice, *scenario);
  if (!oracle)
    return oracle.error();
  scenario->oracle = std::move(*oracle);
  scenario->externalOracle =
      dynamic_cast<const blackbox::ExternalSimulator *>(scenario->oracle.get());
  return std::shared_ptr<const Scenario>(std::move(scenario));
}

cost::CostModel Scenario::costsUnder(const cost::Limits &limits) const {
  return cost::CostModel(model(), time, skew, limits);
}

//===----------------------------------------------------------------------===//
// Facts for a search
//===----------------------------------------------------------------------===//

search::SpaceFacts Scenario::spaceFacts() const {
  search::SpaceFacts facts;
  facts.layers = model().numLayers();
  for (const cost::Body &body : model().bodies)
    facts.experts = std::max(facts.experts, body.experts);
  facts.ops = names;
  for (const cost::Node *node : model().nodesByVariable()) {
    std::vector<Dim> &dims = facts.choices.emplace_back();
    for (const cost::DimChoice &choice : node->op->choices())
      dims.push_back(choice.dim);
  }
  return facts;
}

search::Objective Scenario::objective(search::Goal goal) const {
  search::Objective objective;
  objective.goal = goal;
  objective.sloMs = std::isinf(slo) ? 0 : slo;
  objective.memoryCapacityGb = memoryCapacityGb();
  return objective;
}
