//===- StageTransfer.cpp - The residual from stage to stage ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageTransfer.h"

#include "shardopt/Dialect/LLM/IR/LoweredAttributes.h"
#include "shardopt/Dialect/LLM/Transforms/Partition/RowBlocks.h"
#include "shardopt/Model/ProgramGrid.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

/// Why the collectives of this file are there.
static constexpr llvm::StringLiteral cause = "stage_transfer";

/// This device's block of `value`, whose rows all devices of a group hold.
static Value takeBlock(OpBuilder &builder, Value value, Value rows,
                       shard::GridOp grid, DenseI16ArrayAttr axes,
                       int64_t ranks) {
  Location loc = value.getLoc();
  auto type = cast<RankedTensorType>(value.getType());
  RowBlocks blocks = cutRows(builder, loc, rows, ranks);
  Value padded = padRows(builder, loc, value, blocks.padding);
  return shard::AllSliceOp::create(builder, loc, type,
                                   FlatSymbolRefAttr::get(grid), axes, padded,
                                   builder.getIndexAttr(0))
      .getResult();
}

InlineVector<cost::Collective, 2>
StageTransfer::plan(const Boundary &boundary) const {
  double bytes = double(context.rows) * boundary.rowBytes;
  return time.transfer(boundary.layout, bytes, context.degrees);
}

DenseI16ArrayAttr StageTransfer::along(OpBuilder &builder, Axis axis) const {
  return builder.getDenseI16ArrayAttr(ProgramGrid(context.degrees).axes(axis));
}

void StageTransfer::annotate(Operation *op, const cost::Collective &collective,
                             bool charged) const {
  lowered::Collective said(op, collective.kind);
  said.charges = {{1, cause.str(), collective.kind,
                   std::llround(collective.bytes),
                   time.seconds(collective, context.degrees) * 1e6, charged}};
  lowered::writeTo(op, said);
}

void StageTransfer::send(OpBuilder &builder, Value value, Value rows,
                         const Boundary &boundary, int64_t stage) const {
  InlineVector<cost::Collective, 2> steps = plan(boundary);
  if (steps.size() > 1)
    value = takeBlock(builder, value, rows, grid, along(builder, Axis::Tp),
                      context.degrees.tp);
  auto op = shard::SendOp::create(
      builder, value.getLoc(), value.getType(), FlatSymbolRefAttr::get(grid),
      along(builder, Axis::Pp), value, builder.getDenseI64ArrayAttr({stage}),
      ValueRange());
  annotate(op, steps[0], /*charged=*/true);
}

Value StageTransfer::receive(OpBuilder &builder, Value rows,
                             const Boundary &boundary, int64_t stage) const {
  Location loc = boundary.place->getLoc();
  InlineVector<cost::Collective, 2> steps = plan(boundary);
  bool isGathered = steps.size() > 1;
  Value sent =
      isGathered ? ceilDivide(builder, loc, rows, context.degrees.tp) : rows;
  Value like =
      tensor::EmptyOp::create(builder, loc, boundary.type, ValueRange(sent));
  auto grid = FlatSymbolRefAttr::get(this->grid);
  auto op = shard::RecvOp::create(
      builder, loc, boundary.type, grid, along(builder, Axis::Pp), like,
      builder.getDenseI64ArrayAttr({stage}), ValueRange());
  annotate(op, steps[0], /*charged=*/false); // the sender is
  if (!isGathered)
    return op.getResult();

  auto gather = shard::AllGatherOp::create(
      builder, loc, boundary.type, grid, along(builder, Axis::Tp),
      op.getResult(), builder.getIndexAttr(0));
  annotate(gather, steps[1], /*charged=*/true);
  return trimRows(builder, loc, gather.getResult(), rows);
}
