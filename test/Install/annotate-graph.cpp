//===- annotate-graph.cpp - Shards a graph of linalg in a host ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: annotate-graph <module>
//
// A compiler that knows linalg, and not the `llm` dialect, chooses a sharding
// in a pipeline of its own.
//
//===----------------------------------------------------------------------===//

#include "shardopt/Conversion/Graphs/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Shard/IR/ShardDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

using namespace shardopt;

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  mlir::DialectRegistry registry;
  registry.insert<mlir::arith::ArithDialect, mlir::func::FuncDialect,
                  mlir::linalg::LinalgDialect, mlir::shard::ShardDialect,
                  mlir::tensor::TensorDialect>();
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(argv[1], &context);
  if (!module)
    return 1;

  graphs::AutoAnnotatePassOptions options;
  options.machine = "h100_sxm";
  options.meshText = "8";
  mlir::PassManager passes(&context);
  passes.addPass(graphs::createAutoAnnotatePass(options));
  if (failed(passes.run(*module)))
    return 1;
  module->print(::llvm::outs());
}
