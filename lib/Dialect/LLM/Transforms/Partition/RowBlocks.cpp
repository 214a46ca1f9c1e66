//===- RowBlocks.cpp - Rows cut into blocks -------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Dialect/LLM/Transforms/Partition/RowBlocks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

Value llm::ceilDivide(OpBuilder &builder, Location loc, Value rows,
                      int64_t ranks) {
  if (ranks == 1)
    return rows;
  Value less = arith::ConstantIndexOp::create(builder, loc, ranks - 1);
  Value by = arith::ConstantIndexOp::create(builder, loc, ranks);
  Value sum = arith::AddIOp::create(builder, loc, rows, less);
  return arith::DivUIOp::create(builder, loc, sum, by);
}

RowBlocks llm::cutRows(OpBuilder &builder, Location loc, Value rows,
                       int64_t ranks, Value block) {
  if (!block)
    block = ceilDivide(builder, loc, rows, ranks);
  Value by = arith::ConstantIndexOp::create(builder, loc, ranks);
  Value all = arith::MulIOp::create(builder, loc, block, by);
  Value padding = arith::SubIOp::create(builder, loc, all, rows);
  return {rows, block, padding};
}

Value llm::padRows(OpBuilder &builder, Location loc, Value value, Value padding,
                   int fill) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.front() = ShapedType::kDynamic;
  SmallVector<OpFoldResult> low(type.getRank(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> high = low;
  high.front() = padding;
  Type element = type.getElementType();
  TypedAttr number = isa<FloatType>(element)
                         ? TypedAttr(builder.getFloatAttr(element, fill))
                         : TypedAttr(builder.getIntegerAttr(element, fill));
  Value constant = arith::ConstantOp::create(builder, loc, number);
  return tensor::PadOp::create(builder, loc, type.clone(shape), value, low,
                               high, constant);
}

Value llm::trimRows(OpBuilder &builder, Location loc, Value value, Value rows) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(type.getRank(), builder.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = {OpFoldResult(rows)};
  for (int64_t size : type.getShape().drop_front())
    sizes.push_back(builder.getIndexAttr(size));
  return tensor::ExtractSliceOp::create(builder, loc, value, offsets, sizes,
                                        strides);
}
