//===- shard-translate.cpp - Models from and to other formats -------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Does not call upstream's main, which removes an existing output when it
// fails. Values of options are read by hand so that an unknown one is answered
// with the known ones.
//
//===----------------------------------------------------------------------===//

#include "../Main/RequestOptions.h"
#include "../Main/ToolMain.h"

#include "shardopt/Dialect/LLM/IR/LLMOps.h"
#include "shardopt/Model/RequestContext.h"
#include "shardopt/Support/FileRoles.h"
#include "shardopt/Support/Limits.h"
#include "shardopt/Support/Suggest.h"
#include "shardopt/Target/HuggingFace/Import.h"
#include "shardopt/Target/ParameterCount.h"
#include "shardopt/Target/Retype.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace shardopt;

namespace cl = llvm::cl;

static cl::OptionCategory category("Options of shard-translate");

static cl::opt<std::string>
    importHf("import-hf", cl::value_desc("config.json"),
             cl::desc("Import the model that a Hugging Face config describes"),
             cl::cat(category));
static cl::opt<std::string>
    phase("phase", cl::desc("decode or prefill (with --import-hf)"),
          cl::value_desc("phase"), cl::cat(category));
static cl::opt<std::string>
    context("context", cl::value_desc("tokens"),
            cl::desc("Context of a decode step, or tokens of each "
                     "prompt (with --import-hf)"),
            cl::cat(category));
/// Of --import-hf.
static tool::RequestOptions requests(category);
static cl::opt<std::string> weightType(
    "weight-type", cl::value_desc("type"),
    cl::desc("Weight type, instead of the checkpoint's: bf16, f16, f32, "
             "fp8, fp8_block, int8, int4, nvfp4 or mxfp4"),
    cl::cat(category));
static cl::opt<std::string>
    activationType("activation-type", cl::value_desc("type"),
                   cl::desc("Activation type: bf16, f16, f32 or fp8"),
                   cl::cat(category));
static cl::opt<std::string>
    kvType("kv-type", cl::value_desc("type"),
           cl::desc("KV-cache type: bf16, f16, f32 or fp8"), cl::cat(category));
static cl::opt<bool>
    logits("logits", cl::desc("Return the logits too (with --import-hf)"),
           cl::cat(category));
static cl::opt<bool> parameterCount(
    "parameter-count",
    cl::desc("Print the number of parameters instead of the module"),
    cl::cat(category));
static cl::opt<bool> explainImport(
    "explain-import", cl::cat(category),
    cl::desc("Print what each key of the config became, and the keys that were "
             "ignored, instead of the module (with --import-hf)"));
static cl::opt<std::string> input(cl::Positional, cl::cat(category),
                                  cl::desc("[module.mlir]"));
static cl::opt<std::string> output("o", cl::desc("Output file"),
                                   cl::value_desc("file"), cl::init("-"),
                                   cl::cat(category));

//===----------------------------------------------------------------------===//
// Values of options
//===----------------------------------------------------------------------===//

/// An error for an option that is needed and not there.
static Error missing(const cl::opt<std::string> &option,
                     const std::string &wanted) {
  return Error{"--" + option.ArgStr.str() + ": missing, expected " + wanted};
}

/// The choice that `option` names, or an error that lists their names.
template <typename T>
static ErrorOr<T>
readChoice(const cl::opt<std::string> &option,
           llvm::ArrayRef<std::pair<llvm::StringRef, T>> choices) {
  std::vector<std::string> names;
  for (const auto &[name, choice] : choices) {
    if (option == name.str())
      return choice;
    names.push_back(name.str());
  }
  return Error{"--" + option.ArgStr.str() + ": unknown value '" +
               abbreviate(option) + "'; " + listKnown(option, names)};
}

/// The type of activations; absent where the option is not given.
static ErrorOr<std::optional<hf::ElementType>> readActivationType() {
  using Type = std::optional<hf::ElementType>;
  if (activationType.getNumOccurrences() == 0)
    return Type();
  return readChoice<Type>(activationType, {{"bf16", hf::ElementType::BF16},
                                           {"f16", hf::ElementType::F16},
                                           {"f32", hf::ElementType::F32},
                                           {"fp8", hf::ElementType::Fp8}});
}

