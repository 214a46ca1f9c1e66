//===- Emitter.cpp - Ops of one device, and their collectives -------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/Transforms/Partition/Emitter.h"

#include "shardopt/Dialect/LLM/IR/LoweredAttributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Shard/IR/ShardOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;
using cost::CollectiveKind;

/// The axis of the grid, as ops name it.
static DenseI16ArrayAttr along(OpBuilder &builder, GridAxis axis) {
  return builder.getDenseI16ArrayAttr({int16_t(axis)});
}

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// The type of `value` with another size of one dim.
static RankedTensorType withSize(Value value, int64_t dim, int64_t size) {
  RankedTensorType type = typeOf(value);
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = size;
  return type.clone(shape);
}

/// The size of a dim times `factor`, or over it; dynamic stays dynamic.
static int64_t scaledSize(Value value, int64_t dim, int64_t times,
                          int64_t over) {
  int64_t size = typeOf(value).getDimSize(dim);
  if (ShapedType::isDynamic(size))
    return size;
  assert(size * times % over == 0 && "pad before a collective");
  return size * times / over;
}

//===----------------------------------------------------------------------===//
// Charges
//===----------------------------------------------------------------------===//

Charges llm::charged(const cost::Collective &collective) {
  Charge charge;
  charge.counted = {collective};
  return {charge};
}

Charges llm::uncharged(double bytes) {
  Charge charge;
  charge.bytes = bytes;
  return {charge};
}

Charges llm::scaled(Charges charges, double share) {
  for (Charge &charge : charges) {
    charge.share *= share;
    charge.bytes *= share;
  }
  return charges;
}

