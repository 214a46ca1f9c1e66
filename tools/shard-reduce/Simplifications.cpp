//===- Simplifications.cpp - Ways to make a program smaller ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Simplifications.h"

#include "shardopt/Dialect/LLM/IR/ArgumentAttributes.h"
#include "shardopt/Dialect/LLM/IR/LLMOps.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Shard/IR/ShardDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

//===----------------------------------------------------------------------===//
// Degrees
//===----------------------------------------------------------------------===//

/// Ways: the degrees from the last to the first, and the batch, which all
/// become 1; and the stages, which become even, as without pipelining.
static bool dropDegree(Operation *op, unsigned way) {
  auto strategy = op->getAttrOfType<StrategyAttr>(strategyAttrName);
  if (!strategy)
    return false;
  PartialDegrees degrees = strategy.getDegrees();
  auto rewrite = [&] {
    op->setAttr(strategyAttrName, StrategyAttr::get(op->getContext(), degrees));
    return true;
  };
  if (way == numDegrees) {
    if (degrees.stages.isEmpty())
      return false;
    degrees.stages = {};
    return rewrite();
  }
  // The batch is the last of the table.
  std::optional<int64_t> &degree =
      degrees.entries[way + 1 < numDegrees ? numDegrees - 2 - way : way];
  if (!degree || *degree == 1)
    return false;
  degree = 1;
  if (degrees.stagesError())
    degrees.stages = {};
  return rewrite();
}

