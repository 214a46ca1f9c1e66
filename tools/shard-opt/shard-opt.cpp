//===- shard-opt.cpp - Sharding passes on .mlir files ---------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/IR/LLMOps.h"
#include "shardopt/Dialect/LLM/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Shard/IR/ShardDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<shardopt::llm::LLMDialect, mlir::arith::ArithDialect,
                  mlir::func::FuncDialect, mlir::shard::ShardDialect,
                  mlir::tensor::TensorDialect>();
  mlir::registerTransformsPasses();
  shardopt::llm::registerLLMPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "shardopt optimizer\n", registry));
}
