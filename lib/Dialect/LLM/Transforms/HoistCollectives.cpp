//===- HoistCollectives.cpp - Collectives done once -----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HoistCollectives.h"

#include "shardopt/Dialect/LLM/IR/LLMOps.h"
#include "shardopt/Dialect/LLM/IR/LoweredAttributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Shard/IR/ShardDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

/// Ops that the lowering emits around collectives, all without side effects.
static bool canMove(Operation &op) {
  return isa_and_present<arith::ArithDialect, shard::ShardDialect,
                         tensor::TensorDialect>(op.getDialect()) &&
         !op.hasTrait<OpTrait::IsTerminator>();
}

/// Whether `op` reads nothing that its block, or its own regions, do not have
/// from outside.
static bool readsFromOutside(Operation &op, Block &block) {
  bool outside = true;
  op.walk([&](Operation *inner) {
    for (Value operand : inner->getOperands()) {
      Block *owner = operand.getParentBlock();
      bool own = op.isProperAncestor(owner->getParentOp()) ||
                 owner->getParentOp() == &op;
      outside &= own || owner != &block;
    }
  });
  return outside;
}

void llm::hoistInvariants(ModuleOp module) {
  module.walk([](RepeatOp repeat) {
    // The body may as well read the invariants where they come from.
    for (auto [argument, value] : llvm::zip_equal(
             repeat.getInvariantArguments(), repeat.getInvariants())) {
      Value inside = argument;
      inside.replaceAllUsesWith(value);
    }
    Block &body = *repeat.getBodyBlock();
    for (Operation &op : llvm::make_early_inc_range(body))
      if (canMove(op) && readsFromOutside(op, body))
        op.moveBefore(repeat);
  });
}

/// What two equal collectives of one value share: all but why they are there.
static DictionaryAttr identity(Operation &op) {
  NamedAttrList attributes(op.getAttrDictionary());
  attributes.erase(lowered::Collective::attrName);
  return attributes.getDictionary(op.getContext());
}

void llm::mergeEqualCollectives(ModuleOp module) {
  module.walk([](Block *block) {
    llvm::DenseMap<Value, SmallVector<Operation *, 2>> byOperand;
    for (Operation &op : llvm::make_early_inc_range(*block)) {
      bool isCollective =
          isa_and_present<shard::ShardDialect>(op.getDialect()) &&
          op.getNumOperands() == 1 && op.getNumResults() == 1;
      if (!isCollective)
        continue;
      SmallVector<Operation *, 2> &seen = byOperand[op.getOperand(0)];
      Operation *const *equal = llvm::find_if(seen, [&](Operation *other) {
        return other->getName() == op.getName() &&
               other->getResultTypes() == op.getResultTypes() &&
               identity(*other) == identity(op);
      });
      if (equal == seen.end()) {
        seen.push_back(&op);
        continue;
      }
      op.getResult(0).replaceAllUsesWith((*equal)->getResult(0));
      op.erase();
    }
  });
}
