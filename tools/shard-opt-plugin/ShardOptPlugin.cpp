//===- ShardOptPlugin.cpp - Dialect and passes for the stock mlir-opt -----===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   mlir-opt-22 --load-dialect-plugin=libShardOptPlugin.so
//     --load-pass-plugin=libShardOptPlugin.so
//     --pass-pipeline='builtin.module(llm-search-sharding)' model.mlir
//
//===----------------------------------------------------------------------===//

#include "shardopt/Conversion/Pipelines.h"
#include "shardopt/Dialect/LLM/Transforms/Passes.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

static constexpr const char *name = "shardopt";

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, name, SHARDOPT_VERSION,
          [](mlir::DialectRegistry *registry) {
            shardopt::llm::registerPassDialects(*registry);
            shardopt::registerExecutionDialects(*registry);
          }};
}

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, name, SHARDOPT_VERSION, [] {
            shardopt::llm::registerPasses();
            shardopt::registerExecutionPasses();
          }};
}
