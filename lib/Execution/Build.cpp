//===- Build.cpp - From modules to executables ----------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Execution/Build.h"

#include "shardopt/Analysis/StrategyAttributes.h"
#include "shardopt/Dialect/LLM/IR/LLMOps.h"
#include "shardopt/Dialect/LLM/Transforms/CollectivePasses.h"
#include "shardopt/Runtime/Symbols.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Shard/IR/ShardOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::execution;

static std::optional<Error> runPasses(ModuleOp module,
                                      function_ref<void(OpPassManager &)> add,
                                      const char *what) {
  PassManager manager(module.getContext());
  manager.enableVerifier(false); // each pass is tested on its own
  add(manager);
  if (failed(manager.run(module)))
    return Error{std::string("the module cannot be ") + what};
  return std::nullopt;
}

/// Functions without a body are the runtime's: any other name would be looked
/// up in this process, whatever it is there.
static std::optional<Error> checkExternals(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isExternal() && !function.getName().starts_with("shardopt_"))
      return Error{"function '" + function.getName().str() +
                   "' has no body, expected one"};
  return std::nullopt;
}

ErrorOr<Built> execution::build(ModuleOp module, const BuildOptions &options,
                                Codegen codegen) {
  auto error = runPasses(
      module,
      [&](OpPassManager &manager) {
        addTensorPasses(manager, options.lowering);
      },
      "lowered to tensors");
  if (error)
    return *error;
  if (auto unknown = checkExternals(module))
    return *unknown;
  Built built;
  ErrorOr<ProgramInterface> interface = readInterface(module, options.entry);
  if (!interface)
    return interface.error();
  built.interface = std::move(*interface);
  if (codegen == Codegen::InterfaceOnly)
    return built;
  if (auto failure = runPasses(module, addLLVMPasses, "lowered to LLVM"))
    return *failure;
  std::vector<std::string> entries;
  for (const Entry &stage : built.interface.stages)
    entries.push_back(entryName(stage.name));
  ErrorOr<ObjectCode> object = compile(module, entries, options.optimization);
  if (!object)
    return object.error();
  built.object = std::move(*object);
  return built;
}

ErrorOr<Executable> execution::load(Built built) {
  ErrorOr<LoadedProgram> code =
      LoadedProgram::load(built.object, runtime::symbols());
  if (!code)
    return code.error();
  return Executable{std::move(built.interface), std::move(*code)};
}

bool execution::isPartitioned(ModuleOp module) {
  return module->hasAttr(loweredStrategyAttrName);
}

bool execution::isAnnotated(ModuleOp module) {
  return module->hasAttr(llm::strategyAttrName);
}

/// Lets the users of the `index`-th all_reduce read what it was to reduce.
static std::optional<Error> dropAllReduce(ModuleOp module, int64_t index) {
  SmallVector<shard::AllReduceOp> reductions;
  module.walk([&](shard::AllReduceOp op) { reductions.push_back(op); });
  if (index >= int64_t(reductions.size()))
    return Error{"the program has " + std::to_string(reductions.size()) +
                 " all_reduces, none of number " + std::to_string(index)};
  shard::AllReduceOp op = reductions[index];
  op.getResult().replaceAllUsesWith(op.getInput());
  op.erase();
  return std::nullopt;
}

std::optional<Error> execution::partition(ModuleOp module,
                                          const PartitionOptions &options) {
  auto error = runPasses(
      module,
      [&](OpPassManager &manager) {
        manager.addPass(llm::createInsertCollectivesPass());
        if (options.optimizesCollectives)
          manager.addPass(llm::createOptimizeCollectivesPass());
      },
      "partitioned");
  if (error || options.droppedAllReduce < 0)
    return error;
  return dropAllReduce(module, options.droppedAllReduce);
}

void execution::requestLogits(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>()) {
    SmallVector<llm::LmHeadOp> heads(function.getOps<llm::LmHeadOp>());
    for (llm::LmHeadOp head : heads) {
      if (head.getLogits())
        continue;
      OpBuilder builder(head);
      auto input = cast<RankedTensorType>(head.getInput().getType());
      auto weight = cast<RankedTensorType>(head.getWeight().getType());
      Type type = RankedTensorType::get(
          {ShapedType::kDynamic, weight.getDimSize(head.getTied() ? 0 : 1)},
          input.getElementType());
      OperationState state(head.getLoc(), head->getName());
      state.addOperands(head->getOperands());
      state.addAttributes(head->getAttrs());
      state.addTypes({head.getTokenIds().getType(), type});
      Operation *complete = builder.create(state);
      head.getTokenIds().replaceAllUsesWith(complete->getResult(0));
      head.erase();

      auto terminator = cast<func::ReturnOp>(function.front().getTerminator());
      unsigned position = terminator.getNumOperands();
      terminator.getOperandsMutable().append(complete->getResult(1));
      (void)function.insertResult(
          position, type,
          builder.getDictionaryAttr(builder.getNamedAttr(
              "llm.role", builder.getStringAttr("logits"))));
    }
  }
}

int64_t execution::findVocabulary(ModuleOp module) {
  int64_t rows = 0;
  module.walk([&](llm::EmbeddingOp op) {
    rows = cast<RankedTensorType>(op.getTable().getType()).getDimSize(0);
    Operation *table = op.getTable().getDefiningOp();
    auto slice = table ? table->getAttrOfType<DictionaryAttr>("shardopt.slice")
                       : nullptr;
    if (auto argument = dyn_cast<BlockArgument>(op.getTable()))
      if (auto function =
              dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()))
        slice = function.getArgAttrOfType<DictionaryAttr>(
            argument.getArgNumber(), "shardopt.slice");
    if (slice)
      if (auto shape = slice.getAs<DenseI64ArrayAttr>("shape"))
        rows = shape[0];
    return WalkResult::interrupt();
  });
  return rows;
}
