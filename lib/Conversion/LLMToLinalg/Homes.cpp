//===- Homes.cpp - Blocks of received rows --------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows arrive ordered [source][home][expert]; the experts' products want them
// by home, each home's block padded to the same length. Both orders hold the
// rows of a source and home together, so that is what is moved.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

/// i32 [sources, homes]: rows of each, over all experts.
static Value addExperts(LoopBuilder &b, Value counts) {
  Sizes sizes = {sizeOf(b, counts, 0), sizeOf(b, counts, 1)};
  return nest(b, whole(counts), whole(filled(b, sizes, integer(b, 0))),
              [](LoopBuilder &b, ValueRange e) {
                return Values{add(b, e[0], e[1])};
              })[0];
}

/// The largest sum of a column.
static Value largestHome(LoopBuilder &b, Value sizes) {
  Value total = filled(b, sizeOf(b, sizes, 1), integer(b, 0));
  total = nest(b, whole(sizes), Operand{total, {1}},
               [](LoopBuilder &b, ValueRange e) {
                 return Values{add(b, e[0], e[1])};
               })[0];
  Value none = filled(b, {b.getIndexAttr(1)}, integer(b, 0));
  // The outermost loop, of one iteration, is the result's dim.
  return nest(b, {{none, {0}}, {total, {1}}}, Operand{none, {0}},
              [](LoopBuilder &b, ValueRange e) {
                return Values{arith::MaxSIOp::create(b, e[1], e[2])};
              })[0];
}

using Move = function_ref<Value(LoopBuilder &, Value wire, Value home,
                                Value place, Value count, Value result)>;

/// Calls `move(first row on the wire, home, first row in the home's block,
/// number of rows, result)` for every source and home, and returns the last
/// result.
static Value moveBlocks(LoopBuilder &b, Value sizes, Value result, Move move) {
  Value sources = index(b, staticSize(sizes, 0));
  Value homes = index(b, staticSize(sizes, 1));
  // How much of each home's block has been taken.
  Value taken = filled(b, sizeOf(b, sizes, 1), integer(b, 0));
  return repeatFor(
      b, sources, {result, taken, index(b, 0)},
      [&](LoopBuilder &b, Value source, ValueRange state) {
        return repeatFor(
            b, homes, state, [&](LoopBuilder &b, Value home, ValueRange state) {
              Value count = at(b, sizes, {source, home});
              Value place = at(b, state[1], home), wire = state[2];
              Value next = move(b, wire, home, place, count, state[0]);
              Value taken = tensor::InsertOp::create(
                  b, toInteger(b, add(b, place, count)), state[1], home);
              return Values{next, taken, add(b, wire, count)};
            });
      })[0];
}

/// `to` with `count` of its rows replaced by rows of `from`.
static Value copyRows(LoopBuilder &b, Value from, Value source, Value to,
                      Value target, Value count) {
  OpFoldResult zero = b.getIndexAttr(0);
  Sizes sizes = {count, sizeOf(b, from, 1)};
  Value rows = slice(b, from, {source, zero}, sizes);
  return insert(b, rows, to, {target, zero}, sizes);
}

Values llm::lower(LoopBuilder &b, BlockSizeOp op, const Lowering &) {
  return {largestHome(b, addExperts(b, op.getCounts()))};
}

Values llm::lower(LoopBuilder &b, PackHomesOp op, const Lowering &) {
  Value rows = op.getRows(), counts = op.getCounts();
  Value block = at(b, op.getBlock(), index(b, 0));
  Value homes = index(b, staticSize(counts, 1));
  Value packed = zeros(b, {multiply(b, homes, block), sizeOf(b, rows, 1)});
  packed = moveBlocks(b, addExperts(b, counts), packed,
                      [&](LoopBuilder &b, Value wire, Value home, Value place,
                          Value count, Value result) {
                        Value target = add(b, multiply(b, home, block), place);
                        return copyRows(b, rows, wire, result, target, count);
                      });
  Value exchanged = empty(
      b, {sizeOf(b, counts, 1), sizeOf(b, counts, 0), sizeOf(b, counts, 2)},
      b.getI32Type());
  exchanged = linalg::TransposeOp::create(b, counts, exchanged,
                                          ArrayRef<int64_t>{1, 0, 2})
                  ->getResult(0);
  return {packed, exchanged};
}

Values llm::lower(LoopBuilder &b, UnpackHomesOp op, const Lowering &) {
  Value rows = op.getRows();
  Value sizes = addExperts(b, op.getCounts());
  Value homes = index(b, staticSize(sizes, 1));
  Value block = quotient(b, scalar(b, sizeOf(b, rows, 0)), homes);
  Value total = repeatFor(
      b, index(b, staticSize(sizes, 0)), index(b, 0),
      [&](LoopBuilder &b, Value source, Value total) {
        return repeatFor(b, homes, total,
                         [&](LoopBuilder &b, Value home, Value total) {
                           return add(b, total, at(b, sizes, {source, home}));
                         });
      });
  Value wired = empty(b, {total, sizeOf(b, rows, 1)}, b.getF32Type());
  return {moveBlocks(b, sizes, wired,
                     [&](LoopBuilder &b, Value wire, Value home, Value place,
                         Value count, Value result) {
                       Value source = add(b, multiply(b, home, block), place);
                       return copyRows(b, rows, source, result, wire, count);
                     })};
}
