//===- shard-opt.cpp - Sharding passes on .mlir files ---------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Does not call upstream's main, which removes an existing output when it
// fails; and a search that is interrupted still has a result.
//
//===----------------------------------------------------------------------===//

#include "../Main/ToolMain.h"

#include "shardopt/Conversion/Pipelines.h"
#include "shardopt/Dialect/LLM/Transforms/Passes.h"
#include "shardopt/Planning/Searchers.h"
#include "shardopt/Support/OutputFile.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

using namespace shardopt;

static StopToken stopToken;

namespace {
/// Writes to an `OutputFile`.
class OutputStream final : public llvm::raw_ostream {
public:
  explicit OutputStream(OutputFile &file) : file(file) {}
  ~OutputStream() override { flush(); }

private:
  void write_impl(const char *text, size_t size) override {
    file.write({text, size});
    written += size;
  }
  uint64_t current_pos() const override { return written; }

  OutputFile &file;
  uint64_t written = 0;
};
} // namespace

static llvm::cl::OptionCategory category("Options of shard-opt");

static llvm::cl::opt<bool> listSearchers(
    "list-searchers", llvm::cl::cat(category), llvm::cl::init(false),
    llvm::cl::desc("Describe the searchers, their options and their constants "
                   "(Markdown)"));

/// Runs what the command line asks for on the file `input`.
static int run(const std::string &input, const std::string &output,
               mlir::DialectRegistry &registry) {
  auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldListPasses()) {
    mlir::printRegisteredPasses();
    return 0;
  }
  if (config.shouldShowDialects()) {
    llvm::interleave(registry.getDialectNames(), llvm::outs(), "\n");
    llvm::outs() << '\n';
    return 0;
  }
  if (listSearchers) {
    llvm::outs() << allSearchers().markdown();
    return 0;
  }
  std::unique_ptr<llvm::MemoryBuffer> buffer = tool::readModuleText(input);
  if (!buffer)
    return 1;
  ErrorOr<OutputFile> file = OutputFile::open(output);
  if (!file)
    return tool::fail(file.error().message);
  bool succeeded;
  {
    OutputStream stream(*file);
    succeeded = mlir::succeeded(
        mlir::MlirOptMain(stream, std::move(buffer), registry, config));
  }
  if (succeeded)
    if (std::optional<Error> error = file->keep())
      return tool::fail(error->message);
  return tool::exitCode(succeeded, stopToken);
}

/// Diagnostics show a place, not the whole op: the op may be the whole module.
/// `--mlir-print-op-on-diagnostic` brings it back.
static void hideOpsOfDiagnostics() {
  mlir::registerMLIRContextCLOptions();
  llvm::cl::Option *option =
      llvm::cl::getRegisteredOptions().lookup("mlir-print-op-on-diagnostic");
  if (option)
    static_cast<llvm::cl::opt<bool> *>(option)->setInitialValue(false);
}

/// What is left of MLIR's options in `--help`; `--help-hidden` shows all.
static void hideOptionsOfMlir() {
  static constexpr llvm::StringLiteral kept[] = {"help",
                                                 "help-list",
                                                 "list-passes",
                                                 "list-searchers",
                                                 "mlir-print-ir-after-all",
                                                 "mlir-timing",
                                                 "o",
                                                 "pass-pipeline",
                                                 "split-input-file",
                                                 "version"};
  for (const auto &[name, option] : llvm::cl::getRegisteredOptions())
    // Passes are values of an option without a name.
    if (!option->ArgStr.empty() && !llvm::is_contained(kept, name))
      option->setHiddenFlag(llvm::cl::Hidden);
}

static constexpr const char overview[] =
    "Sharding of large language models\n\n"
    "Most used, with options of theirs as in --llm-search-sharding=\"machine="
    "h100_sxm max-devices=16\":\n"
    "  --llm-search-sharding     find the best strategy\n"
    "  --llm-plan-serving        plan the workers of a service\n"
    "  --llm-apply-strategy      apply a given strategy\n"
    "  --llm-insert-collectives  write the per-rank program\n"
    "  --llm-schedule-stages     schedule the micro-batches of a pipeline\n"
    "  -o=<file>, --list-searchers\n";

/// What `main` does as a tool.
static int optimize(int argc, char **argv) {
  // What is registered by now is LLVM's, of code generators and the like.
  llvm::cl::HideUnrelatedOptions(category);
  hideOpsOfDiagnostics();
  mlir::DialectRegistry registry;
  llm::registerPassDialects(registry);
  registerExecutionDialects(registry);
  mlir::registerTransformsPasses();
  llm::registerPasses(&stopToken);
  registerExecutionPasses();
  std::string header = mlir::registerCLIOptions(overview, registry);
  hideOptionsOfMlir();
  auto [input, output] = mlir::parseCLIOptions(argc, argv, header);
  return run(input, output, registry);
}

int main(int argc, char **argv) {
  return tool::toolMain(
      argc, argv, [&] { return optimize(argc, argv); }, &stopToken);
}
