//===- LLMToLinalg.cpp - Replace the ops of the llm dialect ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeepValues.h"
#include "Lowering.h"
#include "Widen.h"
#include "shardopt/Dialect/LLM/IR/ModuleAttributes.h"
#include "shardopt/Dialect/LLM/IR/PlannedOnly.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

namespace shardopt::llm {
#define GEN_PASS_DEF_CONVERTLLMTOLINALGPASS
#include "shardopt/Conversion/LLMToLinalg/Passes.h.inc"
} // namespace shardopt::llm

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

namespace {

struct ConvertLLMToLinalg
    : public shardopt::llm::impl::ConvertLLMToLinalgPassBase<
          ConvertLLMToLinalg> {
  using ConvertLLMToLinalgPassBase::ConvertLLMToLinalgPassBase;

  void runOnOperation() override;
};

} // namespace

/// Weights must have become values before.
static LogicalResult checkNoParams(ModuleOp module) {
  ParamOp param;
  module.walk([&](ParamOp op) {
    param = op;
    return WalkResult::interrupt();
  });
  if (!param)
    return success();
  return param.emitOpError("is a weight without a value: run "
                           "--llm-params-to-arguments first");
}

/// Loops of repeats, from the outside in.
static void convertRepeats(ModuleOp module, Lowering &lowering) {
  SmallVector<RepeatOp> repeats;
  module.walk<WalkOrder::PreOrder>(
      [&](RepeatOp repeat) { repeats.push_back(repeat); });
  for (RepeatOp repeat : repeats)
    convertRepeat(repeat, lowering);
}

/// What replaces the op's results; nothing where there is no lowering.
static std::optional<Values> lowerOp(LoopBuilder &b, Operation *op,
                                     const Lowering &lowering) {
  return TypeSwitch<Operation *, std::optional<Values>>(op)
#define LLM_LOWER(OP) .Case([&](OP op) { return lower(b, op, lowering); })
      LLM_LOWERED_OPS(LLM_LOWER)
#undef LLM_LOWER
          .Default([](Operation *) { return std::nullopt; });
}

static LogicalResult replace(Operation *op, const Lowering &lowering) {
  LoopBuilder b(op->getLoc(), op);
  std::optional<Values> results = lowerOp(b, op, lowering);
  if (!results)
    return op->emitOpError("has no lowering to linalg");
  for (auto [old, value] : llvm::zip_equal(op->getResults(), *results)) {
    // A size that is known in one place may be dynamic in the other.
    if (old.getType() != value.getType())
      value = tensor::CastOp::create(b, old.getType(), value);
    old.replaceAllUsesWith(value);
  }
  op->erase();
  return success();
}

void ConvertLLMToLinalg::runOnOperation() {
  ModuleOp module = getOperation();
  if (failed(expectExecutable(module)) || failed(checkNoParams(module)))
    return signalPassFailure();
  widenFloats(module);
  if (keepValues && failed(llm::keepValues(module)))
    return signalPassFailure();

  Lowering lowering;
  lowering.routing = routing;
  convertRepeats(module, lowering);
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    // Collectives stay, for --convert-shard-to-runtime.
    if (isa_and_present<LLMDialect>(op->getDialect()) && !isa<AllToAllVOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    if (failed(replace(op, lowering)))
      return signalPassFailure();
  // Nothing is decided any more.
  module->removeAttr(strategyAttrName);
  module->removeAttr(serviceAttrName);
  lowerWorkload(module);
}
