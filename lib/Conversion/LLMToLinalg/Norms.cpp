//===- Norms.cpp - Norms, whole and in two halves -------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

/// Sums of `of(element)` along the last dim, which the result lacks.
static Value sumLast(LoopBuilder &b, Value x,
                     llvm::function_ref<Value(LoopBuilder &, Value)> of) {
  Sizes sizes = sizesOf(b, x);
  sizes.pop_back();
  return nest(b, whole(x), whole(zeros(b, sizes)),
              [&](LoopBuilder &b, ValueRange e) {
                return Values{add(b, e[1], of(b, e[0]))};
              })[0];
}

static Value sumSquares(LoopBuilder &b, Value x) {
  return sumLast(
      b, x, [](LoopBuilder &b, Value e) -> Value { return multiply(b, e, e); });
}

static Value sums(LoopBuilder &b, Value x) {
  return sumLast(b, x, [](LoopBuilder &, Value e) { return e; });
}

/// x - sums / size, with `sums` over the last dim of x, or of what x is a part
/// of.
static Value deviations(LoopBuilder &b, Value x, Value sums, int64_t size) {
  return map(b, sizesOf(b, x), b.getF32Type(), {whole(x), whole(sums)},
             [&](LoopBuilder &b, ValueRange e) -> Value {
               Value mean = arith::DivFOp::create(b, e[1], real(b, size));
               return subtract(b, e[0], mean);
             });
}

/// Sums of squares of deviations from the mean of `size` elements, from the
/// sums of their squares and of themselves. Rounding makes none negative.
static Value squaresOfDeviations(LoopBuilder &b, Value squares, Value sums,
                                 int64_t size) {
  return map(b, sizesOf(b, sums), b.getF32Type(), {whole(squares), whole(sums)},
             [&](LoopBuilder &b, ValueRange e) -> Value {
               Value mean = arith::DivFOp::create(b, e[1], real(b, size));
               Value rest = subtract(b, e[0], multiply(b, mean, e[1]));
               return arith::MaximumFOp::create(b, rest, real(b, 0));
             });
}

/// x + bias along the last dim.
static Value addBias(LoopBuilder &b, Value x, Value bias) {
  return map(b, sizesOf(b, x), b.getF32Type(),
             {whole(x), {bias, {rankOf(x) - 1}}},
             [](LoopBuilder &b, ValueRange e) { return add(b, e[0], e[1]); });
}

/// x / sqrt(squares / size + epsilon) * weight, with `squares` summed over the
/// last dim of x, or of what x is a part of. The weight, if there is one, has
/// the last dims of x.
static Value scale(LoopBuilder &b, Value x, Value squares, Value weight,
                   int64_t size, double epsilon) {
  SmallVector<Operand> inputs = {whole(x), whole(squares)};
  if (weight) {
    Operand &of = inputs.emplace_back(whole(weight));
    for (int64_t &loop : of.loops)
      loop += rankOf(x) - rankOf(weight);
  }
  return map(b, sizesOf(b, x), b.getF32Type(), inputs,
             [&](LoopBuilder &b, ValueRange e) -> Value {
               Value mean = arith::DivFOp::create(b, e[1], real(b, size));
               Value root =
                   math::SqrtOp::create(b, add(b, mean, real(b, epsilon)));
               Value normed = arith::DivFOp::create(b, e[0], root);
               return weight ? multiply(b, normed, e[2]) : normed;
             });
}

Value llm::rmsNorm(LoopBuilder &b, Value x, Value weight, double epsilon) {
  return scale(b, x, sumSquares(b, x), weight, staticSize(x, rankOf(x) - 1),
               epsilon);
}

Value llm::layerNorm(LoopBuilder &b, Value x, Value weight, Value bias,
                     double epsilon) {
  Value centered = deviations(b, x, sums(b, x), staticSize(x, rankOf(x) - 1));
  Value normed = rmsNorm(b, centered, weight, epsilon);
  return bias ? addBias(b, normed, bias) : normed;
}

static Value sum(LoopBuilder &b, Value lhs, Value rhs) {
  return map(b, sizesOf(b, lhs), b.getF32Type(), {whole(lhs), whole(rhs)},
             [](LoopBuilder &b, ValueRange e) { return add(b, e[0], e[1]); });
}

Values llm::lower(LoopBuilder &b, AddOp op, const Lowering &) {
  return {sum(b, op.getLhs(), op.getRhs())};
}

Values llm::lower(LoopBuilder &b, RmsNormOp op, const Lowering &) {
  double epsilon = op.getEpsilon().convertToDouble();
  if (!op.getResidual())
    return {rmsNorm(b, op.getInput(), op.getWeight(), epsilon)};
  if (op.getNormFirst())
    return {sum(b, rmsNorm(b, op.getInput(), op.getWeight(), epsilon),
                op.getResidual())};
  Value total = sum(b, op.getInput(), op.getResidual());
  return {rmsNorm(b, total, op.getWeight(), epsilon), total};
}

Values llm::lower(LoopBuilder &b, LayerNormOp op, const Lowering &) {
  double epsilon = op.getEpsilon().convertToDouble();
  Value total = op.getInput();
  if (op.getResidual())
    total = sum(b, total, op.getResidual());
  Values results = {layerNorm(b, total, op.getWeight(), op.getBias(), epsilon)};
  if (op.getResidual())
    results.push_back(total);
  return results;
}

/// The columns of x in equal groups: [rows, groups, width].
static Value splitGroups(LoopBuilder &b, Value x, int64_t groups) {
  return splitLast(b, x, {groups, staticSize(x, 1) / groups});
}

Values llm::lower(LoopBuilder &b, SumSquaresOp op, const Lowering &) {
  Value x = splitGroups(b, op.getInput(), op.getGroups());
  Value squares = sumSquares(b, x);
  if (!op.getSums())
    return {squares};
  return {beside(b, {squares, sums(b, x)})};
}

Values llm::lower(LoopBuilder &b, ScaleNormOp op, const Lowering &) {
  bool subtractsMean = op.getSums() || op.getBias();
  int64_t groups = staticSize(op.getSquares(), 1) / (subtractsMean ? 2 : 1);
  Value x = splitGroups(b, op.getInput(), groups);
  Value squares = op.getSquares();
  if (subtractsMean) {
    Value sums = columns(b, squares, groups, groups);
    squares = squaresOfDeviations(b, columns(b, squares, 0, groups), sums,
                                  op.getSize());
    x = deviations(b, x, sums, op.getSize());
  }
  Value weight = op.getWeight();
  if (weight && staticSize(weight, 0) > staticSize(x, 2))
    weight = splitLast(b, weight, {groups, staticSize(x, 2)});
  Value scaled = scale(b, x, squares, weight, op.getSize(),
                       op.getEpsilon().convertToDouble());
  if (op.getBias())
    scaled = addBias(b, scaled, op.getBias());
  return {mergeLast(b, scaled)};
}
