//===- InsertCollectives.cpp - The program of one device ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PassOptions.h"
#include "shardopt/Analysis/ModuleScenario.h"
#include "shardopt/Dialect/LLM/IR/LLMOps.h"
#include "shardopt/Dialect/LLM/Transforms/Partition/Partitioner.h"
#include "shardopt/Dialect/LLM/IR/WorkloadDictionary.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Shard/IR/ShardDialect.h"
#include "mlir/Dialect/Shard/IR/ShardOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

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
  auto strategy = module->getAttrOfType<StrategyAttr>(strategyAttrName);
  if (!strategy)
    return emitError(module.getLoc(),
                     "module has no 'llm.strategy': expected a complete one; "
                     "run --llm-search-sharding or "
                     "--llm-apply-strategy first");
  if (std::optional<Degree> missing = strategy.getDegrees().firstMissing())
    return emitError(module.getLoc(), "'llm.strategy' has no '")
           << spell(*missing) << "': expected a complete strategy";
  return strategy.getDegrees().filled();
}

/// Declares the grid of devices, under a name that is free.
static FlatSymbolRefAttr createGrid(ModuleOp module, const Degrees &degrees) {
  SymbolTable symbols(module);
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto grid = shard::GridOp::create(
      builder, module.getLoc(), builder.getStringAttr("grid"),
      builder.getDenseI64ArrayAttr(gridShape(degrees).entries));
  StringAttr name = symbols.insert(grid, module.getBody()->begin());
  return FlatSymbolRefAttr::get(name);
}

/// What the module says of itself, in builtin attributes that any tool reads.
static void replaceModuleAttributes(ModuleOp module, const Degrees &degrees) {
  Builder builder(module.getContext());
  SmallVector<NamedAttribute> fields;
  visitWritten(degrees, [&](Degree degree, int64_t value) {
    fields.push_back(
        builder.getNamedAttr(spell(degree), builder.getI64IntegerAttr(value)));
  });
  module->setAttr("shardopt.strategy", builder.getDictionaryAttr(fields));
  module->removeAttr(strategyAttrName);
  replaceWorkload(module);
}

void InsertCollectives::runOnOperation() {
  ModuleOp module = getOperation();
  if (module->hasAttr("shardopt.strategy")) {
    emitError(module.getLoc(),
              "module is partitioned already: it has a 'shardopt.strategy'");
    return signalPassFailure();
  }
  FailureOr<Degrees> degrees = readDegrees(module);
  ErrorOr<Timing> timing =
      createTiming(module, {machine, commModel, imbalance});
  if (!timing)
    emitError(module.getLoc(), timing.error().message);
  if (failed(degrees) || !timing)
    return signalPassFailure();

  auto attribute = module->getAttrOfType<WorkloadAttr>(workloadAttrName);
  cost::Workload workload;
  workload.context = 1;
  if (attribute) {
    workload.phase = attribute.getPhase() == Phase::Decode
                         ? cost::Phase::Decode
                         : cost::Phase::Prefill;
    workload.context = attribute.getContextLength();
  }
  cost::Context context = cost::makeContext(workload, *degrees);
  FlatSymbolRefAttr grid = createGrid(module, *degrees);
  for (auto func : module.getOps<func::FuncOp>())
    if (failed(
            Partitioner(grid, context, *timing->time, timing->skew).run(func)))
      return signalPassFailure();
  replaceModuleAttributes(module, *degrees);
}
