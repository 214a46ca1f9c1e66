//===- Reshard.cpp - Collectives, and reshards made of them -===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/Transforms/Partition/Partitioner.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Shard/IR/ShardOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;
using cost::Axis;
using cost::CollectiveKind;
using cost::Layout;

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

static DenseI16ArrayAttr gridAxes(OpBuilder &builder, Axis axis) {
  return builder.getDenseI16ArrayAttr({int16_t(axis)});
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

DictionaryAttr llm::describeCollective(Operation *op, StringRef cause,
                                       double bytes, double seconds,
                                       bool charged) {
  Builder builder(op->getContext());
  Type type = getElementTypeOrSelf(op->getOperand(0).getType());
  NamedAttribute fields[] = {
      {"cause", builder.getStringAttr(cause)},
      {"bytes", builder.getI64IntegerAttr(std::llround(bytes))},
      {"microseconds", builder.getF64FloatAttr(seconds * 1e6)},
      {"charged", builder.getBoolAttr(charged)},
      {"type", TypeAttr::get(type)}};
  return builder.getDictionaryAttr(fields);
}

void Partitioner::annotate(Operation *op, const cost::Collective &collective,
                           Charge charge) {
  double seconds = time.seconds(collective, context.degrees);
  op->setAttr(collectiveAttrName,
              describeCollective(op, getCause(), collective.bytes, seconds,
                                 charge == Charge::Counted));
}

Value Partitioner::allReduce(Value value, double bytes, Charge charge,
                             bool max) {
  if (tp() == 1)
    return value;
  auto kind = max ? shard::ReductionKind::Max : shard::ReductionKind::Sum;
  auto reduction = shard::ReductionKindAttr::get(builder.getContext(), kind);
  auto op = create<shard::AllReduceOp>(
      value.getType(), grid, gridAxes(builder, Axis::Tp), value, reduction);
  annotate(op, {CollectiveKind::AllReduce, Axis::Tp, bytes}, charge);
  return op.getResult();
}

Value Partitioner::allGather(Value value, int64_t dim, double bytes,
                             Charge charge) {
  if (tp() == 1)
    return value;
  auto type = withSize(value, dim, scaledSize(value, dim, tp(), 1));
  auto op = create<shard::AllGatherOp>(type, grid, gridAxes(builder, Axis::Tp),
                                       value, builder.getIndexAttr(dim));
  annotate(op, {CollectiveKind::AllGather, Axis::Tp, bytes}, charge);
  return op.getResult();
}

Value Partitioner::reduceScatter(Value value, int64_t dim, double bytes) {
  if (tp() == 1)
    return value;
  auto type = withSize(value, dim, scaledSize(value, dim, 1, tp()));
  auto reduction = shard::ReductionKindAttr::get(builder.getContext(),
                                                 shard::ReductionKind::Sum);
  auto op = create<shard::ReduceScatterOp>(
      type, grid, gridAxes(builder, Axis::Tp), value, reduction,
      builder.getIndexAttr(dim));
  annotate(op, {CollectiveKind::ReduceScatter, Axis::Tp, bytes},
           Charge::Counted);
  return op.getResult();
}

Value Partitioner::allToAll(Value value, Axis axis, int64_t splitDim,
                            int64_t concatDim, double bytes, Charge charge) {
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
  auto op = create<shard::AllToAllOp>(type, grid, gridAxes(builder, axis),
                                      value, builder.getIndexAttr(splitDim),
                                      builder.getIndexAttr(concatDim));
  annotate(op, {CollectiveKind::AllToAll, axis, bytes}, charge);
  return op.getResult();
}

Value Partitioner::allToAllV(Value rows, Value send, Value recv, double bytes) {
  if (getSize(Axis::Ep) == 1)
    return rows;
  auto op = create<AllToAllVOp>(rows.getType(), rows, send, recv, grid,
                                gridAxes(builder, Axis::Ep));
  annotate(op, {CollectiveKind::AllToAll, Axis::Ep, bytes}, Charge::Counted);
  return op.getResult();
}

Value Partitioner::allSlice(Value value, int64_t dim) {
  if (tp() == 1)
    return value;
  auto type = withSize(value, dim, scaledSize(value, dim, 1, tp()));
  return create<shard::AllSliceOp>(type, grid, gridAxes(builder, Axis::Tp),
                                   value, builder.getIndexAttr(dim))
      .getResult();
}

//===----------------------------------------------------------------------===//
// Rows and columns
//===----------------------------------------------------------------------===//

Value Partitioner::padRows(Value value, const RowSpace *space, int fill) {
  if (!space->rows || tp() == 1)
    return value;
  RankedTensorType type = typeOf(value);
  SmallVector<OpFoldResult> low(type.getRank(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> high = low;
  high[0] = space->padding;
  Type element = type.getElementType();
  TypedAttr zero = isa<FloatType>(element)
                       ? TypedAttr(builder.getFloatAttr(element, fill))
                       : TypedAttr(builder.getIntegerAttr(element, fill));
  Value constant = create<arith::ConstantOp>(zero);
  return create<tensor::PadOp>(withSize(value, 0, ShapedType::kDynamic), value,
                               low, high, constant)
      .getResult();
}

Value Partitioner::trimRows(Value value, const RowSpace *space) {
  if (!space->rows || tp() == 1)
    return value;
  RankedTensorType type = typeOf(value);
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(type.getRank(), builder.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = {OpFoldResult(space->rows)};
  for (int64_t size : type.getShape().drop_front())
    sizes.push_back(builder.getIndexAttr(size));
  return create<tensor::ExtractSliceOp>(value, offsets, sizes, strides)
      .getResult();
}

Value Partitioner::sliceColumns(Value value, int64_t begin, int64_t size) {
  if (begin == 0 && size == typeOf(value).getDimSize(1))
    return value;
  std::vector<Run> run = {{begin, size, 1, 1, 0}};
  return selectColumns(value, run);
}

Value Partitioner::selectColumns(Value value, const std::vector<Run> &runs) {
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

Value Partitioner::concatColumns(ArrayRef<Value> values) {
  if (values.size() == 1)
    return values.front();
  return create<tensor::ConcatOp>(/*dim=*/1, ValueRange(values)).getResult();
}

Value Partitioner::activate(Value value, ActivationAttr activation) {
  int64_t width = typeOf(value).getDimSize(1) / (activation.getGated() ? 2 : 1);
  return create<ActivationOp>(withSize(value, 1, width), value, activation,
                              builder.getI64IntegerAttr(1));
}

//===----------------------------------------------------------------------===//
// Reshards
//===----------------------------------------------------------------------===//

/// P to H. Features that several ranks need are all-reduced, the others
/// reduce-scattered.
Value Partitioner::scatterFeatures(Value value, const Packing *packing,
                                   double bytes, Charge charge) {
  if (!packing->isReplicated())
    return reduceScatter(selectColumns(value, packing->getPack()), 1, bytes);
  if (packing->getParts().empty()) {
    Value sum = allReduce(value, bytes, charge);
    return allSlice(selectColumns(sum, packing->getPack()), 1);
  }
  SmallVector<Value> parts;
  int64_t begin = 0;
  for (const Packing *part : packing->getParts()) {
    int64_t size = part->getGlobalSize();
    double share = bytes * size / packing->getGlobalSize();
    parts.push_back(
        scatterFeatures(sliceColumns(value, begin, size), part, share, charge));
    begin += size;
  }
  return concatColumns(parts);
}

LocalCopy Partitioner::reshard(LocalCopy from, Layout to,
                               const Packing *packing, const RowSpace *space,
                               double rowBytes, Charge charge) {
  LocalCopy copy{from.value, to, to == Layout::H ? packing : nullptr, nullptr};
  Value &value = copy.value;
  double full = space->cost * rowBytes;
  double held = full / tp();
  bool sameFeatures = to != Layout::H || from.packing == packing;
  if (from.layout == to && sameFeatures && !from.pending)
    return from;
  if (tp() == 1) {
    if (from.pending)
      value = activate(value, from.pending);
    return copy;
  }
  // From one order of the features to another, through all of them.
  if (from.layout == Layout::H && to == Layout::H)
    return reshard(reshard(from, Layout::R, nullptr, space, rowBytes, charge),
                   to, packing, space, rowBytes, charge);

  switch (from.layout) {
  case Layout::R:
    if (to == Layout::T)
      value = allSlice(padRows(value, space), 0);
    else if (to == Layout::H)
      value = allSlice(selectColumns(value, packing->getPack()), 1);
    break;
  case Layout::T:
    if (to == Layout::R) {
      value = trimRows(allGather(value, 0, full, charge), space);
    } else {
      value = selectColumns(value, packing->getPack());
      value = allToAll(value, Axis::Tp, 1, 0, held, charge);
      value = trimRows(value, space);
    }
    break;
  case Layout::H:
    if (to == Layout::R) {
      value = allGather(value, 1, full, charge);
    } else {
      value = padRows(value, space);
      value = allToAll(value, Axis::Tp, 0, 1, held, charge);
    }
    value = selectColumns(value, from.packing->getUnpack());
    break;
  case Layout::P:
    if (to == Layout::R)
      value = allReduce(value, full, charge);
    else if (to == Layout::T)
      value = reduceScatter(padRows(value, space), 0, full);
    else if (from.pending && from.pending.getGated())
      value = scatterFeatures(
          value, packings.pairedBlocks(packing->getGlobalSize(), tp()), full,
          charge);
    else
      value = scatterFeatures(value, packing, full, charge);
    if (from.pending)
      value = activate(value, from.pending);
    break;
  }
  return copy;
}
