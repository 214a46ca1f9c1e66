//===- VerifyNames.cpp - One meaning a name in a program ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A name is the key of one decision. Layers of one kind that are not adjacent
// are several repeats with the same names: their ops must be alike and share
// one sharding. Everywhere else a name stands for one op.
//
// No op of this dialect holds a whole program, so the first named op of a
// function, at whatever depth, checks all of them, once.
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/IR/LLMOps.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

/// The op that a program is in: a function, as a rule.
static bool holdsProgram(Operation *op) {
  return op->hasTrait<OpTrait::IsIsolatedFromAbove>();
}

/// Whether `op`, or an op of the same program inside of it, is named.
static bool holdsName(Operation &op) {
  auto visit = [](Operation *inner) {
    if (holdsProgram(inner))
      return WalkResult::skip();
    return isa<ShardableOpInterface>(inner) ? WalkResult::interrupt()
                                            : WalkResult::advance();
  };
  return op.walk<WalkOrder::PreOrder>(visit).wasInterrupted();
}

/// Whether no named op precedes `op` in its block, at any depth. Stops at the
/// nearest one, so that asking every op of a block visits each op once.
static bool isFirstInBlock(Operation *op) {
  for (Operation *before = op->getPrevNode(); before;
       before = before->getPrevNode())
    if (holdsName(*before))
      return false;
  return true;
}

/// Whether no named op of the region or of one before it precedes the block.
static bool isFirstBlock(Block *block) {
  for (Region &region : block->getParentOp()->getRegions())
    for (Block &other : region) {
      if (&other == block)
        return true;
      if (llvm::any_of(other, holdsName))
        return false;
    }
  return true;
}

/// The op that holds the program, if `op` is the first named one in there.
static Operation *programBegunBy(Operation *op) {
  while (op->getBlock()) {
    if (!isFirstInBlock(op) || !isFirstBlock(op->getBlock()))
      return nullptr;
    op = op->getParentOp();
    if (!op || holdsProgram(op))
      return op;
  }
  return nullptr;
}

/// Null where the op is not verified yet and lacks it.
static StringAttr nameOf(Operation *op) {
  return dyn_cast_or_null<StringAttr>(
      op->getInherentAttr("name").value_or(Attribute()));
}

static Attribute shardingOf(Operation *op) {
  return op->getInherentAttr("sharding").value_or(Attribute());
}

/// What makes `op` another op than `first`, but for its sharding; empty where
/// they are alike.
static std::string difference(Operation *op, Operation *first) {
  if (op->getName() != first->getName())
    return ("it is an '" + op->getName().getStringRef() + "' and not an '" +
            first->getName().getStringRef() + "'")
        .str();
  if (!llvm::equal(op->getOperandTypes(), first->getOperandTypes()))
    return "its operands have other types";
  if (!llvm::equal(op->getResultTypes(), first->getResultTypes()))
    return "its results have other types";
  for (StringAttr attribute : op->getName().getAttributeNames()) {
    if (attribute == "name" || attribute == "sharding")
      continue;
    if (op->getInherentAttr(attribute) != first->getInherentAttr(attribute))
      return ("its '" + attribute.getValue() + "' is another").str();
  }
  return "";
}

static LogicalResult verifyPair(Operation *op, Operation *first,
                                StringRef name) {
  auto fail = [&](const Twine &message, StringRef note) {
    InFlightDiagnostic error = op->emitOpError() << message;
    error.attachNote(first->getLoc()) << note;
    return error;
  };
  bool bothRepeated =
      isa<RepeatOp>(op->getParentOp()) && isa<RepeatOp>(first->getParentOp());
  if (!bothRepeated)
    return fail("name '" + name +
                    "' must be unique among the ops of a program "
                    "that are not in different repeats",
                "first used here");
  std::string other = difference(op, first);
  if (!other.empty())
    return fail("named '" + name +
                    "' must be like the op of that name in another repeat, "
                    "but " +
                    other,
                "the other op is here");
  if (shardingOf(op) == shardingOf(first))
    return success();
  InFlightDiagnostic error = op->emitOpError();
  auto print = [&](Attribute sharding) {
    if (sharding)
      error << sharding;
    else
      error << "none given";
  };
  error << "named '" << name
        << "' must share the sharding of the op of that name in another "
           "repeat: wanted ";
  print(shardingOf(first));
  error << ", found ";
  print(shardingOf(op));
  error.attachNote(first->getLoc()) << "the other op is here";
  return error;
}

LogicalResult llm::verifyNames(Operation *op) {
  Operation *program = programBegunBy(op);
  if (!program)
    return success();
  llvm::DenseMap<StringAttr, Operation *> named;
  WalkResult result = program->walk<WalkOrder::PreOrder>([&](Operation *other) {
    if (other != program && holdsProgram(other))
      return WalkResult::skip(); // its names are its own
    StringAttr name =
        isa<ShardableOpInterface>(other) ? nameOf(other) : StringAttr();
    if (!name)
      return WalkResult::advance();
    auto [first, isNew] = named.try_emplace(name, other);
    // A repeat keeps its own names apart, and says so itself.
    if (isNew || (isa<RepeatOp>(other->getParentOp()) &&
                  first->second->getBlock() == other->getBlock()))
      return WalkResult::advance();
    return failed(verifyPair(other, first->second, name))
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
