//===- PassOptions.h - What the options of passes share ---------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_DIALECT_LLM_TRANSFORMS_PASSOPTIONS_H
#define SHARDOPT_LIB_DIALECT_LLM_TRANSFORMS_PASSOPTIONS_H

#include "shardopt/Dialect/LLM/Analysis/ModuleScenario.h"
#include "shardopt/Dialect/LLM/Transforms/CollectivePasses.h"
#include "shardopt/Dialect/LLM/Transforms/PlanningHost.h"
#include "shardopt/Model/StageCut.h"
#include "shardopt/Support/FileRoles.h"

#include "mlir/Pass/Pass.h"
#include "llvm/Support/raw_ostream.h"

#include <string_view>

namespace shardopt::llm {

/// Completes `message`, MLIR's error about the options of `pass`: an unknown
/// option is answered with the known ones, closest first.
std::string explainOptionError(mlir::Pass &pass, const std::string &message);

/// The number of threads that `threads=` asks for.
unsigned threadCount(unsigned option);

/// The files that a pass over `module` reads with the options `machine` and
/// `simulator`: the program, that of the machine, and those that a simulator is
/// started from.
FileRoles inputFiles(mlir::ModuleOp module, const std::string &machine,
                     const std::string &simulator);

/// An error if the simulator of `scenario` only answers, for passes that need
/// what it computes with.
std::optional<Error> checkCanBeOpened(const Scenario &scenario);

/// Adds an `--llm-search-sharding` with `options`, as a command line spells
/// them; those that `--llm-insert-collectives` has too.
mlir::FailureOr<InsertCollectivesPassOptions> addSearchShardingPass(
    mlir::OpPassManager &manager, llvm::StringRef options,
    llvm::function_ref<mlir::LogicalResult(const llvm::Twine &)> errorHandler,
    const PlanningHost &host);

/// A pass whose unknown options are answered with the known ones.
template <typename Base> class ListsOptions : public Base {
public:
  using Base::Base;

  mlir::LogicalResult
  initializeOptions(llvm::StringRef options,
                    llvm::function_ref<mlir::LogicalResult(const llvm::Twine &)>
                        errorHandler) override {
    return Base::initializeOptions(options, [&](const llvm::Twine &message) {
      return errorHandler(explainOptionError(*this, message.str()));
    });
  }

protected:
  /// The option of a pass that has one for each degree.
  const std::string &optionOf(Degree degree) const {
    DegreeMap<const std::string *> options = {{
#define SHARDOPT_DEGREE(name, ...) &this->name.getValue(),
#include "shardopt/Model/Degrees.def"
    }};
    return *options[degree];
  }

  /// Replaces the stages of `degrees` by those of the option, if it is given.
  /// An option that says pp alone would leave stages of another number.
  std::optional<Error> readStages(PartialDegrees &degrees) const {
    ErrorOr<StageCut> cut = parseStageCut(this->stages.getValue());
    if (!cut)
      return cut.error();
    if (!cut->isEmpty())
      degrees.stages = std::move(*cut);
    if (std::optional<std::string> error = degrees.stagesError())
      return Error{std::move(*error)};
    return std::nullopt;
  }
};

/// A pass with a host.
template <typename Base> class HostedPass : public ListsOptions<Base> {
public:
  using ListsOptions<Base>::ListsOptions;
  HostedPass() = default;
  explicit HostedPass(PlanningHost host) : host(std::move(host)) {}

protected:
  /// Shows `text` to a person.
  void print(std::string_view text) const {
    if (host.print)
      return host.print(text);
    llvm::errs() << text;
    llvm::errs().flush();
  }

  PlanningHost host;
};

/// A pass with the options of a scenario, and a host.
template <typename Base> class ScenarioPass : public HostedPass<Base> {
public:
  using HostedPass<Base>::HostedPass;

protected:
  FileRoles inputFiles(mlir::ModuleOp module) const {
    return llm::inputFiles(module, this->machine, this->simulator);
  }

  ScenarioOptions scenarioOptions() const {
    ScenarioOptions options;
    options.timing = {this->machine, this->commModel, this->imbalance};
    options.maxDevices = this->maxDevices;
    options.countIdle = this->countIdle;
    options.sloTpotMs = this->sloTpotMs;
    options.sloTtftMs = this->sloTtftMs;
    options.activationsGb = this->activationsGb;
    options.simulator = this->simulator;
    options.partition = this->partition;
    options.simulatorWorkers = this->simulatorWorkers;
    options.simulatorTimeoutSeconds = this->simulatorTimeoutSeconds;
    options.stop = this->host.stop;
    return options;
  }
};

} // namespace shardopt::llm

#endif // SHARDOPT_LIB_DIALECT_LLM_TRANSFORMS_PASSOPTIONS_H
