//===- ModuleScenario.cpp - The scenario of a module ----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/Analysis/ModuleScenario.h"
#include "shardopt/Dialect/LLM/Analysis/StrategyAttributes.h"
#include "shardopt/Dialect/LLM/IR/LLMDialect.h"
#include "shardopt/Support/Fingerprint.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace shardopt;

/// Makes `machine` that of `module` where it is empty.
static std::optional<Error> completeMachine(ModuleOp module,
                                            std::string &machine) {
  Attribute attr = module->getAttr(llm::machineAttrName);
  if (!machine.empty() || !attr)
    return std::nullopt;
  auto name = dyn_cast<StringAttr>(attr);
  if (!name)
    return Error{"'" + llm::machineAttrName.str() +
                 "' is not a string, expected the name or file of a machine"};
  machine = name.str();
  return std::nullopt;
}

/// Takes the limit of the phase from the workload of `module` where the options
/// say none.
static void completeLimits(ModuleOp module, ScenarioOptions &options) {
  auto workload =
      module->getAttrOfType<llm::WorkloadAttr>(llm::workloadAttrName);
  if (!workload)
    return;
  bool isPrefill = workload.getPhase() == llm::Phase::Prefill;
  double &limit = isPrefill ? options.sloTtftMs : options.sloTpotMs;
  if (limit == 0)
    limit = workload
                .getRequests()[isPrefill ? RequestField::TtftMs
                                         : RequestField::TpotMs]
                .value_or(0);
}

ErrorOr<Timing> shardopt::createTiming(ModuleOp module, TimingOptions options) {
  if (auto error = completeMachine(module, options.machine))
    return *error;
  return Timing::create(options);
}

FailureOr<ModuleScenario> shardopt::createScenario(ModuleOp module,
                                                   ScenarioOptions options) {
  if (auto error = completeMachine(module, options.timing.machine))
    return emitError(module.getLoc(), error->message);
  FailureOr<ModuleModel> program = buildModuleModel(module);
  if (failed(program))
    return failure();
  completeLimits(module, options);
  if (!options.warn)
    options.warn = [location = module.getLoc()](const std::string &text) {
      emitWarning(location, text);
    };
  auto scenario = Scenario::create(program->name, program->model, options);
  if (!scenario)
    return emitError(module.getLoc(), scenario.error().message);
  return ModuleScenario{std::move(*program), std::move(*scenario)};
}

std::string shardopt::fingerprintProgram(ModuleOp module) {
  OwningOpRef<ModuleOp> program(module.clone());
  dropAnnotation(*program);
  std::string text;
  llvm::raw_string_ostream stream(text);
  program->print(stream);
  return fingerprint(text);
}
