//===- Norms.cpp - Root-mean-square norms ---------------------------------===//
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

/// Sums of squares along the last dim, which the result lacks.
static Value sumSquares(LoopBuilder &b, Value x) {
  Sizes sizes = sizesOf(b, x);
  sizes.pop_back();
  return nest(b, whole(x), whole(zeros(b, sizes)),
              [](LoopBuilder &b, ValueRange e) {
                return Values{add(b, e[1], multiply(b, e[0], e[0]))};
              })[0];
}

/// x / sqrt(squares / size + epsilon) * weight, with `squares` summed over the
/// last dim of x, or of what x is a part of.
static Value scale(LoopBuilder &b, Value x, Value squares, Value weight,
                   int64_t size, double epsilon) {
  int64_t last = rankOf(x) - 1;
  return map(b, sizesOf(b, x), b.getF32Type(),
             {whole(x), whole(squares), {weight, {last}}},
             [&](LoopBuilder &b, ValueRange e) {
               Value mean = arith::DivFOp::create(b, e[1], real(b, size));
               Value root =
                   math::SqrtOp::create(b, add(b, mean, real(b, epsilon)));
               return multiply(b, arith::DivFOp::create(b, e[0], root), e[2]);
             });
}

Value llm::rmsNorm(LoopBuilder &b, Value x, Value weight, double epsilon) {
  return scale(b, x, sumSquares(b, x), weight, staticSize(x, rankOf(x) - 1),
               epsilon);
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
  Value total = sum(b, op.getInput(), op.getResidual());
  return {rmsNorm(b, total, op.getWeight(), epsilon), total};
}

/// The columns of x in equal groups: [rows, groups, width].
static Value splitGroups(LoopBuilder &b, Value x, int64_t groups) {
  return splitLast(b, x, {groups, staticSize(x, 1) / groups});
}

Values llm::lower(LoopBuilder &b, SumSquaresOp op, const Lowering &) {
  return {sumSquares(b, splitGroups(b, op.getInput(), op.getGroups()))};
}

Values llm::lower(LoopBuilder &b, ScaleNormOp op, const Lowering &) {
  int64_t groups = staticSize(op.getSquares(), 1);
  Value x = splitGroups(b, op.getInput(), groups);
  Value scaled = scale(b, x, op.getSquares(), op.getWeight(), op.getSize(),
                       op.getEpsilon().convertToDouble());
  return {mergeLast(b, scaled)};
}
