//===- Build.cpp - From modules to executables ----------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Execution/Build.h"
#include "CheckRows.h"

#include "shardopt/Dialect/LLM/IR/ArgumentAttributes.h"
#include "shardopt/Dialect/LLM/IR/LLMOps.h"
#include "shardopt/Dialect/LLM/IR/ModuleAttributes.h"
#include "shardopt/Dialect/LLM/Transforms/CollectivePasses.h"
#include "shardopt/Execution/Runtime/Symbols.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Shard/IR/ShardOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::execution;

static std::optional<Error> runPasses(ModuleOp module,
                                      function_ref<void(OpPassManager &)> add,
                                      const char *what) {
  PassManager manager(module.getContext());
  // Once at the end instead of after each pass: what is wrong by then would be
  // executed.
  manager.enableVerifier(false);
  add(manager);
  if (failed(manager.run(module)) || failed(verify(module)))
    return Error{std::string("the module cannot be ") + what};
  return std::nullopt;
}

/// The functions that `function` calls.
static SmallVector<func::FuncOp> calleesOf(func::FuncOp function) {
  SmallVector<func::FuncOp> callees;
  function.walk([&](func::CallOp call) {
    if (auto callee = mlir::SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
            call, call.getCalleeAttr()))
      callees.push_back(callee);
  });
  return callees;
}

/// What a program calls ends: no function calls itself, through others either.
static std::optional<Error> checkCalls(ModuleOp module) {
  // Functions leave once all that they call has left.
  llvm::MapVector<Operation *, SmallVector<func::FuncOp>> waiting;
  for (auto function : module.getOps<func::FuncOp>())
    waiting.insert({function, calleesOf(function)});
  bool hasChanged = true;
  while (hasChanged) {
    size_t before = waiting.size();
    waiting.remove_if([&](auto &entry) {
      return llvm::none_of(entry.second, [&](func::FuncOp callee) {
        return waiting.contains(callee);
      });
    });
    hasChanged = waiting.size() != before;
  }
  if (waiting.empty())
    return std::nullopt;
  auto function = cast<func::FuncOp>(waiting.front().first);
  return Error{"function '" + function.getName().str() +
               "' calls itself, or functions that do, expected calls that end"};
}

/// A cast that says how large a dynamic dim is: nothing holds at run time that
/// the numbers agree, and code would go on beyond the end of the rows.
static std::optional<Error> checkCasts(ModuleOp module) {
  std::optional<Error> error;
  module.walk([&](tensor::CastOp cast) {
    auto from = dyn_cast<RankedTensorType>(cast.getSource().getType());
    auto to = dyn_cast<RankedTensorType>(cast.getType());
    if (from && to &&
        !llvm::any_of(llvm::seq(from.getRank()), [&](int64_t dim) {
          return from.isDynamicDim(dim) && !to.isDynamicDim(dim);
        }))
      return WalkResult::advance();
    std::string text;
    llvm::raw_string_ostream(text)
        << "'tensor.cast' says that " << cast.getSource().getType() << " is "
        << cast.getType()
        << ": expected sizes that are dynamic to stay so, for they are those "
           "of the arguments";
    error = Error{std::move(text)};
    return WalkResult::interrupt();
  });
  return error;
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
  if (auto endless = checkCalls(module))
    return *endless;
  if (auto sized = checkCasts(module))
    return *sized;
  if (!llm::isPartitioned(module) && failed(checkRows(module)))
    return Error{"the module cannot be executed"};
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
  if (auto endless = checkCalls(module))
    return endless;
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
          builder.getDictionaryAttr(
              llm::roleAttribute(builder.getContext(), llm::Role::Logits)));
    }
  }
}

/// What is said of the slice that `table` is, where it is one.
static FailureOr<std::optional<llm::lowered::Slice>> readSlice(Value table) {
  using llm::lowered::Slice;
  if (Operation *param = table.getDefiningOp())
    return llm::lowered::readFrom<Slice>(param);
  auto argument = cast<BlockArgument>(table);
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  if (!function)
    return std::optional<Slice>();
  unsigned number = argument.getArgNumber();
  return llm::lowered::readFrom<Slice>(function.getArgAttrDict(number),
                                       function, "argument " + Twine(number));
}

ErrorOr<int64_t> execution::findVocabulary(ModuleOp module) {
  llm::EmbeddingOp embedding;
  module.walk([&](llm::EmbeddingOp op) {
    embedding = op;
    return WalkResult::interrupt();
  });
  if (!embedding)
    return 0;
  auto slice = readSlice(embedding.getTable());
  if (failed(slice))
    return Error{"the slice of the table of an 'llm.embedding' is wrong"};
  if (*slice && !(*slice)->shape.empty())
    return (*slice)->shape.front();
  return cast<RankedTensorType>(embedding.getTable().getType()).getDimSize(0);
}
