//===- Lowering.h - What each op computes -----------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One function an op: builds its results from its operands, all of them f32,
// i32 or index, and leaves the op itself alone.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_CONVERSION_LLMTOLINALG_LOWERING_H
#define SHARDOPT_LIB_CONVERSION_LLMTOLINALG_LOWERING_H

#include "Building.h"
#include "shardopt/Conversion/LLMToLinalg/Passes.h"
#include "shardopt/Dialect/LLM/IR/LLMOps.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace shardopt::llm {

/// What ops are lowered with besides their operands.
struct Lowering {
  Routing routing = Routing::Model;

  /// Windows of the layers of a loop: loop -> window of this iteration.
  llvm::DenseMap<mlir::Operation *, Value> windows;

  /// The window of an attention op, an index; null where it sees everything.
  template <typename Op> Value windowOf(LoopBuilder &b, Op op) const {
    if (op.getWindow())
      return index(b, *op.getWindow());
    return windows.lookup(op->template getParentOfType<mlir::scf::ForOp>());
  }
};

/// Makes a loop of a repeat and returns it, with the body's ops moved into it
/// and their windows recorded.
mlir::scf::ForOp convertRepeat(RepeatOp op, Lowering &lowering);

/// The ops that have a lowering.
#define LLM_LOWERED_OPS(OP)                                                    \
  OP(ActivationOp)                                                             \
  OP(AddOp)                                                                    \
  OP(ArgmaxMergeOp)                                                            \
  OP(ArgmaxOp)                                                                 \
  OP(AttentionMergeOp)                                                         \
  OP(AttentionOp)                                                              \
  OP(AttentionScoresOp)                                                        \
  OP(AttentionValuesOp)                                                        \
  OP(BlockSizeOp)                                                              \
  OP(CollectRowsOp)                                                            \
  OP(CombineOp)                                                                \
  OP(DealRowsOp)                                                               \
  OP(DispatchOp)                                                               \
  OP(EmbeddingOp)                                                              \
  OP(ExchangePlanOp)                                                           \
  OP(FfnDownOp)                                                                \
  OP(FfnUpOp)                                                                  \
  OP(GatedDeltaNetOp)                                                          \
  OP(LastRowsOp)                                                               \
  OP(LatentQueriesOp)                                                          \
  OP(LatentValuesOp)                                                           \
  OP(LayerNormOp)                                                              \
  OP(LinearOp)                                                                 \
  OP(LmHeadOp)                                                                 \
  OP(LocalExpertsOp)                                                           \
  OP(Mamba2Op)                                                                 \
  OP(Mamba2ProjOp)                                                             \
  OP(OutProjOp)                                                                \
  OP(PackHomesOp)                                                              \
  OP(PartialAttentionOp)                                                       \
  OP(PermuteOp)                                                                \
  OP(QkvProjOp)                                                                \
  OP(RmsNormOp)                                                                \
  OP(RouterOp)                                                                 \
  OP(ScaleNormOp)                                                              \
  OP(ScaleRowsOp)                                                              \
  OP(SelectBlocksOp)                                                           \
  OP(SelectColumnsOp)                                                          \
  OP(SumSquaresOp)                                                             \
  OP(TopKOp)                                                                   \
  OP(UnpackHomesOp)                                                            \
  OP(UnpermuteOp)                                                              \
  OP(WriteCacheOp)                                                             \
  OP(WritePositionsOp)

#define LLM_DECLARE_LOWERING(OP)                                               \
  Values lower(LoopBuilder &b, OP op, const Lowering &lowering);
LLM_LOWERED_OPS(LLM_DECLARE_LOWERING)
#undef LLM_DECLARE_LOWERING

/// Attention of the kind `mla`.
Values lowerMla(LoopBuilder &b, AttentionOp op, Value window);

//===----------------------------------------------------------------------===//
// What several of them compute
//===----------------------------------------------------------------------===//

/// x / sqrt(mean(x^2) + epsilon) * weight along the last dim. The weight, which
/// may be null, has the last dims of x.
Value rmsNorm(LoopBuilder &b, Value x, Value weight, double epsilon);

/// The same of x - mean(x), plus the bias, which may be null.
Value layerNorm(LoopBuilder &b, Value x, Value weight, Value bias,
                double epsilon);

/// input * weight + bias, of [rows, in] and [in, out], or [out, in] where
/// `transposed`; the bias may be null.
Value project(LoopBuilder &b, Value input, Value weight, Value bias,
              bool transposed = false);

/// Adds lhs * rhs to `result`, a tensor of bias rows or zeros.
Value addProduct(LoopBuilder &b, Value lhs, Value rhs, Value result,
                 bool transposed = false);

/// Every row of `result` is the bias.
Value startFromBias(LoopBuilder &b, Value bias, Value result);

/// 1 / (1 + exp(-x)) of every element.
Value sigmoid(LoopBuilder &b, Value x);

/// The activation of the columns of x; gated ones are gate, up by block.
Value activate(LoopBuilder &b, Value x, ActivationAttr activation,
               int64_t blocks);

/// The same of gates and ups that are tensors of their own.
Value activateGated(LoopBuilder &b, Value gate, Value up,
                    ActivationAttr activation);

/// cap * tanh(x / cap) of an element, or x where the cap is 0.
Value softCap(LoopBuilder &b, Value x, double cap);

/// matrix[row, column], or 0 where the row is outside. The indices are of any
/// sign.
Value elementOrZero(LoopBuilder &b, Value matrix, Value row, Value column);

} // namespace shardopt::llm

#endif // SHARDOPT_LIB_CONVERSION_LLMTOLINALG_LOWERING_H
