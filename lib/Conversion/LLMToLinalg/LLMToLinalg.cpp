//===- LLMToLinalg.cpp - Replace the ops of the llm dialect
//-----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KeepValues.h"
#include "Lowering.h"
#include "Widen.h"

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

/// Tries one op class after the other.
template <typename... Ops> struct AnyOf {
  /// What replaces the op's results; nothing for another op.
  static std::optional<Values> lower(LoopBuilder &b, Operation *op,
                                     const Lowering &lowering) {
    std::optional<Values> results;
    (void)((isa<Ops>(op) &&
            (results = llm::lower(b, cast<Ops>(op), lowering), true)) ||
           ...);
    return results;
  }
};

using LoweredOps =
    AnyOf<ActivationOp, AddOp, ArgmaxMergeOp, ArgmaxOp, AttentionOp,
          AttentionScoresOp, AttentionValuesOp, BlockSizeOp, CombineOp,
          DispatchOp, EmbeddingOp, ExchangePlanOp, FfnDownOp, FfnUpOp,
          LastRowsOp, LinearOp, LmHeadOp, OutProjOp, PackHomesOp, PermuteOp,
          QkvProjOp, RmsNormOp, RouterOp, ScaleNormOp, SelectColumnsOp,
          SumSquaresOp, TopKOp, UnpackHomesOp, UnpermuteOp>;

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

/// Facts that are attributes of the dialect, as builtin ones.
static void replaceModuleAttributes(ModuleOp module) {
  Builder builder(module.getContext());
  if (auto workload = module->getAttrOfType<WorkloadAttr>(workloadAttrName)) {
    StringAttr phase =
        builder.getStringAttr(stringifyPhase(workload.getPhase()));
    IntegerAttr context =
        builder.getI64IntegerAttr(workload.getContextLength());
    module->setAttr(
        "shardopt.workload",
        builder.getDictionaryAttr({builder.getNamedAttr("phase", phase),
                                   builder.getNamedAttr("context", context)}));
  }
  module->removeAttr(workloadAttrName);
  module->removeAttr(strategyAttrName);
}

/// Loops of repeats, from the outside in.
static void convertRepeats(ModuleOp module, Lowering &lowering) {
  SmallVector<RepeatOp> repeats;
  module.walk<WalkOrder::PreOrder>(
      [&](RepeatOp repeat) { repeats.push_back(repeat); });
  for (RepeatOp repeat : repeats)
    convertRepeat(repeat, lowering);
}

static void replace(Operation *op, const Lowering &lowering) {
  LoopBuilder b(op->getLoc(), op);
  std::optional<Values> results = LoweredOps::lower(b, op, lowering);
  if (!results)
    return;
  for (auto [old, value] : ::llvm::zip_equal(op->getResults(), *results)) {
    // A size that is known in one place may be dynamic in the other.
    if (old.getType() != value.getType())
      value = tensor::CastOp::create(b, old.getType(), value);
    old.replaceAllUsesWith(value);
  }
  op->erase();
}

void ConvertLLMToLinalg::runOnOperation() {
  ModuleOp module = getOperation();
  if (failed(checkNoParams(module)))
    return signalPassFailure();
  widenFloats(module);
  if (keepValues)
    llm::keepValues(module);

  Lowering lowering;
  lowering.routing = routing;
  convertRepeats(module, lowering);
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (isa<LLMDialect>(op->getDialect()))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    replace(op, lowering);
  replaceModuleAttributes(module);
}
