//===- Projections.cpp - Products with weights ----------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

Value llm::addProduct(LoopBuilder &b, Value lhs, Value rhs, Value result,
                      bool transposed) {
  if (transposed)
    return linalg::MatmulTransposeBOp::create(b, b.getLoc(), {lhs, rhs}, result)
        .getResult(0);
  return linalg::MatmulOp::create(b, ValueRange{lhs, rhs}, result).getResult(0);
}

Value llm::startFromBias(LoopBuilder &b, Value bias, Value result) {
  return nest(b, Operand{bias, {1}}, Operand{result, {0, 1}},
              [](LoopBuilder &, ValueRange e) { return Values{e[0]}; })[0];
}

Value llm::project(LoopBuilder &b, Value input, Value weight, Value bias,
                   bool transposed) {
  Sizes sizes = {sizeOf(b, input, 0), sizeOf(b, weight, transposed ? 0 : 1)};
  Value start = bias ? startFromBias(b, bias, empty(b, sizes, b.getF32Type()))
                     : zeros(b, sizes);
  return addProduct(b, input, weight, start, transposed);
}

Values llm::lower(LoopBuilder &b, QkvProjOp op, const Lowering &) {
  return {project(b, op.getInput(), op.getWeight(), op.getBias())};
}

Values llm::lower(LoopBuilder &b, OutProjOp op, const Lowering &) {
  return {project(b, op.getInput(), op.getWeight(), op.getBias())};
}

Values llm::lower(LoopBuilder &b, LinearOp op, const Lowering &) {
  Value input = op.getInput();
  if (op.getNorm())
    input = rmsNorm(b, input, op.getNorm(), op.getEpsilon()->convertToDouble());
  return {project(b, input, op.getWeight(), op.getBias(), op.getTransposed())};
}
