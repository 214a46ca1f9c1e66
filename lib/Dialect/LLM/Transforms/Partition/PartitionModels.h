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
  auto type = ::llvm::cast<mlir::RankedTensorType>(like.getType());
  ::llvm::SmallVector<int64_t> shape(type.getShape());
  shape.back() = width;
  return type.clone(shape);
}

/// The norm of rows of `width` features; where these are cut over devices,
/// their sums of squares are all-reduced: the collective "norm" of the op.
mlir::Value normFeatures(OpPartition &p, mlir::Value input, mlir::Value weight,
                         mlir::FloatAttr epsilon, int64_t width,
                         bool areCut = true);

// PartitionOpInterface::partition of each op.
mlir::LogicalResult partition(AttentionOp op, OpPartition &p);
mlir::LogicalResult partition(CombineOp op, OpPartition &p);
mlir::LogicalResult partition(DispatchOp op, OpPartition &p);
mlir::LogicalResult partition(EmbeddingOp op, OpPartition &p);
mlir::LogicalResult partition(FfnDownOp op, OpPartition &p);
mlir::LogicalResult partition(FfnUpOp op, OpPartition &p);
mlir::LogicalResult partition(LinearOp op, OpPartition &p);
mlir::LogicalResult partition(LmHeadOp op, OpPartition &p);
mlir::LogicalResult partition(OutProjOp op, OpPartition &p);
mlir::LogicalResult partition(QkvProjOp op, OpPartition &p);
mlir::LogicalResult partition(RmsNormOp op, OpPartition &p);
mlir::LogicalResult partition(RouterOp op, OpPartition &p);

} // namespace shardopt::llm

#endif // SHARDOPT_LIB_DIALECT_LLM_TRANSFORMS_PARTITION_PARTITIONMODELS_H
