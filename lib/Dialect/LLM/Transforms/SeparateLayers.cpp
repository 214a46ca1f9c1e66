//===- SeparateLayers.cpp - Ops of their own for each layer ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dim belongs to an op, so layers that are to have dims of their own need ops
// of their own. A repeat becomes several, one after the other; those with ops
// of one name still share their dims.
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/Transforms/SeparateLayers.h"
#include "PassOptions.h"
#include "shardopt/Dialect/LLM/IR/LLMOps.h"
#include "shardopt/Dialect/LLM/Transforms/Passes.h"
#include "shardopt/Support/Choice.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/Sequence.h"

namespace shardopt::llm {
#define GEN_PASS_DEF_SEPARATELAYERSPASS
#include "shardopt/Dialect/LLM/Transforms/Passes.h.inc"
} // namespace shardopt::llm

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

namespace {

/// Consecutive iterations of a repeat that become a repeat, and what the names
/// of its ops get.
struct Part {
  int64_t begin = 0, count = 0;
  std::string tag;
};

class SeparateLayersPass
    : public llm::impl::SeparateLayersPassBase<SeparateLayersPass> {
public:
  using SeparateLayersPassBase::SeparateLayersPassBase;

  void runOnOperation() override {
    ErrorOr<SeparateBy> chosen = parseChoice<SeparateBy>(
        "by", by,
        {{"layer", SeparateBy::Layer}, {"window", SeparateBy::Window}});
    if (!chosen)
      emitError(getOperation().getLoc(), chosen.error().message);
    if (!chosen || failed(separateLayers(getOperation(), *chosen)))
      signalPassFailure();
  }
};

/// Replaces one repeat of a function.
class RepeatSplitter {
public:
  RepeatSplitter(RepeatOp repeat, ArrayRef<Part> parts)
      : repeat(repeat), parts(parts),
        func(repeat->getParentOfType<func::FuncOp>()) {}

  LogicalResult run();

private:
  LogicalResult checkStacks();
  RepeatOp clonePart(const Part &part, Value init);
  void addArguments(BlockArgument old, unsigned index);
  void replaceResult(unsigned index);

  RepeatOp repeat;
  ArrayRef<Part> parts;
  func::FuncOp func;
  SmallVector<RepeatOp> made;
};

} // namespace

/// `type` with `count` layers.
static RankedTensorType stackOf(Type type, int64_t count) {
  auto stacked = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(stacked.getShape());
  shape.front() = count;
  return stacked.clone(shape);
}

/// The name with `tag` in front, but behind what marks a kind of layers.
static std::string rename(StringRef name, StringRef tag) {
  StringRef kind = name.starts_with("dense.") ? "dense." : "";
  return (kind + tag + "." + name.drop_front(kind.size())).str();
}

//===----------------------------------------------------------------------===//
// One repeat
//===----------------------------------------------------------------------===//

/// Stacks can only be cut where they are arguments, and results, of the
/// function and nothing else.
LogicalResult RepeatSplitter::checkStacks() {
  if (repeat.getStacked().size() != repeat.getStacks().size())
    return repeat.emitOpError(
        "reads stacked weights, expected them as 'llm.param' where layers are "
        "separated");
  for (auto [stack, result] :
       llvm::zip_equal(repeat.getStacked(), repeat.getStacks())) {
    auto argument = dyn_cast<BlockArgument>(stack);
    if (!argument || argument.getOwner()->getParentOp() != func ||
        !argument.hasOneUse()) {
      auto diagnostic = repeat.emitOpError(
          "has a cache that is no argument of the function, or has other uses, "
          "expected one of its own for each stack of layers");
      for (Operation *user : stack.getUsers())
        if (user != repeat)
          diagnostic.attachNote(user->getLoc()) << "used here";
      return diagnostic;
    }
    if (!result.hasOneUse() || !isa<func::ReturnOp>(*result.user_begin()))
      return repeat.emitOpError(
          "has a cache that is not returned, or more than "
          "once, expected each of them returned once");
  }
  return success();
}

