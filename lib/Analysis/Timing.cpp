//===- Timing.cpp - What a machine takes for the ops of a module ----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Analysis/Timing.h"

#include "shardopt/Dialect/LLM/IR/LLMDialect.h"
#include "shardopt/Support/Suggest.h"

using namespace mlir;
using namespace shardopt;

static constexpr const char *defaultMachine = "h100_sxm";

Error shardopt::unknownChoice(const std::string &option,
                              const std::string &value,
                              const std::vector<std::string> &known) {
  return Error{"unknown " + option + " '" + abbreviate(value) + "'; " +
               listKnown(value, known)};
}

static ErrorOr<Machine> findMachine(ModuleOp module,
                                    const std::string &option) {
  if (!option.empty())
    return loadMachine(option);
  Attribute attr = module->getAttr(llm::machineAttrName);
  if (!attr)
    return loadMachine(defaultMachine);
  if (auto name = dyn_cast<StringAttr>(attr))
    return loadMachine(name.str());
  return Error{"'" + llm::machineAttrName.str() +
               "' is not a string, expected the name or file of a machine"};
}

ErrorOr<Timing> Timing::create(ModuleOp module, const TimingOptions &options) {
  ErrorOr<cost::CommModel> comm =
      parseChoice<cost::CommModel>("comm-model", options.commModel,
                                   {{"fast", cost::CommModel::Fast},
                                    {"direct", cost::CommModel::Direct},
                                    {"ring", cost::CommModel::Ring}});
  if (!comm)
    return comm.error();
  ErrorOr<bool> isSkewed = parseChoice<bool>(
      "imbalance", options.imbalance, {{"model", true}, {"none", false}});
  if (!isSkewed)
    return isSkewed.error();
  ErrorOr<Machine> machine = findMachine(module, options.machine);
  if (!machine)
    return machine.error();

  Timing timing;
  timing.machine = std::move(*machine);
  timing.time = std::make_shared<cost::Roofline>(timing.machine, *comm);
  if (*isSkewed)
    timing.skew = timing.machine.expertSkew;
  return timing;
}
