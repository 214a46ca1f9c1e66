//===- GatedDeltaNet.cpp - Linear attention with a state ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The recurrence, a row at a time: a prompt's rows follow each other, so that
// what one leaves is what the next one finds.
//
//===----------------------------------------------------------------------===//

#include "AttentionRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

/// Of queries and keys, below the root.
static constexpr double unitEpsilon = 1e-6;

namespace {

/// What rows bring along, before the convolution.
struct Rows {
  Value channels;  ///< [rows, channels], group by group
  Value strengths; ///< [rows, value heads], sigmoid(b)
  Value decays;    ///< [rows, value heads]
  Value gates;     ///< [rows, value heads, value_dim], their silu
};

/// A row of heads, after the convolution.
struct Heads {
  Value queries, keys; ///< [heads, key_dim]
  Value values;        ///< [value heads, value_dim]
};

} // namespace

static Value siluOf(LoopBuilder &b, Value x) {
  return map(
      b, sizesOf(b, x), b.getF32Type(), {whole(x), whole(sigmoid(b, x))},
      [](LoopBuilder &b, ValueRange e) { return multiply(b, e[0], e[1]); });
}

/// exp(-exp(decay) * softplus(a + bias)) of rows of a.
static Value decaysOf(LoopBuilder &b, Value steps, GatedDeltaNetOp op) {
  return map(
      b, sizesOf(b, steps), b.getF32Type(),
      {whole(steps), {op.getDecay(), {1}}, {op.getStepBias(), {1}}},
      [](LoopBuilder &b, ValueRange e) -> Value {
        // log(1 + exp(x)), which must not overflow.
        Value x = add(b, e[0], e[2]);
        Value size = math::AbsFOp::create(b, x);
        Value below =
            math::ExpOp::create(b, arith::NegFOp::create(b, size).getResult());
        Value softplus = add(b, arith::MaximumFOp::create(b, x, real(b, 0)),
                             math::Log1pOp::create(b, below));
        Value speed = math::ExpOp::create(b, e[1]);
        Value exponent = arith::NegFOp::create(b, multiply(b, speed, softplus));
        return math::ExpOp::create(b, exponent);
      });
}

static Rows rowsOf(LoopBuilder &b, GatedDeltaNetOp op) {
  int64_t heads = op.getHeads(), valueHeads = op.getValueHeads();
  int64_t ofEach = valueHeads / heads, values = ofEach * op.getValueDim();
  int64_t channels = op.getGroupChannels();
  Value groups = splitLast(b, op.getInput(), {heads, op.getGroupWidth()});
  auto take = [&](int64_t begin, int64_t size) {
    return mergeLast(b, columns(b, groups, begin, size));
  };
  Rows rows;
  rows.channels = take(0, channels);
  rows.gates = siluOf(b, splitLast(b, take(channels, values),
                                   {valueHeads, int64_t(op.getValueDim())}));
  rows.strengths = sigmoid(b, take(channels + values, ofEach));
  rows.decays = decaysOf(b, take(channels + values + ofEach, ofEach), op);
  return rows;
}

/// x / sqrt(sum(x^2) + epsilon) * factor along the last dim of a matrix.
static Value unitRows(LoopBuilder &b, Value x, double factor) {
  Value squares = nest(b, whole(x), Operand{zeros(b, sizeOf(b, x, 0)), {0}},
                       [](LoopBuilder &b, ValueRange e) {
                         return Values{add(b, e[1], multiply(b, e[0], e[0]))};
                       })[0];
  return map(b, sizesOf(b, x), b.getF32Type(), {whole(x), {squares, {0}}},
             [&](LoopBuilder &b, ValueRange e) -> Value {
               Value root =
                   math::SqrtOp::create(b, add(b, e[1], real(b, unitEpsilon)));
               return multiply(b, arith::DivFOp::create(b, e[0], root),
                               real(b, factor));
             });
}

/// The heads of a row, from the last `taps` rows of the channels.
static Heads convolve(LoopBuilder &b, GatedDeltaNetOp op, Value window) {
  Value made = nest(b, {whole(window), whole(op.getConv())},
                    Operand{zeros(b, sizeOf(b, window, 1)), {1}},
                    [](LoopBuilder &b, ValueRange e) {
                      return Values{add(b, e[2], multiply(b, e[0], e[1]))};
                    })[0];
  int64_t heads = op.getHeads(), keyDim = op.getKeyDim();
  int64_t valueDim = op.getValueDim();
  int64_t values = op.getValueHeads() / heads * valueDim;
  Value groups = splitLast(b, siluOf(b, made), {heads, op.getGroupChannels()});
  Value flat = mergeLast(b, columns(b, groups, 2 * keyDim, values));
  return {unitRows(b, columns(b, groups, 0, keyDim), 1 / std::sqrt(keyDim)),
          unitRows(b, columns(b, groups, keyDim, keyDim), 1),
          splitLast(b, flat, {int64_t(op.getValueHeads()), valueDim})};
}

