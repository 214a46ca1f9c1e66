//===- InsertCollectives.cpp - The per-rank program -----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PassOptions.h"
#include "shardopt/Dialect/LLM/Analysis/ModuleScenario.h"
#include "shardopt/Dialect/LLM/IR/LLMOps.h"
#include "shardopt/Dialect/LLM/IR/ModuleAttributes.h"
#include "shardopt/Dialect/LLM/Transforms/Partition/Partitioner.h"

#include "shardopt/Model/ProgramGrid.h"

#include "mlir/Analysis/CallGraph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Shard/IR/ShardDialect.h"
#include "mlir/Dialect/Shard/IR/ShardOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SCCIterator.h"

namespace shardopt::llm {
#define GEN_PASS_DEF_INSERTCOLLECTIVESPASS
#include "shardopt/Dialect/LLM/Transforms/CollectivePasses.h.inc"
} // namespace shardopt::llm

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

namespace {

struct InsertCollectives
    : public ListsOptions<
          shardopt::llm::impl::InsertCollectivesPassBase<InsertCollectives>> {
  using ListsOptions::ListsOptions;

  void runOnOperation() override;
};

} // namespace

/// The degrees of the module's strategy, all of them.
static FailureOr<Degrees> readDegrees(ModuleOp module) {
  if (!module->hasAttr(strategyAttrName))
    return emitError(module.getLoc(),
                     "module has no 'llm.strategy': expected a complete one; "
                     "run --llm-search-sharding or "
                     "--llm-apply-strategy first");
  PartialDegrees strategy = llm::readStrategy(module);
  if (std::optional<Degree> missing = strategy.firstMissing())
    return emitError(module.getLoc(), "'llm.strategy' has no '")
           << spell(*missing) << "': expected a complete strategy";
  Degrees degrees = strategy.filled();
  bool hasExperts = module
                        .walk([](ShardableOpInterface op) {
                          return op.returnsFromExperts()
                                     ? WalkResult::interrupt()
                                     : WalkResult::advance();
                        })
                        .wasInterrupted();
  bool isPlain = degrees.dp == degrees.ep && degrees.cp == 1;
  if (std::optional<std::string> error =
          gridError(degrees, hasExperts || (isPlain && !degrees.gathers())))
    return emitError(module.getLoc(), "the strategy, ")
           << spell(degrees) << ", has no grid: " << *error;
  return degrees;
}

/// Declares the grid of devices, under a name that is free.
static FlatSymbolRefAttr createGrid(ModuleOp module, const Degrees &degrees) {
  SymbolTable symbols(module);
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto grid = shard::GridOp::create(
      builder, module.getLoc(), builder.getStringAttr("grid"),
      builder.getDenseI64ArrayAttr(ProgramGrid(degrees).shape()));
  StringAttr name = symbols.insert(grid, module.getBody()->begin());
  return FlatSymbolRefAttr::get(name);
}

/// Fails at a function that calls itself, through others or not: no device
/// would come to an end of it.
static LogicalResult checkRecursion(ModuleOp module) {
  CallGraph graph(module);
  for (auto it = llvm::scc_begin(&std::as_const(graph)); !it.isAtEnd(); ++it) {
    if (!it.hasCycle())
      continue;
    for (const CallGraphNode *node : *it)
      if (!node->isExternal())
        return emitError(node->getCallableRegion()->getLoc(),
                         "function calls itself: expected a program without "
                         "recursion");
  }
  return success();
}

/// Fails at a call whose function takes or gives something else than the call
/// has, now that both are per-rank programs.
static LogicalResult checkCalls(ModuleOp module) {
  SymbolTableCollection symbols;
  WalkResult result = module.walk([&](func::CallOp call) {
    auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(
        call, call.getCalleeAttr());
    if (!callee)
      return WalkResult::advance(); // which the verifier reports
    if (call.getOperandTypes() == callee.getArgumentTypes() &&
        call.getResultTypes() == callee.getResultTypes())
      return WalkResult::advance();
    auto diagnostic = call.emitOpError(
        "passes whole tensors to a function that takes parts of them once it "
        "is partitioned: expected weights and caches to be read where they "
        "are arguments");
    diagnostic.attachNote(callee.getLoc())
        << "'" << callee.getName() << "' is " << callee.getFunctionType();
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

void InsertCollectives::runOnOperation() {
  ModuleOp module = getOperation();
  if (isPartitioned(module)) {
    emitError(module.getLoc(),
              "module is partitioned already: it has a 'shardopt.strategy'");
    return signalPassFailure();
  }
  FailureOr<Degrees> degrees = readDegrees(module);
  ErrorOr<Timing> timing =
      createTiming(module, {machine, commModel, imbalance});
  if (!timing)
    emitError(module.getLoc(), timing.error().message);
  if (failed(degrees) || !timing || failed(checkRecursion(module)))
    return signalPassFailure();

  FailureOr<cost::Workload> workload = readWorkloadOrToken(module);
  if (failed(workload))
    return signalPassFailure();
  if (degrees->hasEplb()) {
    emitError(module.getLoc(), "replicas of experts are not lowered: expected "
                               "eplb off, found ")
        << spell(Degree::Eplb, degrees->eplb);
    return signalPassFailure();
  }
  FlatSymbolRefAttr grid = createGrid(module, *degrees);
  for (auto func : module.getOps<func::FuncOp>())
    if (failed(
            Partitioner(grid, *workload, *degrees, *timing->time, timing->skew)
                .run(func)))
      return signalPassFailure();
  if (failed(checkCalls(module)))
    return signalPassFailure();
  lowerStrategy(module, *degrees);
  lowerWorkload(module);
}
