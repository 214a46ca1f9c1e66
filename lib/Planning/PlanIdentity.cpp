//===- PlanIdentity.cpp - What a search for a plan is ---------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanIdentity.h"
#include "shardopt/Model/Machine/MachineWriter.h"
#include "shardopt/Support/Files.h"
#include "shardopt/Support/Fingerprint.h"

using namespace shardopt;

/// Of all numbers of the machine that `scenario` times strategies with.
static std::string fingerprintOfMachine(const Scenario &scenario) {
  std::string text;
  json::Writer writer(text);
  writeMachine(writer, scenario.machine());
  if (scenario.simulatorName() == "calibrated" &&
      scenario.machine().calibration)
    text += "\n" + fingerprintOf(*scenario.machine().calibration);
  return fingerprint(text);
}

static std::string spellDomain(const std::vector<int64_t> &values) {
  std::string text;
  for (int64_t value : values)
    text += (text.empty() ? "" : ",") + std::to_string(value);
  return text;
}

/// "012,2,01": the dims of each op.
static std::string spellDomains(const search::DimDomains &domains) {
  std::string text;
  for (const search::DimDomain &domain : domains) {
    text += text.empty() ? "" : ",";
    for (Dim dim : domain)
      text += std::to_string(int(dim));
  }
  return text;
}

/// The value of an option of the searcher. That of a file is what is in it.
static std::string spellOption(const std::string &value) {
  constexpr uint64_t maxBytes = uint64_t(1) << 32;
  constexpr std::string_view prefix = "file:";
  if (value.compare(0, prefix.size(), prefix) != 0)
    return value;
  ErrorOr<std::string> text = readFile(value.substr(prefix.size()), maxBytes);
  return text ? value + " " + fingerprint(*text) : value;
}

search::SearchIdentity
shardopt::planIdentity(const Scenario &scenario, const PlanRequest &request,
                       const search::StrategySpace &space,
                       const std::string &searcher, uint64_t budget) {
  const ScenarioOptions &options = scenario.options();
  search::SearchIdentity identity = {
      {"version", SHARDOPT_VERSION},
      {"searcher", searcher},
      {"seed", std::to_string(request.seed)},
      {"budget", std::to_string(budget)},
      {"accounting", spell(request.accounting)},
      {"objective",
       request.goal == search::Goal::Latency ? "latency" : "throughput"},
      {"slo-ms", formatNumber(scenario.sloMs(), 17)},
      {"max-devices", std::to_string(scenario.maxDevices())},
      {"devices", std::to_string(request.space.devices.value_or(0))},
      {"simulator", scenario.simulatorName()},
      {"simulator-workers",
       std::to_string(scenario.external() ? scenario.external()->workers()
                                          : 1)},
      {"comm-model", options.timing.commModel},
      {"imbalance", options.timing.imbalance},
      {"partition", options.partition},
      {"machine",
       scenario.machine().name + " " + fingerprintOfMachine(scenario)},
      {"model", scenario.modelName() + " " + request.program}};
  // Not of searches that were there before these were.
  if (options.countIdle)
    identity.emplace_back("count-idle", "true");
  if (scenario.costs().limits().limitsActivations())
    identity.emplace_back("activations-gb",
                          formatNumber(options.activationsGb, 17));
  if (request.engine)
    identity.emplace_back("engine", spell(*request.engine));
  if (space.fitsBatch())
    identity.emplace_back("batches", space.describeBatches());
  for (Degree degree : space.openDegrees())
    identity.emplace_back(spell(degree),
                          spellDomain(space.degreeDomain(degree)));
  if (!space.stages().isEmpty())
    identity.emplace_back(StageCut::key, spell(space.stages()));
  identity.emplace_back("dims", spellDomains(space.dimDomains()));
  for (const auto &[name, value] : request.options.named())
    if (name != "agent-save") // an output
      identity.emplace_back(name, spellOption(value));
  return identity;
}
