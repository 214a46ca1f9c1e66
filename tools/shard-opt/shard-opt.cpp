//===- shard-opt.cpp - Sharding passes on .mlir files ---------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Has a main of its own because upstream's removes an existing output when it
// fails, and because a search that is interrupted still has a result.
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/Searchers.h"
#include "shardopt/Dialect/LLM/Transforms/Passes.h"
#include "shardopt/Pipelines/Pipelines.h"
#include "shardopt/Support/Nesting.h"
#include "shardopt/Support/OutputFile.h"
#include "shardopt/Support/Stop.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>

using namespace shardopt;

/// The exit code after a signal.
static constexpr int exitInterrupted = 130;

//===----------------------------------------------------------------------===//
// Signals
//===----------------------------------------------------------------------===//

static StopToken stopToken;

extern "C" void requestStop(int signal) { stopToken.request(signal); }

/// Lets the first SIGINT or SIGTERM end what runs with a result; the second one
/// kills, as ever.
static void handleSignals() {
  struct sigaction action = {};
  action.sa_handler = requestStop;
  action.sa_flags = SA_RESETHAND | SA_RESTART;
  for (int signal : {SIGINT, SIGTERM})
    sigaction(signal, &action, nullptr);
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

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

static int fail(const std::string &message) {
  llvm::errs() << "error: " << message << '\n';
  return 1;
}

static llvm::cl::opt<bool> listSearchers(
    "list-searchers", llvm::cl::init(false),
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
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> buffer =
      mlir::openInputFile(input, &message);
  if (!buffer)
    return fail(message);
  if (buffer->getBufferSize() == 0)
    return fail("'" + input + "' is empty, expected a module");
  llvm::StringRef text = buffer->getBuffer();
  if (auto error = checkNesting(input, {text.data(), text.size()}))
    return fail(error->message);

  ErrorOr<OutputFile> file = OutputFile::open(output);
  if (!file)
    return fail(file.error().message);
  bool succeeded;
  {
    OutputStream stream(*file);
    succeeded = mlir::succeeded(
        mlir::MlirOptMain(stream, std::move(buffer), registry, config));
  }
  if (!succeeded)
    return stopToken.requested() ? exitInterrupted : 1;
  if (std::optional<Error> error = file->keep())
    return fail(error->message);
  return stopToken.requested() ? exitInterrupted : 0;
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

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  hideOpsOfDiagnostics();
  handleSignals();
  mlir::DialectRegistry registry;
  llm::registerPassDialects(registry);
  registerExecutionDialects(registry);
  mlir::registerTransformsPasses();
  llm::registerPasses(&stopToken);
  registerExecutionPasses();
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "Sharding of large language models\n", registry);
  return run(input, output, registry);
}
