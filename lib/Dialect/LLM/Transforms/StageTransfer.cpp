//===- StageTransfer.cpp - The residual from stage to stage ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StageTransfer.h"

#include "shardopt/Dialect/LLM/Transforms/Partition/Partitioner.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

/// Why the collectives of this file are there.
static constexpr llvm::StringLiteral cause = "stage";

static constexpr int16_t stageAxis = int16_t(GridAxis::Pp),
                         tensorAxis = int16_t(GridAxis::Tp);

/// ceil(rows / ranks).
static Value ceilDivide(OpBuilder &builder, Location loc, Value rows,
                        int64_t ranks) {
  Value less = arith::ConstantIndexOp::create(builder, loc, ranks - 1);
  Value by = arith::ConstantIndexOp::create(builder, loc, ranks);
  Value sum = arith::AddIOp::create(builder, loc, rows, less);
  return arith::DivUIOp::create(builder, loc, sum, by);
}

/// This device's block of `value`, whose rows all devices of a group hold.
static Value takeBlock(OpBuilder &builder, Value value, Value rows,
                       shard::GridOp grid, int64_t ranks) {
  Location loc = value.getLoc();
  auto type = cast<RankedTensorType>(value.getType());
  Value block = ceilDivide(builder, loc, rows, ranks);
  Value by = arith::ConstantIndexOp::create(builder, loc, ranks);
  Value all = arith::MulIOp::create(builder, loc, block, by);
  Value padding = arith::SubIOp::create(builder, loc, all, rows);
  OpFoldResult zero = builder.getIndexAttr(0);
  Value fill = arith::ConstantOp::create(
      builder, loc, builder.getZeroAttr(type.getElementType()));
  Value padded = tensor::PadOp::create(
      builder, loc, type, value, ArrayRef<OpFoldResult>{zero, zero},
      ArrayRef<OpFoldResult>{padding, zero}, fill);
  return shard::AllSliceOp::create(builder, loc, type,
                                   FlatSymbolRefAttr::get(grid),
                                   builder.getDenseI16ArrayAttr({tensorAxis}),
                                   padded, builder.getIndexAttr(0))
      .getResult();
}

InlineVector<cost::Collective, 2>
StageTransfer::plan(const Boundary &boundary) const {
  double bytes = static_cast<double>(context.rows) * boundary.rowBytes;
  return time.transfer(boundary.layout, bytes, context.degrees);
}

void StageTransfer::annotate(Operation *op, const cost::Collective &collective,
                             bool charged) const {
  double seconds = time.seconds(collective, context.degrees);
  op->setAttr(
      collectiveAttrName,
      describeCollective(op, cause, collective.bytes, seconds, charged));
}

void StageTransfer::send(OpBuilder &builder, Value value, Value rows,
                         const Boundary &boundary, int64_t stage) const {
  InlineVector<cost::Collective, 2> steps = plan(boundary);
  if (steps.size() > 1)
    value = takeBlock(builder, value, rows, grid, context.degrees.tp);
  auto op = shard::SendOp::create(
      builder, value.getLoc(), value.getType(), FlatSymbolRefAttr::get(grid),
      builder.getDenseI16ArrayAttr({stageAxis}), value,
      builder.getDenseI64ArrayAttr({stage}), ValueRange());
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
  auto op = shard::RecvOp::create(builder, loc, boundary.type, grid,
                                  builder.getDenseI16ArrayAttr({stageAxis}),
                                  like, builder.getDenseI64ArrayAttr({stage}),
                                  ValueRange());
  annotate(op, steps[0], /*charged=*/false); // the sender is
  if (!isGathered)
    return op.getResult();

  auto gather =
      shard::AllGatherOp::create(builder, loc, boundary.type, grid,
                                 builder.getDenseI16ArrayAttr({tensorAxis}),
                                 op.getResult(), builder.getIndexAttr(0));
  annotate(gather, steps[1], /*charged=*/true);
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  OpFoldResult width = builder.getIndexAttr(boundary.type.getDimSize(1));
  return tensor::ExtractSliceOp::create(
      builder, loc, gather.getResult(), ArrayRef<OpFoldResult>{zero, zero},
      ArrayRef<OpFoldResult>{rows, width}, ArrayRef<OpFoldResult>{one, one});
}
