//===- StateRows.cpp - Mixers with a state, row by row --------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StateRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

Value llm::timesEach(LoopBuilder &b, Value x, Value y) {
  return map(
      b, sizesOf(b, x), b.getF32Type(), {whole(x), whole(y)},
      [](LoopBuilder &b, ValueRange e) { return multiply(b, e[0], e[1]); });
}

Value llm::siluOf(LoopBuilder &b, Value x) {
  return timesEach(b, x, sigmoid(b, x));
}

Value llm::softplus(LoopBuilder &b, Value x) {
  Value size = math::AbsFOp::create(b, x);
  Value below =
      math::ExpOp::create(b, arith::NegFOp::create(b, size).getResult());
  return add(b, arith::MaximumFOp::create(b, x, real(b, 0)),
             math::Log1pOp::create(b, below));
}

Convolved llm::convolveRow(LoopBuilder &b, Value kept, Value row, Value taps,
                           Value bias) {
  int64_t numKept = staticSize(kept, 0), channels = staticSize(kept, 1);
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  OpFoldResult count = b.getIndexAttr(numKept);
  OpFoldResult width = b.getIndexAttr(channels);
  Value window = zeros(b, {b.getIndexAttr(numKept + 1), width});
  window = insert(b, kept, window, {zero, zero}, {count, width});
  window = insert(b, row, window, {count, zero}, {one, width});
  Value start = bias ? bias : zeros(b, {width});
  Value made = nest(b, {whole(window), whole(taps)}, Operand{start, {1}},
                    [](LoopBuilder &b, ValueRange e) {
                      return Values{add(b, e[2], multiply(b, e[0], e[1]))};
                    })[0];
  return {siluOf(b, made), slice(b, window, {one, zero}, {count, width})};
}

/// `past`, or zeros where the row is a prompt's first.
static Value unlessFirst(LoopBuilder &b, Value past, Value isFirst) {
  return map(b, sizesOf(b, past), b.getF32Type(), whole(past),
             [&](LoopBuilder &b, ValueRange e) -> Value {
               return arith::SelectOp::create(b, isFirst, real(b, 0), e[0]);
             });
}

MixedRows llm::mixRows(
    LoopBuilder &b, Value positions, int64_t sequence, Value convState,
    Value state, Value results,
    llvm::function_ref<NewState(LoopBuilder &, const StateRow &)> mix) {
  auto step = [&](LoopBuilder &b, Value row, Value position,
                  ValueRange values) -> Values {
    Value prompt = quotient(b, row, index(b, sequence));
    Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, position,
                                          index(b, 0));
    auto pastOf = [&](Value cache) {
      return unlessFirst(b, part(b, cache, prompt), isFirst);
    };
    NewState made = mix(b, {row, pastOf(values[0]), pastOf(values[1])});
    return {replacePart(b, made.kept, values[0], prompt),
            replacePart(b, made.state, values[1], prompt),
            replacePart(b, made.result, values[2], row)};
  };
  Value count = scalar(b, sizeOf(b, positions, 0));
  Values made =
      repeatFor(b, count, {convState, state, results},
                [&](LoopBuilder &b, Value row, ValueRange values) {
                  Value position = at(b, positions, row);
                  Value isReal = arith::CmpIOp::create(
                      b, arith::CmpIPredicate::sge, position, index(b, 0));
                  auto made = scf::IfOp::create(
                      b, isReal,
                      [&](OpBuilder &nested, Location loc) {
                        LoopBuilder b(loc, nested);
                        scf::YieldOp::create(b, step(b, row, position, values));
                      },
                      [&](OpBuilder &nested, Location loc) {
                        LoopBuilder b(loc, nested);
                        scf::YieldOp::create(b, values);
                      });
                  return Values(made.getResults());
                });
  return {made[0], made[1], made[2]};
}
