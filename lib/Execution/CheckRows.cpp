//===- CheckRows.cpp - Whose rows an op reads -----------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows of tokens and the copies of them that a dispatch sends have one type,
// and are not as many: code that reads both would go on beyond the end of one.
// A program that is partitioned has row spaces; this is about plain ones.
//
//===----------------------------------------------------------------------===//

#include "CheckRows.h"

#include "shardopt/Dialect/LLM/IR/LLMOps.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

namespace {

class RowCheck {
public:
  LogicalResult visit(Operation *op);

private:
  /// What sent the rows of `value`; null for tokens.
  DispatchOp senderOf(Value value) const { return senders.lookup(value); }
  LogicalResult expectSender(Operation *op, Value operand, DispatchOp sender);
  LogicalResult visitCombine(CombineOp op);
  void enter(RepeatOp op);
  LogicalResult visitAny(Operation *op);

  /// Of rows, and of the counts and origins that describe them.
  llvm::DenseMap<Value, DispatchOp> senders;
};

} // namespace

static bool isRows(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && (type.getRank() == 1 || type.getRank() == 2) &&
         type.isDynamicDim(0);
}

static void printRows(InFlightDiagnostic &error, DispatchOp sender) {
  if (sender)
    error << "the rows that '" << sender.getName() << "' sends";
  else
    error << "rows of tokens";
}

LogicalResult RowCheck::expectSender(Operation *op, Value operand,
                                     DispatchOp sender) {
  DispatchOp found = senderOf(operand);
  if (found == sender)
    return success();
  InFlightDiagnostic error = op->emitOpError("reads ");
  printRows(error, found);
  error << ", expected ";
  printRows(error, sender);
  return error;
}

LogicalResult RowCheck::visitCombine(CombineOp op) {
  DispatchOp sender = senderOf(op.getCounts());
  for (Value operand : {op.getRows(), op.getOrigins()})
    if (failed(expectSender(op, operand, sender)))
      return failure();
  DispatchOp outer = sender ? senderOf(sender.getTokens()) : DispatchOp();
  if (outer)
    senders[op.getResult()] = outer;
  return expectSender(op, op.getWeights(), outer);
}

/// The arguments of a layer have the rows of what they are.
void RowCheck::enter(RepeatOp op) {
  for (auto [inner, outer] :
       llvm::zip_equal(op.getBody().getArguments(), op.getOperands()))
    if (DispatchOp sender = senderOf(outer))
      senders[inner] = sender;
  if (DispatchOp sender = senderOf(op.getInit()))
    senders[op.getResult()] = sender;
}

/// All rows that an op reads are of one sender, and so are its results.
LogicalResult RowCheck::visitAny(Operation *op) {
  std::optional<DispatchOp> sender;
  for (Value operand : op->getOperands()) {
    if (!isRows(operand) && !senderOf(operand))
      continue;
    if (!sender)
      sender = senderOf(operand);
    if (failed(expectSender(op, operand, *sender)))
      return failure();
  }
  if (sender && *sender)
    for (Value result : op->getResults())
      if (isRows(result))
        senders[result] = *sender;
  return success();
}

LogicalResult RowCheck::visit(Operation *op) {
  if (auto combine = dyn_cast<CombineOp>(op))
    return visitCombine(combine);
  if (auto repeat = dyn_cast<RepeatOp>(op)) {
    enter(repeat);
    return success();
  }
  if (auto yield = dyn_cast<YieldOp>(op)) {
    auto repeat = cast<RepeatOp>(yield->getParentOp());
    return expectSender(yield, yield.getOperand(0), senderOf(repeat.getInit()));
  }
  if (op->hasTrait<OpTrait::IsTerminator>())
    return success();
  if (failed(visitAny(op)))
    return failure();
  if (auto dispatch = dyn_cast<DispatchOp>(op))
    for (Value result : dispatch->getResults())
      senders[result] = dispatch;
  return success();
}

LogicalResult execution::checkRows(ModuleOp module) {
  RowCheck check;
  WalkResult walk = module.walk<WalkOrder::PreOrder>(
      [&](Operation *op) { return WalkResult(check.visit(op)); });
  return failure(walk.wasInterrupted());
}