void Emitter::annotate(Operation *op, CollectiveKind kind, GridAxis axis,
                       const Charges &charges) const {
  lowered::Collective collective(op, kind);
  for (const Charge &charge : charges) {
    lowered::Collective::Charge &said = collective.charges.emplace_back();
    said.layers = charge.layers;
    said.cause = (charge.cause.empty() ? cause : charge.cause).str();
    said.isCharged = !charge.counted.empty();
    said.kind = kind;
    double bytes = said.isCharged ? 0 : charge.bytes, seconds = 0;
    for (const cost::Collective &counted : charge.counted) {
      said.kind = counted.kind;
      bytes += charge.share * counted.bytes;
      seconds += charge.share * grid.time->seconds(counted, grid.degrees);
    }
    if (!said.isCharged)
      seconds =
          grid.time->seconds({kind, axisOfGrid(axis), bytes}, grid.degrees);
    said.bytes = std::llround(bytes);
    said.microseconds = seconds * 1e6;
  }
  lowered::writeTo(op, collective);
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

Value Emitter::getIndex(int64_t value) const {
  return create<arith::ConstantIndexOp>(value).getResult();
}

Value Emitter::getOffset(int64_t scale) const {
  return tp() == 1 ? getIndex(0) : getOffset(getIndex(scale));
}

Value Emitter::getOffset(Value scale) const {
  assert(grid.coordinate && "over one device the offset is 0");
  return create<arith::MulIOp>(grid.coordinate, scale).getResult();
}

Value Emitter::allReduce(Value value, const Charges &charges, bool max) const {
  if (tp() == 1)
    return value;
  auto kind = max ? shard::ReductionKind::Max : shard::ReductionKind::Sum;
  auto reduction = shard::ReductionKindAttr::get(builder.getContext(), kind);
  auto op = create<shard::AllReduceOp>(value.getType(), grid.symbol,
                                       along(builder, GridAxis::Tp), value,
                                       reduction);
  annotate(op, CollectiveKind::AllReduce, GridAxis::Tp, charges);
  return op.getResult();
}

Value Emitter::allGather(Value value, int64_t dim,
                         const Charges &charges) const {
  if (tp() == 1)
    return value;
  auto type = withSize(value, dim, scaledSize(value, dim, tp(), 1));
  auto op = create<shard::AllGatherOp>(type, grid.symbol,
                                       along(builder, GridAxis::Tp), value,
                                       builder.getIndexAttr(dim));
  annotate(op, CollectiveKind::AllGather, GridAxis::Tp, charges);
  return op.getResult();
}

Value Emitter::reduceScatter(Value value, int64_t dim,
                             const Charges &charges) const {
  if (tp() == 1)
    return value;
  auto type = withSize(value, dim, scaledSize(value, dim, 1, tp()));
  auto reduction = shard::ReductionKindAttr::get(builder.getContext(),
                                                 shard::ReductionKind::Sum);
  auto op = create<shard::ReduceScatterOp>(
      type, grid.symbol, along(builder, GridAxis::Tp), value, reduction,
      builder.getIndexAttr(dim));
  annotate(op, CollectiveKind::ReduceScatter, GridAxis::Tp, charges);
  return op.getResult();
}

Value Emitter::allToAll(Value value, GridAxis axis, int64_t splitDim,
                        int64_t concatDim, const Charges &charges) const {
  int64_t size = getSize(axis);
  if (size == 1)
    return value;
  RankedTensorType type = typeOf(value);
  if (splitDim != concatDim) {
    SmallVector<int64_t> shape(type.getShape());
    shape[splitDim] = scaledSize(value, splitDim, 1, size);
    shape[concatDim] = scaledSize(value, concatDim, size, 1);
    type = type.clone(shape);
  }
  auto op = create<shard::AllToAllOp>(type, grid.symbol, along(builder, axis),
                                      value, builder.getIndexAttr(splitDim),
                                      builder.getIndexAttr(concatDim));
  annotate(op, CollectiveKind::AllToAll, axis, charges);
  return op.getResult();
}

Value Emitter::allToAllV(Value rows, Value send, Value recv,
                         const Charges &charges) const {
  if (getSize(GridAxis::Ep) == 1)
    return rows;
  auto op = create<AllToAllVOp>(rows.getType(), rows, send, recv, grid.symbol,
                                along(builder, GridAxis::Ep));
  annotate(op, CollectiveKind::AllToAll, GridAxis::Ep, charges);
  return op.getResult();
}

Value Emitter::allSlice(Value value, int64_t dim) const {
  if (tp() == 1)
    return value;
  auto type = withSize(value, dim, scaledSize(value, dim, 1, tp()));
  return create<shard::AllSliceOp>(type, grid.symbol,
                                   along(builder, GridAxis::Tp), value,
                                   builder.getIndexAttr(dim))
      .getResult();
}

//===----------------------------------------------------------------------===//
// Rows and columns
//===----------------------------------------------------------------------===//

Value Emitter::padRows(Value value, const RowSpace &space, int fill) const {
  if (!space.blocks.rows || tp() == 1)
    return value;
  return llm::padRows(builder, loc, value, space.blocks.padding, fill);
}

Value Emitter::trimRows(Value value, const RowSpace &space) const {
  if (!space.blocks.rows || tp() == 1)
    return value;
  return llm::trimRows(builder, loc, value, space.blocks.rows);
}

Value Emitter::sliceColumns(Value value, int64_t begin, int64_t size) const {
  if (begin == 0 && size == typeOf(value).getDimSize(1))
    return value;
  std::vector<Run> run = {{begin, size, 1, 1, 0}};
  return selectColumns(value, run);
}

Value Emitter::selectColumns(Value value, const std::vector<Run> &runs) const {
  SmallVector<int64_t> numbers;
  int64_t columns = 0;
  for (const Run &run : runs) {
    numbers.append({run.start, run.size, run.stride, run.count, run.step});
    columns += run.size * run.count;
  }
  bool keepsAll = runs.size() == 1 && runs[0].start == 0 &&
                  runs[0].stride == 1 && runs[0].count == 1 &&
                  columns == typeOf(value).getDimSize(1);
  if (keepsAll)
    return value;
  return create<SelectColumnsOp>(withSize(value, 1, columns), value,
                                 builder.getDenseI64ArrayAttr(numbers));
}

Value Emitter::concatColumns(ArrayRef<Value> values) const {
  if (values.size() == 1)
    return values.front();
  return create<tensor::ConcatOp>(/*dim=*/1, ValueRange(values)).getResult();
}
