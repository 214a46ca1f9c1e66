//===- Rows.cpp - Rows and columns taken from a table ---------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

Value llm::elementOrZero(LoopBuilder &b, Value matrix, Value row,
                         Value column) {
  // As an unsigned number, a negative row is beyond the end too.
  Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, row,
                                       scalar(b, sizeOf(b, matrix, 0)));
  auto choice = scf::IfOp::create(
      b, inside,
      [&](OpBuilder &nested, Location loc) {
        LoopBuilder b(loc, nested);
        scf::YieldOp::create(b, at(b, matrix, {row, column}));
      },
      [&](OpBuilder &nested, Location loc) {
        LoopBuilder b(loc, nested);
        scf::YieldOp::create(b, real(b, 0));
      });
  return choice.getResult(0);
}

Values llm::lower(LoopBuilder &b, EmbeddingOp op, const Lowering &) {
  Value table = op.getTable();
  Value first = op.getOffset() ? op.getOffset() : index(b, 0);
  double scale = op.getScale().convertToDouble();
  Sizes sizes = {sizeOf(b, op.getTokens(), 0), sizeOf(b, table, 1)};
  return {map(b, sizes, b.getF32Type(), Operand{op.getTokens(), {0}},
              [&](LoopBuilder &b, ValueRange e) {
                Value row = subtract(b, toIndex(b, e[0]), first);
                Value entry = elementOrZero(b, table, row, iteration(b, 1));
                return scale == 1.0 ? entry
                                    : multiply(b, entry, real(b, scale));
              })};
}

Values llm::lower(LoopBuilder &b, LastRowsOp op, const Lowering &) {
  Value input = op.getInput();
  Sizes sizes = {op.getPrompts(), sizeOf(b, input, 1)};
  return {map(b, sizes, b.getF32Type(), {}, [&](LoopBuilder &b, ValueRange) {
    Value next = add(b, iteration(b, 0), index(b, 1));
    Value row = multiply(b, next, index(b, op.getSequence()));
    row = subtract(b, subtract(b, row, index(b, 1)), op.getOffset());
    return elementOrZero(b, input, row, iteration(b, 1));
  })};
}

/// New rows [count, ...], each of them row `from(row)` of `input`, or `fill`
/// where that is negative.
static Value reorderRows(LoopBuilder &b, Value input, Value count, int64_t fill,
                         function_ref<Value(LoopBuilder &, Value)> from) {
  Type element = cast<RankedTensorType>(input.getType()).getElementType();
  bool isReal = isa<FloatType>(element);
  Sizes sizes = sizesOf(b, input);
  sizes[0] = count;
  return map(b, sizes, isReal ? b.getF32Type() : element, {},
             [&](LoopBuilder &b, ValueRange) {
               Value row = from(b, iteration(b, 0));
               Values place = {row};
               if (rankOf(input) == 2)
                 place.push_back(iteration(b, 1));
               Value isThere = arith::CmpIOp::create(
                   b, arith::CmpIPredicate::sge, row, index(b, 0));
               auto choice = scf::IfOp::create(
                   b, isThere,
                   [&](OpBuilder &nested, Location loc) {
                     LoopBuilder b(loc, nested);
                     Value x = at(b, input, place);
                     scf::YieldOp::create(b, isReal ? x : toInteger(b, x));
                   },
                   [&](OpBuilder &nested, Location loc) {
                     LoopBuilder b(loc, nested);
                     scf::YieldOp::create(b, isReal
                                                 ? real(b, double(fill))
                                                 : integer(b, int32_t(fill)));
                   });
               return choice.getResult(0);
             });
}

Values llm::lower(LoopBuilder &b, DealRowsOp op, const Lowering &) {
  int64_t length = op.getSequence(), ranks = op.getRanks();
  int64_t each = shardopt::ceilDiv(length, ranks);
  Value rows = scalar(b, sizeOf(b, op.getInput(), 0)), block = op.getBlock();
  Value count = multiply(b, block, index(b, ranks));
  auto from = [&](LoopBuilder &b, Value row) -> Value {
    Value rank = quotient(b, row, block), own = rest(b, row, block);
    Value prompt = quotient(b, own, index(b, each));
    Value position = add(
        b, multiply(b, rest(b, own, index(b, each)), index(b, ranks)), rank);
    Value place = add(b, multiply(b, prompt, index(b, length)), position);
    Value isInPrompt = arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                             position, index(b, length));
    Value isInRows =
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt, place, rows);
    Value isRow = arith::AndIOp::create(b, isInPrompt, isInRows);
    return arith::SelectOp::create(b, isRow, place, index(b, -1));
  };
  return {reorderRows(b, op.getInput(), count, op.getFill(), from)};
}

Values llm::lower(LoopBuilder &b, CollectRowsOp op, const Lowering &) {
  int64_t length = op.getSequence(), ranks = op.getRanks();
  int64_t each = shardopt::ceilDiv(length, ranks);
  Value all = scalar(b, sizeOf(b, op.getInput(), 0));
  Value block = quotient(b, all, index(b, ranks));
  auto from = [&](LoopBuilder &b, Value row) {
    Value prompt = quotient(b, row, index(b, length));
    Value position = rest(b, row, index(b, length));
    Value rank = rest(b, position, index(b, ranks));
    Value own = add(b, multiply(b, prompt, index(b, each)),
                    quotient(b, position, index(b, ranks)));
    return add(b, multiply(b, rank, block), own);
  };
  return {reorderRows(b, op.getInput(), op.getRows(), 0, from)};
}

/// The list that runs write out: one column, or -1 for zeros, an entry.
static SmallVector<int32_t> writeOut(ArrayRef<int64_t> runs) {
  SmallVector<int32_t> entries;
  for (; !runs.empty(); runs = runs.drop_front(5)) {
    int64_t start = runs[0], size = runs[1], stride = runs[2];
    int64_t count = runs[3], step = runs[4];
    for (int64_t c = 0; c < count; ++c)
      for (int64_t i = 0; i < size; ++i)
        entries.push_back(start < 0 ? -1 : start + c * step + i * stride);
  }
  return entries;
}

Values llm::lower(LoopBuilder &b, SelectColumnsOp op, const Lowering &) {
  Value input = op.getInput();
  SmallVector<int32_t> entries = writeOut(op.getRuns());
  auto type = RankedTensorType::get(entries.size(), b.getI32Type());
  Value chosen = arith::ConstantOp::create(
      b, DenseElementsAttr::get(type, ArrayRef(entries)));
  Sizes sizes = {sizeOf(b, input, 0), b.getIndexAttr(entries.size())};
  return {map(
      b, sizes, b.getF32Type(), Operand{chosen, {1}},
      [&](LoopBuilder &b, ValueRange e) {
        Value zero = index(b, 0), column = toIndex(b, e[0]);
        Value inside =
            arith::CmpIOp::create(b, arith::CmpIPredicate::sge, column, zero);
        column = arith::MaxSIOp::create(b, column, zero);
        Value x = at(b, input, {iteration(b, 0), column});
        return arith::SelectOp::create(b, inside, x, real(b, 0)).getResult();
      })};
}