static unsigned countDegrees(Operation *op) {
  return op->hasAttrOfType<StrategyAttr>(strategyAttrName) ? numDegrees + 1 : 0;
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

/// Makes the type of `func` that of its block.
static void followBlock(func::FuncOp func) {
  Block &body = func.front();
  func.setType(FunctionType::get(func.getContext(), body.getArgumentTypes(),
                                 body.getTerminator()->getOperandTypes()));
}

/// Whether stacks are arguments and results of the function, whose types follow
/// those of the repeat.
static bool hasOwnStacks(RepeatOp repeat) {
  auto isArgument = [](Value stack) {
    return isa<BlockArgument>(stack) && stack.hasOneUse();
  };
  auto isReturned = [](Value stack) {
    return llvm::all_of(stack.getUsers(), [](Operation *user) {
      return isa<func::ReturnOp>(user);
    });
  };
  return llvm::all_of(repeat.getStacked(), isArgument) &&
         llvm::all_of(repeat.getStacks(), isReturned);
}

static unsigned countLayersToKeep(Operation *op) {
  auto repeat = dyn_cast<RepeatOp>(op);
  bool isLong = repeat && repeat.getCount() > 1;
  return isLong && isa<func::FuncOp>(op->getParentOp()) && hasOwnStacks(repeat)
             ? 2
             : 0;
}

/// Ways: the last layer of a repeat, and the first.
static bool keepLayer(Operation *op, unsigned way) {
  auto repeat = cast<RepeatOp>(op);
  if (repeat.getCount() == 1)
    return false;
  int64_t layer = way == 0 ? int64_t(repeat.getCount()) - 1 : 0;
  auto shorten = [](Value stack) {
    auto type = cast<RankedTensorType>(stack.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape.front() = 1;
    stack.setType(type.clone(shape));
  };
  llvm::for_each(repeat.getStacked(), shorten);
  llvm::for_each(repeat.getStacks(), shorten);
  repeat.setCount(1);
  if (std::optional<ArrayRef<int64_t>> windows = repeat.getWindows())
    repeat.setWindows(windows->slice(layer, 1));
  if (std::optional<ArrayRef<int64_t>> layers = repeat.getLayers())
    repeat.setLayers(layers->slice(layer, 1));
  followBlock(cast<func::FuncOp>(op->getParentOp()));
  return true;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

static unsigned countReturned(Operation *op) {
  return isa<func::ReturnOp>(op) ? op->getNumOperands() : 0;
}

/// Ways: each result of a function, which it returns no more.
static bool dropResult(Operation *op, unsigned way) {
  op->eraseOperand(way);
  return succeeded(op->getParentOfType<func::FuncOp>().eraseResult(way));
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Values of the same type that `result` is made of: operands, or else the
/// nearest value that goes into one of them.
static SmallVector<Value> findEarlier(OpResult result) {
  auto isAlike = [&](Value value) {
    return value.getType() == result.getType();
  };
  SmallVector<Value> open(result.getOwner()->getOperands());
  SmallVector<Value> operands =
      llvm::to_vector(llvm::make_filter_range(open, isAlike));
  if (!operands.empty())
    return operands;
  llvm::SmallPtrSet<Operation *, 32> seen = {result.getOwner()};
  for (size_t i = 0; i < open.size(); ++i) {
    if (isAlike(open[i]))
      return {open[i]};
    Operation *maker = open[i].getDefiningOp();
    if (maker && seen.insert(maker).second)
      llvm::append_range(open, maker->getOperands());
  }
  return {};
}

static unsigned countBypasses(Operation *op) {
  size_t ways = 0;
  for (OpResult result : op->getResults())
    if (!result.use_empty())
      ways = std::max(ways, findEarlier(result).size());
  return ways;
}

/// Ways: each operand of a type. Whoever reads a result reads what it is made
/// of instead, the first of several alike the first one, and so on.
static bool bypass(Operation *op, unsigned way) {
  bool changed = false;
  llvm::DenseMap<Type, unsigned> alike;
  for (OpResult result : op->getResults()) {
    unsigned before = alike[result.getType()]++;
    SmallVector<Value> earlier = findEarlier(result);
    if (result.use_empty() || earlier.empty())
      continue;
    result.replaceAllUsesWith(earlier[(before + way) % earlier.size()]);
    changed = true;
  }
  return changed;
}

/// Ways: one. The op is not cut over the tensor-parallel group.
static bool cutNothing(Operation *op, unsigned) {
  op->setAttr("sharding", DimAttr::get(op->getContext(), Dim::None));
  return true;
}

static unsigned countCuts(Operation *op) {
  auto shardable = dyn_cast<ShardableOpInterface>(op);
  std::optional<Dim> dim =
      shardable ? shardable.getShardingDim() : std::nullopt;
  return dim && *dim != Dim::None;
}

ArrayRef<Simplification> shardopt::simplifications() {
  static const Simplification all[] = {
      {"degrees", countDegrees, dropDegree},
      {"layers", countLayersToKeep, keepLayer},
      {"results", countReturned, dropResult},
      {"ops", countBypasses, bypass},
      {"dims", countCuts, cutNothing},
  };
  return all;
}

//===----------------------------------------------------------------------===//
// What is left over
//===----------------------------------------------------------------------===//

/// Ops of these dialects compute, and do nothing else.
static bool isDead(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>() || !op->use_empty() ||
      op->getNumResults() == 0)
    return false;
  return isa_and_present<LLMDialect, shard::ShardDialect>(op->getDialect()) ||
         isMemoryEffectFree(op);
}

/// Removes the operands of `repeat` that its body does not read.
static void dropOperands(RepeatOp repeat) {
  Block &body = repeat.getBody().front();
  for (size_t i = repeat.getInvariants().size(); i-- > 0;) {
    BlockArgument argument = repeat.getInvariantArguments()[i];
    if (!argument.use_empty())
      continue;
    repeat.getInvariantsMutable().erase(i);
    body.eraseArgument(argument.getArgNumber());
  }
  auto yield = cast<YieldOp>(body.getTerminator());
  for (size_t i = repeat.getStacked().size(); i-- > 0;) {
    BlockArgument slice = body.getArgument(1 + i);
    bool isCache = i < repeat.getStacks().size();
    bool isPassedOn = isCache && yield.getOperand(1 + i) == slice &&
                      slice.hasOneUse() && repeat.getStacks()[i].use_empty();
    if (!isPassedOn && (isCache || !slice.use_empty()))
      continue;
    repeat.getStackedMutable().erase(i);
    if (isCache)
      yield->eraseOperand(1 + i);
    body.eraseArgument(1 + i);
    if (!isCache)
      continue;
    // An op cannot lose a result: another one takes its place.
    SmallVector<Value> kept(repeat->getResults());
    kept.erase(kept.begin() + 1 + i);
    OpBuilder builder(repeat);
    auto fewer =
        RepeatOp::create(builder, repeat.getLoc(), TypeRange(ValueRange(kept)),
                         repeat.getCountAttr(), repeat.getInit(),
                         repeat.getStacked(), repeat.getInvariants(),
                         repeat.getLayersAttr(), repeat.getWindowsAttr());
    fewer.getBody().takeBody(repeat.getBody());
    for (auto [old, made] : llvm::zip_equal(kept, fewer->getResults()))
      old.replaceAllUsesWith(made);
    repeat.erase();
    return dropOperands(fewer);
  }
}

/// Whether a caller tells by argument `index` how many rows there are.
static bool saysRows(func::FuncOp func, unsigned index) {
  std::optional<Role> role = getRole(func.getArgAttrDict(index));
  return role == Role::Tokens || role == Role::Positions;
}

void shardopt::removeUnused(ModuleOp module) {
  SmallVector<RepeatOp> repeats;
  module.walk([&](RepeatOp repeat) { repeats.push_back(repeat); });
  llvm::for_each(repeats, dropOperands);
  SmallVector<Operation *> dead;
  do {
    dead.clear();
    module.walk([&](Operation *op) {
      if (isDead(op))
        dead.push_back(op);
    });
    for (Operation *op : dead)
      op->erase();
  } while (!dead.empty());
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal())
      continue;
    for (unsigned i = func.getNumArguments(); i-- > 0;)
      if (func.getArgument(i).use_empty() && !saysRows(func, i))
        (void)func.eraseArgument(i);
  }
}
