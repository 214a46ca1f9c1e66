//===- PassOptions.cpp - What the options of passes share -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PassOptions.h"
#include "shardopt/Dialect/LLM/IR/LLMDialect.h"
#include "shardopt/Model/Machine/Machine.h"
#include "shardopt/Support/Suggest.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <thread>

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

/// The options of `pass`, as its textual form "flag{a=1 b=2}" has them.
static std::vector<std::string> optionNames(Pass &pass) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  pass.printAsTextualPipeline(stream);
  StringRef options = StringRef(text).split('{').second.drop_back();
  std::vector<std::string> names;
  for (StringRef option : llvm::split(options, ' '))
    if (option.contains('='))
      names.push_back(option.split('=').first.str());
  return names;
}

std::string llm::explainOptionError(Pass &pass, const std::string &message) {
  constexpr StringRef unknown = "no such option ";
  if (message.empty()) // what is wrong was printed where it was found
    return "'" + pass.getArgument().str() + "' has an option of a wrong value";
  size_t at = StringRef(message).find(unknown);
  if (at == StringRef::npos)
    return message;
  std::string name = StringRef(message)
                         .drop_front(at + unknown.size())
                         .split(' ')
                         .first.trim()
                         .str();
  return "'" + pass.getArgument().str() + "' has no option '" +
         abbreviate(name) + "'; " + listKnown(name, optionNames(pass));
}

unsigned llm::threadCount(unsigned option) {
  // Far more threads than cores gain nothing, and starting them may fail.
  constexpr unsigned maxThreads = 256;
  unsigned wanted = option ? option : std::thread::hardware_concurrency();
  return std::clamp(wanted, 1u, maxThreads);
}

/// The file that `module` was parsed from; empty if it was not, or from bytes
/// without locations.
static std::string sourceOf(ModuleOp module) {
  auto location = dyn_cast<FileLineColLoc>(module.getLoc());
  return location ? location.getFilename().str() : "";
}

FileRoles llm::inputFiles(ModuleOp module, const std::string &machine,
                          const std::string &simulator) {
  FileRoles files;
  files.transforms("the program", sourceOf(module));
  std::string cluster = machine;
  auto attribute = module->getAttrOfType<StringAttr>(machineAttrName);
  if (cluster.empty() && attribute)
    cluster = attribute.str();
  if (isMachineFile(cluster))
    files.reads("'machine'", cluster);
  StringRef started = simulator;
  if (started.consume_front("plugin:"))
    files.reads("'simulator'", started.str());
  // A command, and what may be files among its arguments.
  if (started.consume_front("exec:"))
    for (StringRef word : llvm::split(started, ' '))
      files.reads("'simulator'", word.str());
  return files;
}

std::optional<Error> llm::checkCanBeOpened(const Scenario &scenario) {
  if (scenario.simulator().decomposition())
    return std::nullopt;
  return Error{"'simulator' is '" + scenario.simulatorName() +
               "', expected one that can be opened: roofline or calibrated"};
}
