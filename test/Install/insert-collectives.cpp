//===- insert-collectives.cpp - Uses an installed dialect and a pass ------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/Transforms/CollectivePasses.h"
#include "shardopt/Dialect/LLM/Transforms/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

// Megatron's feed-forward network: columns, then rows, then one all-reduce.
static constexpr llvm::StringLiteral source = R"mlir(
module attributes {
    llm.strategy = #llm.strategy<tp = 2, ep = 1, pp = 1, batch = 8>,
    llm.workload = #llm.workload<phase = decode, context = 64>} {
  func.func @ffn(%x: tensor<?x32xbf16>, %u: tensor<32x80xbf16>,
                 %d: tensor<80x32xbf16>) -> tensor<?x32xbf16> {
    %0 = llm.ffn_up "ffn_up" dim<1> %x, %u {activation = #llm.activation<kind = gelu>} : tensor<?x32xbf16> -> tensor<?x80xbf16>
    %1 = llm.ffn_down "ffn_down" dim<0> %0, %d : tensor<?x80xbf16> -> tensor<?x32xbf16>
    return %1 : tensor<?x32xbf16>
  }
}
)mlir";

int main() {
  mlir::DialectRegistry registry;
  shardopt::llm::registerPassDialects(registry);
  mlir::MLIRContext context(registry);
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(source, &context);
  if (!module)
    return 1;
  mlir::PassManager passes(&context);
  passes.addPass(shardopt::llm::createInsertCollectivesPass());
  if (failed(passes.run(*module)))
    return 1;
  module->print(llvm::outs());
}
