//===- SplitStages.cpp - A function for each pipeline stage ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PassOptions.h"
#include "StageWriter.h"

#include "shardopt/Dialect/LLM/Analysis/ModuleScenario.h"
#include "shardopt/Dialect/LLM/IR/LoweredAttributes.h"
#include "shardopt/Dialect/LLM/IR/ModuleAttributes.h"
#include "shardopt/Dialect/LLM/Transforms/ExecutionPasses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Shard/IR/ShardDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace shardopt::llm {
#define GEN_PASS_DEF_SPLITSTAGESPASS
#include "shardopt/Dialect/LLM/Transforms/ExecutionPasses.h.inc"
} // namespace shardopt::llm

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

namespace {

struct SplitStages
    : public ListsOptions<
          shardopt::llm::impl::SplitStagesPassBase<SplitStages>> {
  using ListsOptions::ListsOptions;

  void runOnOperation() override;

private:
  LogicalResult split(ArrayRef<func::FuncOp> entries, shard::GridOp grid);
};

} // namespace

/// What callers run: public functions with a body, but for those that are
/// stages already.
static SmallVector<func::FuncOp> findEntries(ModuleOp module) {
  SmallVector<func::FuncOp> entries;
  for (auto func : module.getOps<func::FuncOp>())
    if (func.isPublic() && !func.isExternal() &&
        !func->hasAttr(lowered::Stage::attrName))
      entries.push_back(func);
  return entries;
}

/// The name of a stage of `func`, if it is free.
static FailureOr<std::string> nameStage(func::FuncOp func, int64_t stage) {
  std::string name = (func.getName() + "_stage" + Twine(stage)).str();
  Operation *other = SymbolTable::lookupNearestSymbolFrom(
      func, StringAttr::get(func.getContext(), name));
  if (!other)
    return name;
  return func.emitOpError("needs the name '")
             .append(name, "' for a stage")
             .attachNote(other->getLoc())
         << "which is taken here";
}

static LogicalResult splitEntry(func::FuncOp func, shard::GridOp grid,
                                const cost::Context &context,
                                const cost::TimeModel &time) {
  auto module = func->getParentOfType<ModuleOp>();
  if (!SymbolTable::symbolKnownUseEmpty(func, module))
    return func.emitOpError("is called: expected an entry, since each "
                            "stage becomes one");
  FailureOr<StagePlan> plan = StagePlan::create(func, grid, context.degrees);
  if (failed(plan))
    return failure();
  StageTransfer transfer(grid, context, time);
  for (int64_t stage = 0; stage < plan->getNumStages(); ++stage) {
    FailureOr<std::string> name = nameStage(func, stage);
    if (failed(name) ||
        failed(StageWriter(*plan, transfer, stage).write(*name)))
      return failure();
  }
  func.erase();
  return success();
}

LogicalResult SplitStages::split(ArrayRef<func::FuncOp> entries,
                                 shard::GridOp grid) {
  ModuleOp module = getOperation();
  FailureOr<std::optional<Degrees>> read = readLoweredStrategy(module);
  FailureOr<cost::Workload> workload = readWorkloadOrToken(module);
  if (failed(read) || failed(workload))
    return failure();
  std::optional<Degrees> degrees = *read;
  if (!degrees)
    return emitError(module.getLoc(),
                     "module has a grid and no 'shardopt.strategy': expected a "
                     "partitioned module; run --llm-insert-collectives first");
  ErrorOr<Timing> timing = createTiming(module, {machine, commModel});
  if (!timing)
    return emitError(module.getLoc(), timing.error().message);
  cost::Context context = cost::makeContext(*workload, *degrees);
  for (func::FuncOp func : entries)
    if (failed(splitEntry(func, grid, context, *timing->time)))
      return failure();
  return success();
}

void SplitStages::runOnOperation() {
  ModuleOp module = getOperation();
  SmallVector<func::FuncOp> entries = findEntries(module);
  auto grids = module.getOps<shard::GridOp>();
  shard::GridOp grid = grids.empty() ? shard::GridOp() : *grids.begin();
  bool isCut = grid && grid.getShape().size() >= 3 && grid.getShape()[0] > 1;
  if (isCut) {
    if (failed(split(entries, grid)))
      signalPassFailure();
    return;
  }
  for (func::FuncOp func : entries)
    lowered::writeTo(func, lowered::Stage());
}
