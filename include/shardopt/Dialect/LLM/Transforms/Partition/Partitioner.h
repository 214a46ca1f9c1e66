//===- Partitioner.h - Writes the per-rank program --------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_PARTITIONER_H
#define SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_PARTITIONER_H

#include "shardopt/Dialect/LLM/Transforms/Partition/OpPartition.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace shardopt::llm {

/// Where a residual goes: what its next reader wants of it.
struct ResidualTarget;

/// Walks a function and has every op write itself. Sums and repeats, which have
/// no dim of their own, are written here, as the ops that read them want it.
class Partitioner {
public:
  /// `grid` names the module's grid, that of the degrees. `skew` is the
  /// imbalance of the load of experts.
  Partitioner(mlir::FlatSymbolRefAttr grid, const cost::Workload &workload,
              const Degrees &degrees, const cost::TimeModel &time,
              std::optional<double> skew);

  /// Replaces the body of `func` by the per-rank program. Errors: an op
  /// without a sharding, an illegal dim, a weight that cannot be sliced, values
  /// that are wired to what they cannot be.
  mlir::LogicalResult run(mlir::FunctionOpInterface func);

private:
  /// What devices compute of their place, at the end of the entry.
  void placeDevices(mlir::Location loc);
  mlir::LogicalResult runOnBlock(mlir::Block &block);
  mlir::LogicalResult runOnOp(mlir::Operation &op);
  mlir::LogicalResult runOnShardable(ShardableOpInterface op);
  mlir::LogicalResult runOnOther(mlir::Operation &op);
  mlir::LogicalResult runOnReturn(mlir::Operation &op);

  // Residual.cpp
  mlir::LogicalResult runOnAdd(AddOp op);
  /// Writes the sum of `leaves` for `op` where the reader of `carrier` wants
  /// it. `ended` is the repeat whose layers it leaves, or null.
  mlir::FailureOr<LocalValues::Placed>
  writeSum(mlir::Operation *op, llvm::ArrayRef<mlir::Value> leaves,
           mlir::Value carrier, RepeatOp ended);
  mlir::LogicalResult runOnRepeat(RepeatOp op);
  mlir::LogicalResult writeBody(RepeatOp op, RepeatOp local,
                                LocalValues::Placed residual);
  mlir::LogicalResult runOnYield(YieldOp op);
  /// Brings what starts the layers into the layout that they want it in.
  void settleStart(mlir::Value value, llvm::StringRef cause);
  /// Leaves of a value that copy alone that its next reader wants.
  void settle(mlir::Value value, const ResidualTarget &target,
              const StepCharges &steps, llvm::StringRef cause);
  ResidualTarget getTarget(mlir::Value value, cost::Layout arrives) const;

  Emitter emitFor(mlir::Operation *op, llvm::StringRef cause) {
    return Emitter(state.grid, state.builder, op->getLoc(), cause);
  }
  void placeArgument(mlir::BlockArgument global, mlir::BlockArgument local,
                     const RowSpace *space);
  mlir::LogicalResult getComplete(mlir::Operation &op, mlir::ValueRange globals,
                                  llvm::SmallVectorImpl<mlir::Value> &locals);

  cost::Workload workload;
  std::optional<double> skew;
  cost::Context context; ///< outside of layers
  PartitionState state;
  /// By a body's parent: how the cost model has the last layer leave.
  llvm::DenseMap<mlir::Operation *, LeftLayers> leftLayers;
};

} // namespace shardopt::llm

#endif // SHARDOPT_DIALECT_LLM_TRANSFORMS_PARTITION_PARTITIONER_H
