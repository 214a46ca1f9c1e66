//===- embed-passes.cpp - Searches and inserts collectives in a host ------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// usage: embed-passes <module>
//
// A compiler or a serving system that has both passes in a pipeline of its own,
// takes what they print, and reads the metrics of the plan without a file.
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/Transforms/CollectivePasses.h"
#include "shardopt/Dialect/LLM/Transforms/Passes.h"
#include "shardopt/Planning/Plan.h"

#include "mlir/Dialect/Shard/IR/ShardOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

using namespace shardopt;

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  mlir::DialectRegistry registry;
  llm::registerPassDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(argv[1], &context);
  if (!module)
    return 1;

  std::string printed;
  auto record = [](double throughput, bool isProved) {
    ::llvm::outs() << "throughput " << formatNumber(throughput, 17)
                   << ", proved " << isProved << '\n';
  };
  llm::PlanningHost host;
  host.print = [&](std::string_view text) { printed += text; };
  host.planned = [&](const PlanSummary &summary) {
    if (summary.plan)
      record(summary.plan->evaluation.throughput, summary.search.proved);
  };
  mlir::PassManager passes(&context);
  std::unique_ptr<mlir::Pass> search = llm::createSearchShardingPass(host);
  auto fail = [](const ::llvm::Twine &message) {
    ::llvm::errs() << message << '\n';
    return mlir::failure();
  };
  if (failed(search->initializeOptions("max-devices=16 pins=ignore", fail)))
    return 1;
  passes.addPass(std::move(search));
  passes.addPass(llm::createInsertCollectivesPass());
  if (failed(passes.run(*module)))
    return 1;

  unsigned reductions = 0;
  module->walk([&](mlir::shard::AllReduceOp) { ++reductions; });
  ::llvm::outs() << "lines of the table: "
                 << ::llvm::StringRef(printed).count('\n') << "\n"
                 << "all-reduces: " << reductions << "\n";
}
