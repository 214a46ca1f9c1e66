//===- shard-lsp-server.cpp - Language server for .mlir files -------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Main/ToolMain.h"

#include "shardopt/Conversion/Pipelines.h"
#include "shardopt/Dialect/LLM/Transforms/Passes.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/Support/CommandLine.h"

static int serve(int argc, char **argv) {
  // What is registered by now is LLVM's, of code generators and the like.
  llvm::cl::OptionCategory category("Options of shard-lsp-server");
  llvm::cl::HideUnrelatedOptions(category);
  mlir::DialectRegistry registry;
  shardopt::llm::registerPassDialects(registry);
  shardopt::registerExecutionDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}

int main(int argc, char **argv) {
  return shardopt::tool::toolMain(argc, argv,
                                  [&] { return serve(argc, argv); });
}
