//===- PassOptions.h - What the options of passes share ---------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_DIALECT_LLM_TRANSFORMS_PASSOPTIONS_H
#define SHARDOPT_LIB_DIALECT_LLM_TRANSFORMS_PASSOPTIONS_H

#include "shardopt/Analysis/ModuleScenario.h"
#include "shardopt/Dialect/LLM/Transforms/CollectivePasses.h"
#include "shardopt/Support/FileRoles.h"

#include "mlir/Pass/Pass.h"

namespace shardopt::llm {

/// Completes `message`, MLIR's error about the options of `pass`: an unknown
/// option is answered with the known ones, closest first.
std::string explainOptionError(mlir::Pass &pass, const std::string &message);

/// The number of threads that `threads=` asks for.
unsigned threadCount(unsigned option);

/// A list of positive integers, "1,2,4", for `option`; none if it is empty.
ErrorOr<std::optional<std::vector<int64_t>>>
parseIntegers(const std::string &option, ::llvm::StringRef text);

/// The files that a pass over `module` reads with the options `machine` and
/// `simulator`: the program, that of the machine, and those that a simulator is
/// started from.
FileRoles inputFiles(mlir::ModuleOp module, const std::string &machine,
                     const std::string &simulator);

/// The options of `search`, an `--llm-search-sharding`, that
/// `--llm-insert-collectives` has too.
InsertCollectivesPassOptions collectivesOf(const mlir::Pass &search);

/// A pass whose unknown options are answered with the known ones.
template <typename Base> class ListsOptions : public Base {
public:
  using Base::Base;

  mlir::LogicalResult initializeOptions(
      ::llvm::StringRef options,
      ::llvm::function_ref<mlir::LogicalResult(const ::llvm::Twine &)>
          errorHandler) override {
    return Base::initializeOptions(options, [&](const ::llvm::Twine &message) {
      return errorHandler(explainOptionError(*this, message.str()));
    });
  }

protected:
  /// The option of a pass that has one for each degree.
  const std::string &optionOf(Degree degree) const {
    const DegreeMap<const std::string *> options = {{
#define SHARDOPT_DEGREE(name, ...) &this->name.getValue(),
#include "shardopt/Support/Degrees.def"
    }};
    return *options[degree];
  }
};

/// A pass with the options of a scenario.
template <typename Base> class ScenarioPass : public ListsOptions<Base> {
public:
  using ListsOptions<Base>::ListsOptions;

protected:
  FileRoles inputFiles(mlir::ModuleOp module) const {
    return llm::inputFiles(module, this->machine, this->simulator);
  }

  /// `stop` may be null.
  ScenarioOptions scenarioOptions(const StopToken *stop) const {
    ScenarioOptions options;
    options.timing = {this->machine, this->commModel, this->imbalance};
    options.maxDevices = this->maxDevices;
    options.sloTpotMs = this->sloTpotMs;
    options.sloTtftMs = this->sloTtftMs;
    options.simulator = this->simulator;
    options.partition = this->partition;
    options.simulatorWorkers = this->simulatorWorkers;
    options.simulatorTimeoutSeconds = this->simulatorTimeoutSeconds;
    options.stop = stop;
    return options;
  }
};

} // namespace shardopt::llm

#endif // SHARDOPT_LIB_DIALECT_LLM_TRANSFORMS_PASSOPTIONS_H
