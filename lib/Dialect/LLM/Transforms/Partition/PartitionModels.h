//===- PartitionModels.h - How ops of the dialect are partitioned -*- C++ -*-=//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_DIALECT_LLM_TRANSFORMS_PARTITION_PARTITIONMODELS_H
#define SHARDOPT_LIB_DIALECT_LLM_TRANSFORMS_PARTITION_PARTITIONMODELS_H

#include "shardopt/Dialect/LLM/Transforms/Partition/OpPartition.h"

namespace shardopt::llm {

/// The type of `like` with `width` columns.
inline mlir::RankedTensorType withColumns(mlir::Value like, int64_t width) {
  auto type = llvm::cast<mlir::RankedTensorType>(like.getType());
  llvm::SmallVector<int64_t> shape(type.getShape());
  shape.back() = width;
  return type.clone(shape);
}

/// The norm of rows of `width` features, of their deviations from the mean
/// where it `subtractsMean`. Where features are sharded on devices, their sums
/// are all-reduced: the collective "norm" of the op.
mlir::Value normFeatures(OpPartition &p, mlir::Value input, mlir::Value weight,
                         mlir::Value bias, mlir::FloatAttr epsilon,
                         int64_t width, bool subtractsMean, bool areCut = true);

/// Of an attention that `normsHeadsApart`: the queries and keys of this
/// device's heads in `input`, which is packed as `qkvHeads`, normed. Null, with
/// a diagnostic, where a weight cannot be sliced.
mlir::Value normOwnHeads(OpPartition &p, AttentionOp op, mlir::Value input);
/// The same where features of every head are cut: of queries and keys packed as
/// `pairs`.
mlir::Value normCutHeads(OpPartition &p, AttentionOp op, mlir::Value heads);

/// What devices have of a state space: whole groups, each with its heads, or of
/// a single group the heads, and then all of them what the group shares.
struct Mamba2Packings {
  Mamba2Packings(Packings &packings, int64_t heads, int64_t headDim,
                 int64_t groups, int64_t stateDim, int64_t ranks);
  template <typename Op>
  Mamba2Packings(OpPartition &p, Op op)
      : Mamba2Packings(p.getPackings(), op.getHeads(), op.getHeadDim(),
                       op.getGroups(), op.getStateDim(), p.ranks()) {}

  /// Says in `local` how many a device has.
  template <typename Op> void setSizes(Op local) const {
    local.setHeads(heads->getLocalSize());
    local.setGroups(groups->getLocalSize());
  }

  const Packing *heads, *groups; ///< an entry each
  const Packing *values;         ///< `headDim` entries a head
  const Packing *channels;       ///< values, B, C
  const Packing *columns;        ///< gates, channels, steps
};

/// The rows of all replicas that a dispatch needs on this device, in the layout
/// of its result, by a gather.
mlir::Value gatherRows(OpPartition &p, mlir::Value tokens);
/// A combine that sums the copies which this device has of gathered rows, and
/// scatters the sums.
mlir::LogicalResult scatterRows(OpPartition &p, CombineOp op,
                                DispatchOp dispatch);

/// Positions of the rows that a device has; rows of padding have none. Null,
/// with a diagnostic, where there are none.
mlir::Value positionsIn(OpPartition &p, mlir::Value positions,
                        cost::Layout layout);
/// Attention of devices that share the positions of sequences.
mlir::LogicalResult partitionContext(OpPartition &p, AttentionOp op);
/// The op by the heads of a device, which reads and writes `caches`.
mlir::FailureOr<AttentionOp> attendByHeads(OpPartition &p, AttentionOp op,
                                           mlir::ValueRange caches,
                                           mlir::Value positions);

/// The ops that have a model of `PartitionOpInterface`.
#define LLM_PARTITIONED_OPS(OP)                                                \
  OP(AttentionOp)                                                              \
  OP(CombineOp)                                                                \
  OP(DispatchOp)                                                               \
  OP(EmbeddingOp)                                                              \
  OP(FfnDownOp)                                                                \
  OP(FfnUpOp)                                                                  \
  OP(GatedDeltaNetOp)                                                          \
  OP(LayerNormOp)                                                              \
  OP(LinearOp)                                                                 \
  OP(LmHeadOp)                                                                 \
  OP(Mamba2Op)                                                                 \
  OP(Mamba2ProjOp)                                                             \
  OP(OutProjOp)                                                                \
  OP(QkvProjOp)                                                                \
  OP(RmsNormOp)                                                                \
  OP(RouterOp)

#define LLM_DECLARE_PARTITION(OP)                                              \
  mlir::LogicalResult partition(OP op, OpPartition &p);
LLM_PARTITIONED_OPS(LLM_DECLARE_PARTITION)
#undef LLM_DECLARE_PARTITION

} // namespace shardopt::llm

#endif // SHARDOPT_LIB_DIALECT_LLM_TRANSFORMS_PARTITION_PARTITIONMODELS_H