RepeatOp RepeatSplitter::clonePart(const Part &part, Value init) {
  OpBuilder builder(repeat);
  IRMapping mapping;
  auto cloned = cast<RepeatOp>(builder.clone(*repeat, mapping));
  cloned.setCount(part.count);
  cloned.getInitMutable().assign(init);
  SmallVector<int64_t> layers, windows;
  for (int64_t i : llvm::seq(part.begin, part.begin + part.count)) {
    layers.push_back(repeat.getLayer(i));
    windows.push_back(repeat.getWindow(i));
  }
  cloned.setLayers(layers);
  if (repeat.getWindows())
    cloned.setWindows(windows);
  for (Value stack : cloned.getStacks())
    stack.setType(stackOf(stack.getType(), part.count));
  for (auto op : cloned.getBodyBlock()->getOps<ShardableOpInterface>())
    op->setAttr("name",
                builder.getStringAttr(rename(op.getShardingName(), part.tag)));
  return cloned;
}

/// An argument for each part behind `old`, stack number `index`.
void RepeatSplitter::addArguments(BlockArgument old, unsigned index) {
  unsigned number = old.getArgNumber();
  DictionaryAttr attributes = func.getArgAttrDict(number);
  for (auto [place, part] : llvm::enumerate(parts)) {
    unsigned at = number + 1 + unsigned(place);
    (void)func.insertArgument(at, stackOf(old.getType(), part.count),
                              attributes, old.getLoc());
    made[place].getStackedMutable()[index].set(func.getArgument(at));
  }
}

/// A result of the function for each part in the place of number `index`.
void RepeatSplitter::replaceResult(unsigned index) {
  OpOperand &use = *repeat.getStacks()[index].use_begin();
  Operation *exit = use.getOwner();
  unsigned at = use.getOperandNumber();
  DictionaryAttr attributes = func.getResultAttrDict(at);
  SmallVector<Value> values(exit->getOperands());
  values.erase(values.begin() + at);
  for (auto [number, part] : llvm::enumerate(made)) {
    Value stack = part.getStacks()[index];
    (void)func.insertResult(at + 1 + unsigned(number), stack.getType(),
                            attributes);
    values.insert(values.begin() + at + number, stack);
  }
  (void)func.eraseResult(at);
  exit->setOperands(values);
}

LogicalResult RepeatSplitter::run() {
  if (failed(checkStacks()))
    return failure();
  Value residual = repeat.getInit();
  for (const Part &part : parts) {
    made.push_back(clonePart(part, residual));
    residual = made.back().getResult();
  }
  repeat.getResult().replaceAllUsesWith(residual);
  SmallVector<BlockArgument> arguments;
  for (Value stack : repeat.getStacked())
    arguments.push_back(cast<BlockArgument>(stack));
  for (unsigned index : llvm::seq<unsigned>(0, repeat.getStacks().size()))
    replaceResult(index);
  for (auto [index, argument] : llvm::enumerate(arguments))
    addArguments(argument, unsigned(index));
  repeat.erase();
  for (BlockArgument argument : llvm::reverse(arguments))
    (void)func.eraseArgument(argument.getArgNumber());
  return success();
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

static SmallVector<Part> partsOf(RepeatOp repeat, SeparateBy by) {
  SmallVector<Part> parts;
  for (int64_t i : llvm::seq<int64_t>(0, repeat.getCount())) {
    int64_t window = repeat.getWindow(i);
    std::string tag = "layer" + std::to_string(repeat.getLayer(i));
    if (by == SeparateBy::Window)
      tag = window ? "window" + std::to_string(window) : "full";
    if (parts.empty() || parts.back().tag != tag)
      parts.push_back({i, 0, tag});
    ++parts.back().count;
  }
  return parts;
}

LogicalResult llm::separateLayers(ModuleOp module, SeparateBy by) {
  SmallVector<RepeatOp> repeats;
  module.walk([&](RepeatOp repeat) { repeats.push_back(repeat); });
  for (RepeatOp repeat : repeats) {
    if (!repeat->getParentOfType<func::FuncOp>())
      return repeat.emitOpError("is in no function, expected one whose "
                                "arguments its caches are");
    SmallVector<Part> parts = partsOf(repeat, by);
    bool hasOneTag = by == SeparateBy::Window && parts.size() == 1;
    if (!hasOneTag && failed(RepeatSplitter(repeat, parts).run()))
      return failure();
  }
  return success();
}
