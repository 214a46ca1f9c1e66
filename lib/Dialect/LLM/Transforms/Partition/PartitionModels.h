//===- PartitionModels.h - How ops of the dialect are partitioned -*- C++ -*-=//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_DIALECT_LLM_TRANSFORMS_PARTITION_PARTITIONMODELS_H
#define SHARDOPT_LIB_DIALECT_LLM_TRANSFORMS_PARTITION_PARTITIONMODELS_H

#include "shardopt/Dialect/LLM/Transforms/Partition/Partitioner.h"

namespace shardopt::llm {

/// The type of `like` with `width` columns.
inline mlir::RankedTensorType withColumns(mlir::Value like, int64_t width) {
  auto type = ::llvm::cast<mlir::RankedTensorType>(like.getType());
  ::llvm::SmallVector<int64_t> shape(type.getShape());
  shape.back() = width;
  return type.clone(shape);
}

// PartitionOpInterface::partition of each op.
mlir::LogicalResult partition(AttentionOp op, Partitioner &p);
mlir::LogicalResult partition(CombineOp op, Partitioner &p);
mlir::LogicalResult partition(DispatchOp op, Partitioner &p);
mlir::LogicalResult partition(EmbeddingOp op, Partitioner &p);
mlir::LogicalResult partition(FfnDownOp op, Partitioner &p);
mlir::LogicalResult partition(FfnUpOp op, Partitioner &p);
mlir::LogicalResult partition(LinearOp op, Partitioner &p);
mlir::LogicalResult partition(LmHeadOp op, Partitioner &p);
mlir::LogicalResult partition(OutProjOp op, Partitioner &p);
mlir::LogicalResult partition(QkvProjOp op, Partitioner &p);
mlir::LogicalResult partition(RmsNormOp op, Partitioner &p);
mlir::LogicalResult partition(RouterOp op, Partitioner &p);

} // namespace shardopt::llm

#endif // SHARDOPT_LIB_DIALECT_LLM_TRANSFORMS_PARTITION_PARTITIONMODELS_H
