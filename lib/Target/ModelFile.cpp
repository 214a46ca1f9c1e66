//===- ModelFile.cpp - From a file to a model to plan for -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Target/ModelFile.h"

#include "shardopt/Dialect/LLM/Analysis/ModuleModel.h"
#include "shardopt/Dialect/LLM/Analysis/StrategyAttributes.h"
#include "shardopt/Dialect/LLM/IR/LLMDialect.h"
#include "shardopt/Support/Limits.h"
#include "shardopt/Support/Nesting.h"
#include "shardopt/Target/HuggingFace/Import.h"
#include "shardopt/Target/Retype.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace shardopt;

namespace {

/// A context whose errors become one text.
class Workbench {
public:
  Workbench() : handler(&context, [this](Diagnostic &found) { keep(found); }) {
    context.loadDialect<func::FuncDialect, llm::LLMDialect>();
    context.printOpOnDiagnostic(false); // the op may be the whole module
  }

  MLIRContext context;

  Error error() const {
    return Error{text.empty() ? "the module cannot be read" : text};
  }
  /// With other types, where `types` says some.
  ErrorOr<LoadedModel> load(ModuleOp module, const TypeChoice &types);

private:
  ErrorOr<LoadedModel> load(ModuleOp module) const;
  void keep(const Diagnostic &found) {
    if (found.getSeverity() != DiagnosticSeverity::Error)
      return;
    llvm::raw_string_ostream stream(text);
    if (!text.empty())
      stream << '\n';
    if (auto place = dyn_cast<FileLineColLoc>(found.getLocation()))
      stream << place.getFilename().getValue() << ':' << place.getLine() << ':'
             << place.getColumn() << ": ";
    stream << found;
  }

  std::string text;
  ScopedDiagnosticHandler handler;
};

} // namespace

ErrorOr<LoadedModel> Workbench::load(ModuleOp module) const {
  FailureOr<ModuleModel> program = buildModuleModel(module);
  if (failed(program))
    return error();
  LoadedModel loaded;
  loaded.name = program->name;
  Annotation annotation = readAnnotation(module, *program);
  loaded.strategy = annotation.strategy();
  if (!loaded.strategy)
    loaded.missing = annotation.firstMissing(*program);
  loaded.costs = std::move(program->model);
  if (auto machine = module->getAttrOfType<StringAttr>(llm::machineAttrName))
    loaded.machine = machine.str();
  llvm::raw_string_ostream stream(loaded.module);
  stream << module << '\n';
  return loaded;
}

ErrorOr<LoadedModel> Workbench::load(ModuleOp module, const TypeChoice &types) {
  if (std::optional<Error> why = retype(module, types))
    return *why;
  if (failed(verify(module)))
    return error();
  return load(module);
}

using ConfigReader = ErrorOr<hf::ModelConfig> (*)(const json::Document &);

static ErrorOr<LoadedModel> importConfig(const std::string &path,
                                         const cost::Workload &workload,
                                         ConfigReader read,
                                         const TypeChoice &types = {}) {
  if (workload.context < 1 || workload.context > maxContext)
    return Error{"'context' is " + std::to_string(workload.context) +
                 ", expected a number of tokens from 1 to " +
                 std::to_string(maxContext)};
  ErrorOr<json::Document> document = hf::parseConfigFile(path);
  if (!document)
    return document.error();
  ErrorOr<hf::ModelConfig> config = read(*document);
  if (!config)
    return config.error();
  if (auto error = hf::checkIndexedSize(path, *config))
    return *error;
  hf::ImportOptions options;
  options.phase = workload.phase;
  options.context = workload.context;
  options.model = hf::modelName(path);
  Workbench bench;
  OwningOpRef<ModuleOp> module =
      hf::importModel(&bench.context, *config, options);
  return bench.load(*module, types);
}

ErrorOr<LoadedModel> shardopt::importConfigFile(const std::string &path,
                                                const cost::Workload &workload,
                                                const TypeChoice &types) {
  return importConfig(path, workload, hf::readModelConfig, types);
}

ErrorOr<LoadedModel>
shardopt::importConfigSizes(const std::string &path,
                            const cost::Workload &workload) {
  return importConfig(path, workload, [](const json::Document &document) {
    ErrorOr<hf::ModelConfig> config = hf::readModelSizes(document);
    if (config && config->epsilon <= 0)
      config->epsilon = 1e-6;
    return config;
  });
}

ErrorOr<LoadedModel> shardopt::readModuleText(std::string_view text,
                                              const std::string &name,
                                              const TypeChoice &types) {
  StringRef source(text.data(), text.size());
  if (source.trim().empty())
    return Error{"'" + name + "' is empty, expected a module"};
  if (auto error = checkNesting(name, text))
    return *error;
  Workbench bench;
  auto module = parseSourceString<ModuleOp>(source, &bench.context, name);
  if (!module)
    return bench.error();
  return bench.load(*module, types);
}

ErrorOr<LoadedModel> shardopt::readModuleFile(const std::string &path,
                                              const TypeChoice &types) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return Error{"'" + path + "': " + buffer.getError().message()};
  StringRef text = (*buffer)->getBuffer();
  return readModuleText({text.data(), text.size()}, path, types);
}
