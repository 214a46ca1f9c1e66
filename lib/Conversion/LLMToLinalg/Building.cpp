//===- Building.cpp - Shorthands for loops over tensors -------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Building.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/Sequence.h"

#include <limits>

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value llm::index(LoopBuilder &b, int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

Value llm::real(LoopBuilder &b, double value) {
  return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
}

Value llm::integer(LoopBuilder &b, int32_t value) {
  return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
}

Value llm::lowest(LoopBuilder &b) {
  return real(b, -std::numeric_limits<double>::infinity());
}

Value llm::scalar(LoopBuilder &b, OpFoldResult size) {
  return getValueOrCreateConstantIndexOp(b, b.getLoc(), size);
}

Value llm::toIndex(LoopBuilder &b, Value value) {
  return arith::IndexCastOp::create(b, b.getIndexType(), value);
}

Value llm::toInteger(LoopBuilder &b, Value value) {
  return arith::IndexCastOp::create(b, b.getI32Type(), value);
}

Value llm::add(LoopBuilder &b, Value lhs, Value rhs) {
  if (isa<FloatType>(lhs.getType()))
    return arith::AddFOp::create(b, lhs, rhs);
  return arith::AddIOp::create(b, lhs, rhs);
}

Value llm::subtract(LoopBuilder &b, Value lhs, Value rhs) {
  if (isa<FloatType>(lhs.getType()))
    return arith::SubFOp::create(b, lhs, rhs);
  return arith::SubIOp::create(b, lhs, rhs);
}

Value llm::multiply(LoopBuilder &b, Value lhs, Value rhs) {
  if (isa<FloatType>(lhs.getType()))
    return arith::MulFOp::create(b, lhs, rhs);
  return arith::MulIOp::create(b, lhs, rhs);
}

Value llm::quotient(LoopBuilder &b, Value lhs, Value rhs) {
  return arith::DivUIOp::create(b, lhs, rhs);
}

Value llm::rest(LoopBuilder &b, Value lhs, Value rhs) {
  return arith::RemUIOp::create(b, lhs, rhs);
}

//===----------------------------------------------------------------------===//
// Tensors and their parts
//===----------------------------------------------------------------------===//

static RankedTensorType typeOf(Value tensor) {
  return cast<RankedTensorType>(tensor.getType());
}

Sizes llm::sizesOf(LoopBuilder &b, Value tensor) {
  return tensor::getMixedSizes(b, b.getLoc(), tensor);
}

OpFoldResult llm::sizeOf(LoopBuilder &b, Value tensor, int64_t dim) {
  return tensor::getMixedSize(b, b.getLoc(), tensor, dim);
}

int64_t llm::staticSize(Value tensor, int64_t dim) {
  return typeOf(tensor).getDimSize(dim);
}

int64_t llm::rankOf(Value tensor) { return typeOf(tensor).getRank(); }

Value llm::empty(LoopBuilder &b, ArrayRef<OpFoldResult> sizes, Type element) {
  return tensor::EmptyOp::create(b, sizes, element);
}

Value llm::filled(LoopBuilder &b, ArrayRef<OpFoldResult> sizes, Value value) {
  Value tensor = empty(b, sizes, value.getType());
  return linalg::FillOp::create(b, value, tensor).getResult(0);
}

Value llm::zeros(LoopBuilder &b, ArrayRef<OpFoldResult> sizes) {
  return filled(b, sizes, real(b, 0));
}

Value llm::at(LoopBuilder &b, Value tensor, ValueRange indices) {
  Value element = tensor::ExtractOp::create(b, tensor, indices);
  return element.getType().isInteger(32) ? toIndex(b, element) : element;
}

static Sizes ones(LoopBuilder &b, size_t rank) {
  return Sizes(rank, b.getIndexAttr(1));
}

Value llm::slice(LoopBuilder &b, Value tensor, ArrayRef<OpFoldResult> offsets,
                 ArrayRef<OpFoldResult> sizes, int64_t rank,
                 ArrayRef<OpFoldResult> strides) {
  Sizes steps = strides.empty() ? ones(b, sizes.size()) : Sizes(strides);
  if (rank < 0 || rank == rankOf(tensor))
    return tensor::ExtractSliceOp::create(b, tensor, offsets, sizes, steps);
  RankedTensorType type =
      tensor::ExtractSliceOp::inferCanonicalRankReducedResultType(
          rank, typeOf(tensor), sizes);
  return tensor::ExtractSliceOp::create(b, type, tensor, offsets, sizes, steps);
}

Value llm::insert(LoopBuilder &b, Value part, Value tensor,
                  ArrayRef<OpFoldResult> offsets,
                  ArrayRef<OpFoldResult> sizes) {
  return tensor::InsertSliceOp::create(b, part, tensor, offsets, sizes,
                                       ones(b, sizes.size()));
}

/// The box that `tensor[i]` is.
static std::pair<Sizes, Sizes> boxOf(LoopBuilder &b, Value tensor, Value i) {
  Sizes offsets(rankOf(tensor), b.getIndexAttr(0));
  offsets.front() = i;
  Sizes sizes = sizesOf(b, tensor);
  sizes.front() = b.getIndexAttr(1);
  return {offsets, sizes};
}

Value llm::part(LoopBuilder &b, Value tensor, Value i) {
  auto [offsets, sizes] = boxOf(b, tensor, i);
  return slice(b, tensor, offsets, sizes, rankOf(tensor) - 1);
}

Value llm::replacePart(LoopBuilder &b, Value part, Value tensor, Value i) {
  auto [offsets, sizes] = boxOf(b, tensor, i);
  return insert(b, part, tensor, offsets, sizes);
}

Value llm::columns(LoopBuilder &b, Value tensor, int64_t offset, int64_t size,
                   int64_t stride) {
  int64_t rank = rankOf(tensor);
  Sizes offsets(rank, b.getIndexAttr(0));
  offsets.back() = b.getIndexAttr(offset);
  Sizes sizes = sizesOf(b, tensor);
  sizes.back() = b.getIndexAttr(size);
  Sizes strides = ones(b, rank);
  strides.back() = b.getIndexAttr(stride);
  return slice(b, tensor, offsets, sizes, rank, strides);
}

Value llm::beside(LoopBuilder &b, ValueRange tensors) {
  int64_t width = 0, last = rankOf(tensors[0]) - 1;
  for (Value tensor : tensors)
    width += staticSize(tensor, last);
  Sizes sizes = sizesOf(b, tensors[0]), offsets(last + 1, b.getIndexAttr(0));
  sizes.back() = b.getIndexAttr(width);
  Value result = empty(b, sizes, typeOf(tensors[0]).getElementType());
  int64_t offset = 0;
  for (Value tensor : tensors) {
    int64_t size = staticSize(tensor, last);
    offsets.back() = b.getIndexAttr(offset);
    sizes.back() = b.getIndexAttr(size);
    result = insert(b, tensor, result, offsets, sizes);
    offset += size;
  }
  return result;
}

Value llm::splitLast(LoopBuilder &b, Value tensor, ArrayRef<int64_t> sizes) {
  int64_t last = rankOf(tensor) - 1;
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim <= last; ++dim)
    groups.push_back({dim});
  for (size_t i = 1; i < sizes.size(); ++i)
    groups.back().push_back(last + i);

  SmallVector<int64_t> shape(typeOf(tensor).getShape().drop_back());
  shape.append(sizes.begin(), sizes.end());
  Sizes mixed = sizesOf(b, tensor);
  mixed.pop_back();
  for (int64_t size : sizes)
    mixed.push_back(b.getIndexAttr(size));
  auto type = RankedTensorType::get(shape, typeOf(tensor).getElementType());
  return tensor::ExpandShapeOp::create(b, type, tensor, groups, mixed);
}