static ErrorOr<hf::ImportOptions> readImportOptions() {
  hf::ImportOptions options;
  if (phase.getNumOccurrences() == 0)
    return missing(phase, "decode or prefill");
  ErrorOr<llm::Phase> chosen =
      readChoice<llm::Phase>(phase, {{"decode", llm::Phase::Decode},
                                     {"prefill", llm::Phase::Prefill}});
  if (!chosen)
    return chosen.error();
  options.phase = *chosen;
  ErrorOr<RequestLoad> load = requests.read();
  if (!load)
    return load.error();
  options.requests = *load;
  std::string wanted =
      "a number of tokens from 1 to " + std::to_string(maxContext);
  if (context.getNumOccurrences() == 0 && !load->hasRequests())
    return missing(context, wanted);
  if (context.getNumOccurrences() == 0)
    options.context =
        std::min(cost::longestContext(*load, options.phase), maxContext);
  else if (llvm::StringRef(context).getAsInteger(10, options.context) ||
           options.context < 1 || options.context > maxContext)
    return Error{"--context: expected " + wanted + ", found '" +
                 abbreviate(context) + "'"};
  if (auto why = cost::contextError({options.phase, options.context}, *load))
    return Error{*why};
  ErrorOr<std::optional<hf::ElementType>> activations = readActivationType();
  if (!activations)
    return activations.error();
  options.activations = *activations;
  options.logits = logits;
  options.model = hf::modelName(importHf);
  return options;
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

static ErrorOr<mlir::OwningOpRef<mlir::ModuleOp>>
importConfig(mlir::MLIRContext &context) {
  ErrorOr<hf::ImportOptions> options = readImportOptions();
  if (!options)
    return options.error();
  ErrorOr<json::Document> document = hf::parseConfigFile(importHf);
  if (!document)
    return document.error();
  ErrorOr<hf::ModelConfig> config = hf::readModelConfig(*document);
  if (!config)
    return config.error();
  if (std::optional<Error> error = hf::checkIndexedSize(importHf, *config))
    return *error;
  if (!config->plannedOnly.empty())
    llvm::errs() << "warning: " << importHf
                 << ": cost-only: " << config->plannedOnly << '\n';
  return hf::importModel(&context, *config, *options);
}

/// The text that explains what is imported; it needs no workload.
static ErrorOr<std::string> explained() {
  ErrorOr<json::Document> document = hf::parseConfigFile(importHf);
  if (!document)
    return document.error();
  ErrorOr<hf::ModelConfig> config = hf::readModelConfig(*document);
  if (!config)
    return config.error();
  return hf::explainImport(*document, *config);
}

static std::string printed(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (parameterCount)
    stream << countParameters(module) << '\n';
  else
    stream << module << '\n';
  return text;
}

static int translate() {
  bool importing = importHf.getNumOccurrences() > 0;
  if (importing == !input.empty())
    return tool::fail("expected either --import-hf or a module");
  for (const cl::Option *option : std::initializer_list<const cl::Option *>{
           &phase, &context, &activationType, &logits, &explainImport})
    if (!importing && option->getNumOccurrences() > 0)
      return tool::fail("--" + option->ArgStr.str() + " needs --import-hf");
  if (const cl::Option *option = requests.firstGiven(); option && !importing)
    return tool::fail("--" + option->ArgStr.str() + " needs --import-hf");

  FileRoles files;
  if (importing || parameterCount)
    files.reads("the input", importing ? importHf : input);
  files.writes("the output", output);
  if (explainImport) {
    ErrorOr<std::string> text = explained();
    if (!text)
      return tool::fail(text.error().message);
    if (std::optional<Error> error = files.check())
      return tool::fail(error->message);
    return tool::writeOutput(output, *text);
  }

  mlir::DialectRegistry registry;
  registry.insert<llm::LLMDialect, mlir::func::FuncDialect>();
  mlir::MLIRContext context(registry);
  context.printOpOnDiagnostic(false); // the op may be the whole module
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler handler(sources, &context);
  mlir::OwningOpRef<mlir::ModuleOp> module;
  if (importing) {
    ErrorOr<mlir::OwningOpRef<mlir::ModuleOp>> imported = importConfig(context);
    if (!imported)
      return tool::fail(imported.error().message);
    module = std::move(*imported);
  } else {
    module = tool::readModule(input, sources, context);
    if (!module)
      return 1;
  }
  for (const cl::opt<std::string> *option : {&weightType, &kvType})
    if (option->getNumOccurrences() > 0 && option->empty())
      return tool::fail("--" + option->ArgStr.str() + " is empty");
  if (std::optional<Error> error = retype(*module, {weightType, kvType}))
    return tool::fail(error->message);
  if (failed(mlir::verify(*module)))
    return 1;

  if (std::optional<Error> error = files.check())
    return tool::fail(error->message);
  return tool::writeOutput(output, printed(*module));
}

int main(int argc, char **argv) {
  return tool::toolMain(argc, argv, [&] {
    tool::parseOptions(argc, argv, category,
                       "Models from and to other formats\n\nMost used:\n"
                       "  --import-hf=<config.json>  a config as a module\n"
                       "  --phase, --context         under which workload\n"
                       "  -o <file>                  where to\n");
    return translate();
  });
}
