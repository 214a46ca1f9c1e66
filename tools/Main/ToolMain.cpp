//===- ToolMain.cpp - What the tools have in common -----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ToolMain.h"

#include "shardopt/Support/Nesting.h"
#include "shardopt/Support/Signals.h"
#include "shardopt/Support/WriteFile.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace shardopt;

//===----------------------------------------------------------------------===//
// From main to exit code
//===----------------------------------------------------------------------===//

static void printVersion(llvm::raw_ostream &stream) {
  stream << "shardopt " << SHARDOPT_VERSION << '\n';
  llvm::cl::PrintVersionMessage();
}

/// LLVM takes over SIGHUP even where it is ignored (`nohup`).
static bool isHangupIgnored() {
  struct sigaction action;
  return sigaction(SIGHUP, nullptr, &action) == 0 &&
         action.sa_handler == SIG_IGN;
}

int tool::fail(const std::string &message) {
  // At once: other processes, and who started them, write there too.
  llvm::errs() << "error: " + message + "\n";
  return 1;
}

int tool::exitCode(bool succeeded, const StopToken &stop) {
  constexpr int ofSignals = 128;
  return stop.requested() ? ofSignals + stop.signal() : !succeeded;
}

int tool::toolMain(int &argc, char **&argv, llvm::function_ref<int()> body,
                   StopToken *stop) {
  bool ignoresHangup = isHangupIgnored();
  llvm::InitLLVM init(argc, argv, /*InstallPipeSignalExitHandler=*/false);
  if (ignoresHangup)
    std::signal(SIGHUP, SIG_IGN);
  handleSignals(stop);
  llvm::cl::SetVersionPrinter(printVersion);

  int code = body();
  llvm::outs().flush();
  // Streams with an error that nobody has looked at abort the program.
  if (std::error_code error = llvm::outs().error()) {
    llvm::outs().clear_error();
    code = fail("cannot write to the standard output: " + error.message());
  }
  llvm::errs().clear_error();
  return code;
}

void tool::parseOptions(int argc, char **argv,
                        llvm::cl::OptionCategory &category,
                        const char *overview) {
  llvm::cl::HideUnrelatedOptions(category);
  llvm::cl::ParseCommandLineOptions(argc, argv, overview);
}

//===----------------------------------------------------------------------===//
// Modules and outputs
//===----------------------------------------------------------------------===//

std::unique_ptr<llvm::MemoryBuffer>
tool::readModuleText(const std::string &path) {
  std::string message;
  auto buffer = mlir::openInputFile(path, &message);
  if (!buffer) {
    fail(message);
    return nullptr;
  }
  llvm::StringRef text = buffer->getBuffer();
  if (text.empty()) {
    fail("'" + path + "' is empty, expected a module");
    return nullptr;
  }
  if (auto error = checkNesting(path, {text.data(), text.size()})) {
    fail(error->message);
    return nullptr;
  }
  return buffer;
}

mlir::OwningOpRef<mlir::ModuleOp> tool::readModule(const std::string &path,
                                                   llvm::SourceMgr &sources,
                                                   mlir::MLIRContext &context) {
  std::unique_ptr<llvm::MemoryBuffer> buffer = readModuleText(path);
  if (!buffer)
    return nullptr;
  // The parser reads the main file of its manager.
  auto own = std::make_shared<llvm::SourceMgr>();
  own->AddNewSourceBuffer(
      llvm::MemoryBuffer::getMemBuffer(buffer->getMemBufferRef()),
      llvm::SMLoc());
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  return mlir::parseSourceFile<mlir::ModuleOp>(own, &context);
}

int tool::writeOutput(const std::string &path, const std::string &text) {
  std::optional<Error> error = writeFile(path, text);
  return error ? fail(error->message) : 0;
}
