//===- ScenarioService.cpp - Our simulators for others --------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/ScenarioService.h"
#include "shardopt/Planning/Plan.h"
#include "shardopt/Support/Suggest.h"

#include <algorithm>

using namespace shardopt;

ScenarioService::ScenarioService(const Scenario &scenario)
    : scenario(scenario) {
  if (const search::Decomposition *decomposition =
          scenario.simulator().decomposition())
    mask.emplace(*decomposition, scenario.spaceFacts().choices,
                 search::Goal::Throughput);
}

//===----------------------------------------------------------------------===//
// The greeting
//===----------------------------------------------------------------------===//

static Error mismatch(const std::string &key, const std::string &theirs,
                      const std::string &ours) {
  return Error{"'" + key + "' is " + abbreviate(theirs) +
               ", but this simulator was started for " + abbreviate(ours)};
}

/// Names joined by commas.
static std::string joined(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : ",") + name;
  return text;
}

std::optional<Error> ScenarioService::greet(const blackbox::Hello &hello) {
  auto phase = [](LatencyKey key) {
    return key == LatencyKey::Tpot ? "decode" : "prefill";
  };
  if (!hello.ops.empty() && hello.ops != scenario.opNames())
    return mismatch("ops", joined(hello.ops), joined(scenario.opNames()));
  if (hello.latency && *hello.latency != latencyKey())
    return mismatch("phase", phase(*hello.latency), phase(latencyKey()));
  if (hello.context && *hello.context != scenario.workload().context)
    return mismatch("context", std::to_string(*hello.context),
                    std::to_string(scenario.workload().context));
  if (!hello.machine.empty() && hello.machine != scenario.machine().name)
    return mismatch("machine", hello.machine, scenario.machine().name);
  if (hello.sloMs && *hello.sloMs != scenario.sloMs())
    return mismatch("slo_ms", formatNumber(*hello.sloMs),
                    formatNumber(scenario.sloMs()));
  return std::nullopt;
}

std::string ScenarioService::name() const { return scenario.simulatorName(); }

const std::vector<std::string> &ScenarioService::opNames() const {
  return scenario.opNames();
}

LatencyKey ScenarioService::latencyKey() const { return scenario.latencyKey(); }

/// The dims that `op` may have where nothing is cut: on one device, all other
/// dims none.
static search::DimDomain legalDims(const Scenario &scenario, size_t op) {
  search::DimDomain legal;
  search::SpaceFacts facts = scenario.spaceFacts();
  for (Dim dim : facts.choices[op]) {
    Strategy strategy;
    strategy.dims.assign(scenario.opNames().size(), Dim::None);
    strategy.dims[op] = dim;
    if (scenario.roofline().evaluate(strategy).reason != Reason::Structural)
      legal.push_back(dim);
  }
  return legal;
}

void ScenarioService::describe(json::Writer &writer) const {
  search::SpaceRequest request;
  if (scenario.maxDevices())
    request.maxDevices = scenario.maxDevices();
  auto space = search::StrategySpace::create(scenario.spaceFacts(), request);
  if (!space)
    return;
  writer.key("space").beginObject();
  for (Degree degree : space->openDegrees()) {
    writer.key(spell(degree)).beginArray();
    for (int64_t value : space->degreeDomain(degree))
      writer.value(value);
    writer.endArray();
  }
  writer.key("max_devices");
  if (scenario.maxDevices())
    writer.value(scenario.maxDevices());
  else
    writer.null();
  writer.key("dims").beginObject();
  for (size_t op = 0; op < scenario.opNames().size(); ++op) {
    writer.key(scenario.opNames()[op]).beginArray();
    for (Dim dim : legalDims(scenario, op))
      writer.value(int(dim));
    writer.endArray();
  }
  writer.endObject().endObject();
}

std::vector<Degree> ScenarioService::degrees() const {
  if (scenario.external())
    return scenario.external()->degrees();
  std::vector<Degree> further;
  for (Degree degree : allDegrees)
    if (!infoOf(degree).isRequired())
      further.push_back(degree);
  return further;
}

bool ScenarioService::readsStages() const {
  return !scenario.external() || scenario.external()->readsStages();
}

//===----------------------------------------------------------------------===//
// Evaluations
//===----------------------------------------------------------------------===//

ErrorOr<blackbox::Answer> ScenarioService::evaluate(const Strategy &strategy) {
  blackbox::Answer answer;
  answer.evaluation = scenario.simulator().evaluate(strategy);
  answer.masked =
      !answer.evaluation.valid && mask && mask->isHopeless(strategy.degrees);
  return answer;
}