/// `past`, or zeros where the row is a prompt's first.
static Value unlessFirst(LoopBuilder &b, Value past, Value isFirst) {
  return map(b, sizesOf(b, past), b.getF32Type(), whole(past),
             [&](LoopBuilder &b, ValueRange e) -> Value {
               return arith::SelectOp::create(b, isFirst, real(b, 0), e[0]);
             });
}

/// What a value head adds to its decayed state, and the new state.
static Value changeState(LoopBuilder &b, Value past, Value key, Value value,
                         Value strength) {
  Value known = vectorTimes(b, key, past);
  Value change =
      map(b, sizesOf(b, value), b.getF32Type(), {whole(value), whole(known)},
          [&](LoopBuilder &b, ValueRange e) {
            return multiply(b, subtract(b, e[0], e[1]), strength);
          });
  return map(b, sizesOf(b, past), b.getF32Type(),
             {whole(past), {key, {0}}, {change, {1}}},
             [](LoopBuilder &b, ValueRange e) {
               return add(b, e[0], multiply(b, e[1], e[2]));
             });
}

/// The state of a sequence [value heads, key_dim, value_dim] after a row, and
/// what the row asks of it [value heads, value_dim].
static Values applyRule(LoopBuilder &b, GatedDeltaNetOp op, const Rows &rows,
                        const Heads &heads, Value row, Value state) {
  int64_t valueHeads = op.getValueHeads();
  Value ofEach = index(b, valueHeads / int64_t(op.getHeads()));
  Value asked = zeros(b, sizesOf(b, heads.values));
  return repeatFor(b, index(b, valueHeads), {state, asked},
                   [&](LoopBuilder &b, Value head, ValueRange values) {
                     Value group = quotient(b, head, ofEach);
                     Value key = part(b, heads.keys, group);
                     Value decay = at(b, rows.decays, {row, head});
                     Value past = part(b, values[0], head);
                     past = map(b, sizesOf(b, past), b.getF32Type(),
                                whole(past), [&](LoopBuilder &b, ValueRange e) {
                                  return multiply(b, e[0], decay);
                                });
                     Value next =
                         changeState(b, past, key, part(b, heads.values, head),
                                     at(b, rows.strengths, {row, head}));
                     Value result =
                         vectorTimes(b, part(b, heads.queries, group), next);
                     return Values{replacePart(b, next, values[0], head),
                                   replacePart(b, result, values[1], head)};
                   });
}

/// One row that is not padding: the caches and all rows' results with its own.
static Values step(LoopBuilder &b, GatedDeltaNetOp op, const Rows &rows,
                   Value row, Value position, ValueRange values) {
  Value sequence = quotient(b, row, index(b, op.getSequence()));
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, position, index(b, 0));
  auto pastOf = [&](Value cache) {
    return unlessFirst(b, part(b, cache, sequence), isFirst);
  };

  Value kept = pastOf(values[0]);
  int64_t numKept = staticSize(kept, 0), channels = staticSize(kept, 1);
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  OpFoldResult count = b.getIndexAttr(numKept);
  OpFoldResult width = b.getIndexAttr(channels);
  Value window = zeros(b, {b.getIndexAttr(numKept + 1), width});
  window = insert(b, kept, window, {zero, zero}, {count, width});
  window = insert(b, part(b, rows.channels, row), window, {count, zero},
                  {one, width});
  Value newKept = slice(b, window, {one, zero}, {count, width});

  Values after =
      applyRule(b, op, rows, convolve(b, op, window), row, pastOf(values[1]));
  Value normed =
      rmsNorm(b, after[1], op.getNorm(), op.getEpsilon().convertToDouble());
  Value result =
      map(b, sizesOf(b, normed), b.getF32Type(),
          {whole(normed), whole(part(b, rows.gates, row))},
          [](LoopBuilder &b, ValueRange e) { return multiply(b, e[0], e[1]); });
  return {replacePart(b, newKept, values[0], sequence),
          replacePart(b, after[0], values[1], sequence),
          replacePart(b, result, values[2], row)};
}

Values llm::lower(LoopBuilder &b, GatedDeltaNetOp op, const Lowering &) {
  Rows rows = rowsOf(b, op);
  Value results = zeros(b, sizesOf(b, rows.gates));
  Value count = scalar(b, sizeOf(b, op.getInput(), 0));
  Values made = repeatFor(
      b, count, {op.getConvState(), op.getState(), results},
      [&](LoopBuilder &b, Value row, ValueRange values) {
        Value position = at(b, op.getPositions(), row);
        Value isReal = arith::CmpIOp::create(b, arith::CmpIPredicate::sge,
                                             position, index(b, 0));
        auto made = scf::IfOp::create(
            b, isReal,
            [&](OpBuilder &nested, Location loc) {
              LoopBuilder b(loc, nested);
              scf::YieldOp::create(b, step(b, op, rows, row, position, values));
            },
            [&](OpBuilder &nested, Location loc) {
              LoopBuilder b(loc, nested);
              scf::YieldOp::create(b, values);
            });
        return Values(made.getResults());
      });
  return {mergeLast(b, made[2]), made[0], made[1]};
}
