//===- ModuleScenario.h - The scenario of a module --------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_ANALYSIS_MODULESCENARIO_H
#define SHARDOPT_DIALECT_LLM_ANALYSIS_MODULESCENARIO_H

#include "shardopt/Dialect/LLM/Analysis/ModuleModel.h"
#include "shardopt/Planning/Scenario.h"

namespace shardopt {

/// A module as its passes see it: its ops, for annotations and diagnostics, and
/// a scenario, which knows nothing of the module and may outlive it.
struct ModuleScenario {
  ModuleModel program;
  std::shared_ptr<const Scenario> scenario;
};

/// Reads `module`, and makes a scenario of it. The machine is that of the
/// options, else the one that `llm.machine` names, else the default; the limit
/// of its phase is that of the options, else of `llm.workload`. What is wrong
/// is diagnosed: at an op for the program, at the module for the options.
mlir::FailureOr<ModuleScenario> createScenario(mlir::ModuleOp module,
                                               ScenarioOptions options);

/// The times of such a machine.
ErrorOr<Timing> createTiming(mlir::ModuleOp module, TimingOptions options);

/// Tells the program of `module` from others, whatever its strategy is.
std::string fingerprintProgram(mlir::ModuleOp module);

} // namespace shardopt

#endif // SHARDOPT_DIALECT_LLM_ANALYSIS_MODULESCENARIO_H
