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

StepCharges llm::charged(const cost::Reshard &reshard) {
  StepCharges steps;
  for (const cost::Collective &collective : reshard)
    steps.push_back(charged(collective));
  if (steps.empty())
    steps.push_back(uncharged(0));
  return steps;
}

DenseI16ArrayAttr Emitter::getAxes() const {
  return builder.getDenseI16ArrayAttr(grid.axes.axes(over));
}

void Emitter::annotate(Operation *op, CollectiveKind kind,
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
      seconds = grid.time->seconds({kind, over, bytes}, grid.degrees);
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
  return ranks() == 1 ? getIndex(0) : getOffset(getIndex(scale));
}

Value Emitter::getOffset(Value scale) const {
  assert(grid.coordinates.count(over) && "over one device the offset is 0");
  return create<arith::MulIOp>(grid.coordinates.at(over), scale).getResult();
}

Value Emitter::allReduce(Value value, const Charges &charges, bool max) const {
  if (ranks() == 1)
    return value;
  auto kind = max ? shard::ReductionKind::Max : shard::ReductionKind::Sum;
  auto reduction = shard::ReductionKindAttr::get(builder.getContext(), kind);
  auto op = create<shard::AllReduceOp>(value.getType(), grid.symbol, getAxes(),
                                       value, reduction);
  annotate(op, CollectiveKind::AllReduce, charges);
  return op.getResult();
}

Value Emitter::allGather(Value value, int64_t dim,
                         const Charges &charges) const {
  if (ranks() == 1)
    return value;
  auto type = withSize(value, dim, scaledSize(value, dim, ranks(), 1));
  auto op = create<shard::AllGatherOp>(type, grid.symbol, getAxes(), value,
                                       builder.getIndexAttr(dim));
  annotate(op, CollectiveKind::AllGather, charges);
  return op.getResult();
}

Value Emitter::reduceScatter(Value value, int64_t dim,
                             const Charges &charges) const {
  if (ranks() == 1)
    return value;
  auto type = withSize(value, dim, scaledSize(value, dim, 1, ranks()));
  auto reduction = shard::ReductionKindAttr::get(builder.getContext(),
                                                 shard::ReductionKind::Sum);
  auto op =
      create<shard::ReduceScatterOp>(type, grid.symbol, getAxes(), value,
                                     reduction, builder.getIndexAttr(dim));
  annotate(op, CollectiveKind::ReduceScatter, charges);
  return op.getResult();
}

Value Emitter::allToAll(Value value, int64_t splitDim, int64_t concatDim,
                        const Charges &charges) const {
  int64_t size = ranks();
  if (size == 1)
    return value;
  RankedTensorType type = typeOf(value);
  if (splitDim != concatDim) {
    SmallVector<int64_t> shape(type.getShape());
    shape[splitDim] = scaledSize(value, splitDim, 1, size);
    shape[concatDim] = scaledSize(value, concatDim, size, 1);
    type = type.clone(shape);
  }
  auto op = create<shard::AllToAllOp>(type, grid.symbol, getAxes(), value,
                                      builder.getIndexAttr(splitDim),
                                      builder.getIndexAttr(concatDim));
  annotate(op, CollectiveKind::AllToAll, charges);
  return op.getResult();
}

Value Emitter::allToAllV(Value rows, Value send, Value recv,
                         const Charges &charges) const {
  if (ranks() == 1)
    return rows;
  auto op = create<AllToAllVOp>(rows.getType(), rows, send, recv, grid.symbol,
                                getAxes());
  annotate(op, CollectiveKind::AllToAll, charges);
  return op.getResult();
}

Value Emitter::allSlice(Value value, int64_t dim) const {
  if (ranks() == 1)
    return value;
  auto type = withSize(value, dim, scaledSize(value, dim, 1, ranks()));
  return create<shard::AllSliceOp>(type, grid.symbol, getAxes(), value,
                                   builder.getIndexAttr(dim))
      .getResult();
}

//===----------------------------------------------------------------------===//
// Rows and columns
//===----------------------------------------------------------------------===//

Value Emitter::openRows(Value value, int64_t outer) const {
  RankedTensorType type = typeOf(value);
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin(), outer);
  SmallVector<OpFoldResult> sizes = {builder.getIndexAttr(outer)};
  Value rows = create<tensor::DimOp>(value, 0);
  sizes.push_back(create<arith::DivUIOp>(rows, getIndex(outer)).getResult());
  SmallVector<ReassociationIndices> dims = {{0, 1}};
  for (int64_t dim = 1; dim < type.getRank(); ++dim) {
    sizes.push_back(builder.getIndexAttr(type.getDimSize(dim)));
    dims.push_back({dim + 1});
  }
  return create<tensor::ExpandShapeOp>(type.clone(shape), value, dims, sizes);
}

Value Emitter::closeRows(Value value) const {
  RankedTensorType type = typeOf(value);
  SmallVector<int64_t> shape(type.getShape().drop_front());
  shape.front() = ShapedType::kDynamic;
  SmallVector<ReassociationIndices> dims = {{0, 1}};
  for (int64_t dim = 2; dim < type.getRank(); ++dim)
    dims.push_back({dim});
  return create<tensor::CollapseShapeOp>(type.clone(shape), value, dims);
}

Value Emitter::sliceRows(Value value, int64_t outer) const {
  if (outer == 1 || ranks() == 1)
    return allSlice(value, 0);
  return closeRows(allSlice(openRows(value, outer), 1));
}

Value Emitter::padRows(Value value, const RowSpace &space, int fill) const {
  if (!space.blocks.rows || ranks() == 1)
    return value;
  return toBlocks(value, space, fill);
}

Value Emitter::trimRows(Value value, const RowSpace &space) const {
  if (!space.blocks.rows || ranks() == 1)
    return value;
  return fromBlocks(value, space);
}

Value Emitter::toBlocks(Value value, const RowSpace &space, int fill) const {
  if (space.dealt == 0)
    return llm::padRows(builder, loc, value, space.blocks.padding, fill);
  return create<DealRowsOp>(withSize(value, 0, ShapedType::kDynamic), value,
                            space.blocks.block,
                            builder.getI64IntegerAttr(space.dealt),
                            builder.getI64IntegerAttr(getSize(space.over)),
                            builder.getI64IntegerAttr(fill));
}

Value Emitter::fromBlocks(Value value, const RowSpace &space) const {
  if (space.dealt == 0)
    return llm::trimRows(builder, loc, value, space.blocks.rows);
  return create<CollectRowsOp>(withSize(value, 0, ShapedType::kDynamic), value,
                               space.blocks.rows,
                               builder.getI64IntegerAttr(space.dealt),
                               builder.getI64IntegerAttr(getSize(space.over)));
}

Value Emitter::sliceColumns(Value value, int64_t begin, int64_t size) const {
  if (begin == 0 && size == typeOf(value).getDimSize(1))
    return value;
  std::vector<Run> run = {{begin, size, 1, 1, 0}};
  return selectColumns(value, run);
}

Value Emitter::widen(Value value, int64_t size) const {
  int64_t columns = typeOf(value).getDimSize(1);
  if (columns == size)
    return value;
  std::vector<Run> runs = {{0, columns, 1, 1, 0},
                           {-1, size - columns, 1, 1, 0}};
  return selectColumns(value, runs);
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
