//===- StageTransfer.h - The residual from stage to stage -------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_DIALECT_LLM_TRANSFORMS_STAGETRANSFER_H
#define SHARDOPT_LIB_DIALECT_LLM_TRANSFORMS_STAGETRANSFER_H

#include "StagePlan.h"

#include "shardopt/Cost/TimeModel.h"
#include "shardopt/Model/Context.h"

namespace shardopt::llm {

/// Writes what carries a residual across a boundary, as the cost model has it:
/// devices with the same coordinates in their stages exchange what they hold;
/// where all of them hold the same, each may send a block of the rows, which
/// the receivers gather.
class StageTransfer {
public:
  StageTransfer(mlir::shard::GridOp grid, const cost::Context &context,
                const cost::TimeModel &time)
      : grid(grid), context(context), time(time) {}

  /// Sends `value`, which has `rows` rows on this device, to `stage`.
  void send(mlir::OpBuilder &builder, mlir::Value value, mlir::Value rows,
            const Boundary &boundary, int64_t stage) const;
  /// What `stage` sent.
  mlir::Value receive(mlir::OpBuilder &builder, mlir::Value rows,
                      const Boundary &boundary, int64_t stage) const;

private:
  InlineVector<cost::Collective, 2> plan(const Boundary &boundary) const;
  /// The axes of the grid, as ops name them.
  mlir::DenseI16ArrayAttr along(mlir::OpBuilder &builder, Axis axis) const;
  void annotate(mlir::Operation *op, const cost::Collective &collective,
                bool charged) const;

  mlir::shard::GridOp grid;
  const cost::Context &context;
  const cost::TimeModel &time;
};

} // namespace shardopt::llm

#endif // SHARDOPT_LIB_DIALECT_LLM_TRANSFORMS_STAGETRANSFER_H
