//===- GatedDeltaNet.cpp - Linear attention with a state ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The recurrence, a row at a time.
//
//===----------------------------------------------------------------------===//

#include "StateRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

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

/// exp(-exp(decay) * softplus(a + bias)) of rows of a.
static Value decaysOf(LoopBuilder &b, Value steps, GatedDeltaNetOp op) {
  return map(b, sizesOf(b, steps), b.getF32Type(),
             {whole(steps), {op.getDecay(), {1}}, {op.getStepBias(), {1}}},
             [](LoopBuilder &b, ValueRange e) -> Value {
               Value speed = math::ExpOp::create(b, e[1]);
               Value step = softplus(b, add(b, e[0], e[2]));
               Value exponent =
                   arith::NegFOp::create(b, multiply(b, speed, step));
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

/// The heads of a row, of what the convolution made.
static Heads headsOf(LoopBuilder &b, GatedDeltaNetOp op, Value channels) {
  int64_t heads = op.getHeads(), keyDim = op.getKeyDim();
  int64_t valueDim = op.getValueDim();
  int64_t values = op.getValueHeads() / heads * valueDim;
  Value groups = splitLast(b, channels, {heads, op.getGroupChannels()});
  Value flat = mergeLast(b, columns(b, groups, 2 * keyDim, values));
  return {unitRows(b, columns(b, groups, 0, keyDim), 1 / std::sqrt(keyDim)),
          unitRows(b, columns(b, groups, keyDim, keyDim), 1),
          splitLast(b, flat, {int64_t(op.getValueHeads()), valueDim})};
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

Values llm::lower(LoopBuilder &b, GatedDeltaNetOp op, const Lowering &) {
  Rows rows = rowsOf(b, op);
  MixedRows made =
      mixRows(b, op.getPositions(), op.getSequence(), op.getConvState(),
              op.getState(), zeros(b, sizesOf(b, rows.gates)),
              [&](LoopBuilder &b, const StateRow &at) -> NewState {
                Convolved convolved =
                    convolveRow(b, at.kept, part(b, rows.channels, at.row),
                                op.getConv(), /*bias=*/Value());
                Heads heads = headsOf(b, op, convolved.channels);
                Values after = applyRule(b, op, rows, heads, at.row, at.state);
                Value normed = rmsNorm(b, after[1], op.getNorm(),
                                       op.getEpsilon().convertToDouble());
                return {convolved.kept, after[0],
                        timesEach(b, normed, part(b, rows.gates, at.row))};
              });
  return {mergeLast(b, made.results), made.convState, made.state};
}
