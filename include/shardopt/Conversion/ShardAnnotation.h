//===- ShardAnnotation.h - Layouts of values for upstream -------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_CONVERSION_SHARDANNOTATION_H
#define SHARDOPT_CONVERSION_SHARDANNOTATION_H

#include "mlir/Dialect/Shard/IR/ShardOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Sequence.h"

namespace shardopt {

/// `value`, a ranked tensor, in the layout that shards each dim over `axesOf`
/// it of `grid`: as it is made, or as its users read it.
inline mlir::Value
annotateShard(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
              mlir::FlatSymbolRefAttr grid,
              llvm::function_ref<llvm::SmallVector<int16_t>(int64_t)> axesOf,
              bool forUsers) {
  int64_t rank = mlir::cast<mlir::RankedTensorType>(value.getType()).getRank();
  llvm::SmallVector<mlir::shard::GridAxesAttr> split;
  for (int64_t dim : llvm::seq(rank))
    split.push_back(
        mlir::shard::GridAxesAttr::get(b.getContext(), axesOf(dim)));
  mlir::Value sharding = mlir::shard::ShardingOp::create(b, grid, split);
  return mlir::shard::ShardOp::create(b, value, sharding, forUsers);
}

} // namespace shardopt

#endif // SHARDOPT_CONVERSION_SHARDANNOTATION_H
