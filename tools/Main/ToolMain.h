//===- ToolMain.h - What the tools have in common ---------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_TOOLS_MAIN_TOOLMAIN_H
#define SHARDOPT_TOOLS_MAIN_TOOLMAIN_H

#include "shardopt/Support/Stop.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"

#include <string>

namespace llvm {
class SourceMgr;
} // namespace llvm

/// Every tool ends with one of these exit codes:
///
///   0        it did what it was asked for
///   1        it did not, and the standard error says why
///   128 + n  the signal n ended it, or asked it to end with what it had
namespace shardopt::tool {

/// The `main` of a tool: takes over signals (`handleSignals`) and `--version`,
/// runs `body`, which returns the exit code, and answers a standard output that
/// could not be written. `stop` gets the first SIGINT, SIGTERM or SIGHUP; a
/// tool without ends at once.
int toolMain(int &argc, char **&argv, llvm::function_ref<int()> body,
             StopToken *stop = nullptr);

/// Parses the command line of a tool whose options are those of `category`.
void parseOptions(int argc, char **argv, llvm::cl::OptionCategory &category,
                  const char *overview);

/// Prints "error: …" and returns the exit code 1.
int fail(const std::string &message);

/// The exit code of what succeeded or has said why not, under `stop`.
int exitCode(bool succeeded, const StopToken &stop);

/// The text of the module in the file at `path`, "-" for the standard input,
/// that a parser survives; null after an error.
std::unique_ptr<llvm::MemoryBuffer> readModuleText(const std::string &path);

/// The module in the file at `path`; null after an error. `sources` keeps the
/// text, for diagnostics that come later. Those of the parser are printed.
mlir::OwningOpRef<mlir::ModuleOp> readModule(const std::string &path,
                                             llvm::SourceMgr &sources,
                                             mlir::MLIRContext &context);

/// Writes the whole of an output (`OutputFile`); returns the exit code.
int writeOutput(const std::string &path, const std::string &text);

} // namespace shardopt::tool

#endif // SHARDOPT_TOOLS_MAIN_TOOLMAIN_H