Value llm::mergeLast(LoopBuilder &b, Value tensor) {
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim + 1 < rankOf(tensor); ++dim)
    groups.push_back({dim});
  groups.back().push_back(rankOf(tensor) - 1);
  return tensor::CollapseShapeOp::create(b, tensor, groups);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

Operand llm::whole(Value tensor) {
  return {tensor, llvm::to_vector<4>(llvm::seq(rankOf(tensor)))};
}

Values llm::nest(LoopBuilder &b, ArrayRef<Operand> inputs,
                 ArrayRef<Operand> outputs, Elements body) {
  int64_t loops = 0;
  for (ArrayRef<Operand> operands : {inputs, outputs})
    for (const Operand &operand : operands)
      for (int64_t loop : operand.loops)
        loops = std::max(loops, loop + 1);

  SmallVector<utils::IteratorType> kinds(loops, utils::IteratorType::parallel);
  SmallVector<AffineMap> maps;
  SmallVector<Value> read, written;
  for (const Operand &operand : inputs)
    read.push_back(operand.tensor);
  for (const Operand &operand : outputs) {
    written.push_back(operand.tensor);
    for (int64_t loop = 0; loop < loops; ++loop)
      if (!llvm::is_contained(operand.loops, loop))
        kinds[loop] = utils::IteratorType::reduction;
  }
  for (ArrayRef<Operand> operands : {inputs, outputs})
    for (const Operand &operand : operands) {
      SmallVector<unsigned> targets(operand.loops.begin(), operand.loops.end());
      maps.push_back(
          AffineMap::getMultiDimMapWithTargets(loops, targets, b.getContext()));
    }

  auto generic = linalg::GenericOp::create(
      b, ValueRange(written).getTypes(), read, written, maps, kinds,
      [&](OpBuilder &nested, Location loc, ValueRange elements) {
        LoopBuilder inner(loc, nested);
        linalg::YieldOp::create(inner, body(inner, elements));
      });
  return Values(generic.getResults());
}

Value llm::map(LoopBuilder &b, ArrayRef<OpFoldResult> sizes, Type element,
               ArrayRef<Operand> inputs, Element body) {
  Operand output = whole(empty(b, sizes, element));
  return nest(b, inputs, output, [&](LoopBuilder &b, ValueRange elements) {
    return Values{body(b, elements)};
  })[0];
}

Value llm::iteration(LoopBuilder &b, int64_t loop) {
  return linalg::IndexOp::create(b, loop);
}

Values
llm::repeatFor(LoopBuilder &b, Value count, ValueRange init,
               function_ref<Values(LoopBuilder &, Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(
      b, index(b, 0), count, index(b, 1), init,
      [&](OpBuilder &nested, Location loc, Value i, ValueRange values) {
        LoopBuilder inner(loc, nested);
        scf::YieldOp::create(inner, body(inner, i, values));
      });
  return Values(loop.getResults());
}

Value llm::repeatFor(LoopBuilder &b, Value count, Value init,
                     function_ref<Value(LoopBuilder &, Value, Value)> body) {
  return repeatFor(b, count, ValueRange(init),
                   [&](LoopBuilder &b, Value i, ValueRange values) {
                     return Values{body(b, i, values[0])};
                   })[0];
}
