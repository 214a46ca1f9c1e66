//===- Mamba2.cpp - A state space of heads in groups ----------------------===//
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

namespace {

/// What rows bring along, before the convolution.
struct SpaceRows {
  Value gates;         ///< [rows, heads, head_dim], their silu
  Value channels;      ///< [rows, channels]
  Value steps, decays; ///< [rows, heads]
};

/// A row of heads and groups, after the convolution.
struct SpaceHeads {
  Value values;           ///< [heads, head_dim]
  Value writing, reading; ///< [groups, state_dim]
};

} // namespace

Values llm::lower(LoopBuilder &b, Mamba2ProjOp op, const Lowering &) {
  return {project(b, op.getInput(), op.getWeight(), op.getBias())};
}

/// softplus(step + bias), between its limits.
static Value stepsOf(LoopBuilder &b, Value steps, Mamba2Op op) {
  return map(b, sizesOf(b, steps), b.getF32Type(),
             {whole(steps), {op.getStepBias(), {1}}},
             [&](LoopBuilder &b, ValueRange e) -> Value {
               Value step = softplus(b, add(b, e[0], e[1]));
               if (double least = op.getStepMin().convertToDouble(); least > 0)
                 step = arith::MaximumFOp::create(b, step, real(b, least));
               if (op.getStepMax())
                 step = arith::MinimumFOp::create(
                     b, step, real(b, op.getStepMax()->convertToDouble()));
               return step;
             });
}

static SpaceRows rowsOf(LoopBuilder &b, Mamba2Op op) {
  int64_t heads = op.getHeads(), headDim = op.getHeadDim();
  int64_t values = heads * headDim, channels = op.getChannels();
  SpaceRows rows;
  rows.gates = siluOf(
      b, splitLast(b, columns(b, op.getInput(), 0, values), {heads, headDim}));
  rows.channels = columns(b, op.getInput(), values, channels);
  rows.steps =
      stepsOf(b, columns(b, op.getInput(), values + channels, heads), op);
  rows.decays = map(b, sizesOf(b, rows.steps), b.getF32Type(),
                    {whole(rows.steps), {op.getDecay(), {1}}},
                    [](LoopBuilder &b, ValueRange e) -> Value {
                      Value speed = math::ExpOp::create(b, e[1]);
                      Value exponent =
                          arith::NegFOp::create(b, multiply(b, speed, e[0]));
                      return math::ExpOp::create(b, exponent);
                    });
  return rows;
}

static SpaceHeads headsOf(LoopBuilder &b, Mamba2Op op, Value channels) {
  int64_t heads = op.getHeads(), headDim = op.getHeadDim();
  int64_t groups = op.getGroups(), stateDim = op.getStateDim();
  int64_t values = heads * headDim, shared = groups * stateDim;
  auto take = [&](int64_t begin, int64_t count, int64_t size) {
    return splitLast(b, columns(b, channels, begin, count * size),
                     {count, size});
  };
  return {take(0, heads, headDim), take(values, groups, stateDim),
          take(values + shared, groups, stateDim)};
}

/// A head's state [head_dim, state_dim] after a row, decayed and written.
static Value writeState(LoopBuilder &b, Value past, Value values, Value writing,
                        Value step, Value decay) {
  return map(b, sizesOf(b, past), b.getF32Type(),
             {whole(past), {values, {0}}, {writing, {1}}},
             [&](LoopBuilder &b, ValueRange e) {
               Value written = multiply(b, multiply(b, step, e[1]), e[2]);
               return add(b, multiply(b, e[0], decay), written);
             });
}

/// The state of a sequence [heads, head_dim, state_dim] after a row, and what
/// the row asks of it [heads, head_dim].
static Values applySpace(LoopBuilder &b, Mamba2Op op, const SpaceRows &rows,
                         const SpaceHeads &heads, Value row, Value state) {
  int64_t count = op.getHeads();
  Value ofEach = index(b, count / int64_t(op.getGroups()));
  Value asked = zeros(b, sizesOf(b, heads.values));
  return repeatFor(
      b, index(b, count), {state, asked},
      [&](LoopBuilder &b, Value head, ValueRange values) -> Values {
        Value group = quotient(b, head, ofEach);
        Value own = part(b, heads.values, head);
        Value next = writeState(
            b, part(b, values[0], head), own, part(b, heads.writing, group),
            at(b, rows.steps, {row, head}), at(b, rows.decays, {row, head}));
        Value read = timesVector(b, next, part(b, heads.reading, group));
        Value skip = at(b, op.getSkip(), head);
        Value result =
            map(b, sizesOf(b, read), b.getF32Type(), {whole(read), whole(own)},
                [&](LoopBuilder &b, ValueRange e) {
                  return add(b, e[0], multiply(b, skip, e[1]));
                });
        return {replacePart(b, next, values[0], head),
                replacePart(b, result, values[1], head)};
      });
}

/// Columns [rows, heads * head_dim], normed by groups.
static Value normGroups(LoopBuilder &b, Mamba2Op op, Value x) {
  int64_t groups = op.getGroups(), width = staticSize(x, 1) / groups;
  Value weight = splitLast(b, op.getNorm(), {groups, width});
  return mergeLast(b, rmsNorm(b, splitLast(b, x, {groups, width}), weight,
                              op.getEpsilon()->convertToDouble()));
}

Values llm::lower(LoopBuilder &b, Mamba2Op op, const Lowering &) {
  SpaceRows rows = rowsOf(b, op);
  MixedRows made =
      mixRows(b, op.getPositions(), op.getSequence(), op.getConvState(),
              op.getState(), zeros(b, sizesOf(b, rows.gates)),
              [&](LoopBuilder &b, const StateRow &at) -> NewState {
                Convolved convolved =
                    convolveRow(b, at.kept, part(b, rows.channels, at.row),
                                op.getConv(), op.getConvBias());
                SpaceHeads heads = headsOf(b, op, convolved.channels);
                Values after = applySpace(b, op, rows, heads, at.row, at.state);
                return {convolved.kept, after[0],
                        timesEach(b, after[1], part(b, rows.gates, at.row))};
              });
  Value results = mergeLast(b, made.results);
  if (op.getNorm())
    results = normGroups(b, op, results);
  return {results, made.convState, made.state};
}
