//===- PlanIdentity.cpp - What a search for a plan is ---------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanIdentity.h"
#include "shardopt/Analysis/StrategyAttributes.h"
#include "shardopt/Machine/MachineWriter.h"
#include "shardopt/Support/Files.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace shardopt;

/// 16 digits that differ where `text` does.
static std::string fingerprint(StringRef text) {
  return ::llvm::utohexstr(::llvm::xxh3_64bits(text), /*LowerCase=*/true,
                           /*Width=*/16);
}

/// The program of `module`, without what it says of its strategy: pins count as
/// part of the space.
static std::string fingerprint(ModuleOp module) {
  OwningOpRef<ModuleOp> program(module.clone());
  dropAnnotation(*program);
  std::string text;
  ::llvm::raw_string_ostream stream(text);
  program->print(stream);
  return fingerprint(text);
}

static std::string fingerprint(const Machine &machine) {
  std::string text;
  json::Writer writer(text);
  writeMachine(writer, machine);
  return fingerprint(text);
}

static std::string spellDomain(const std::vector<int64_t> &values) {
  return ::llvm::join(
      ::llvm::map_range(values,
                        [](int64_t value) { return std::to_string(value); }),
      ",");
}

/// "012,2,01": the dims of each op.
static std::string spellDomains(const search::DimDomains &domains) {
  std::string text;
  for (const search::DimDomain &domain : domains) {
    text += text.empty() ? "" : ",";
    for (Dim dim : domain)
      text += std::to_string(static_cast<int>(dim));
  }
  return text;
}

/// The value of an option of the searcher. That of a file is what is in it.
static std::string spellOption(const std::string &value) {
  constexpr uint64_t maxBytes = uint64_t(1) << 32;
  StringRef path = value;
  if (!path.consume_front("file:"))
    return value;
  ErrorOr<std::string> text = readFile(path.str(), maxBytes);
  return text ? value + " " + fingerprint(*text) : value;
}

search::SearchIdentity
shardopt::planIdentity(const Scenario &scenario, const PlanRequest &request,
                       const search::StrategySpace &space,
                       const std::string &searcher, uint64_t budget) {
  using search::StrategySpace;
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
      {"comm-model", options.commModel},
      {"imbalance", options.imbalance},
      {"partition", options.partition},
      {"machine",
       scenario.machine().name + " " + fingerprint(scenario.machine())},
      {"model", scenario.program().name + " " + fingerprint(scenario.module())},
      {"tp", spellDomain(space.degreeDomain(StrategySpace::Tp))},
      {"ep", spellDomain(space.degreeDomain(StrategySpace::Ep))},
      {"pp", spellDomain(space.degreeDomain(StrategySpace::Pp))},
      {"batch", spellDomain(space.degreeDomain(StrategySpace::Batch))},
      {"dims", spellDomains(space.dimDomains())}};
  for (const auto &[name, value] : request.options.named())
    if (name != "agent-save") // an output
      identity.emplace_back(name, spellOption(value));
  return identity;
}
