//===- Activation.cpp - Activations of feed-forward networks --------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

/// x * sigmoid(alpha * x) = x / (1 + exp(-alpha * x)).
static Value silu(LoopBuilder &b, Value x, double alpha) {
  Value power = math::ExpOp::create(b, multiply(b, x, real(b, -alpha)));
  return arith::DivFOp::create(b, x, add(b, real(b, 1), power));
}

/// x / 2 * (1 + sigmoidal).
static Value gelu(LoopBuilder &b, Value x, Value sigmoidal) {
  Value half = multiply(b, x, real(b, 0.5));
  return multiply(b, half, add(b, real(b, 1), sigmoidal));
}

/// sqrt(2 / pi) * (x + 0.044715 * x^3).
static Value geluArgument(LoopBuilder &b, Value x) {
  Value square = multiply(b, x, x);
  Value factor = add(b, real(b, 1), multiply(b, square, real(b, 0.044715)));
  Value root = real(b, llvm::numbers::sqrt2 * llvm::numbers::inv_sqrtpi);
  return multiply(b, multiply(b, x, factor), root);
}

Value llm::softCap(LoopBuilder &b, Value x, double cap) {
  if (cap == 0)
    return x;
  Value bounded = math::TanhOp::create(b, multiply(b, x, real(b, 1 / cap)));
  return multiply(b, bounded, real(b, cap));
}

static Value apply(LoopBuilder &b, Value x, ActivationAttr activation) {
  switch (activation.getKind()) {
  case ActivationKind::Silu:
    return silu(b, x, activation.getAlpha().convertToDouble());
  case ActivationKind::Gelu: {
    Value root = real(b, 1 / llvm::numbers::sqrt2);
    return gelu(b, x, math::ErfOp::create(b, multiply(b, x, root)));
  }
  case ActivationKind::GeluTanh:
    return gelu(b, x, math::TanhOp::create(b, geluArgument(b, x)));
  case ActivationKind::Relu:
    return arith::MaximumFOp::create(b, x, real(b, 0));
  case ActivationKind::SquaredRelu: {
    Value positive = arith::MaximumFOp::create(b, x, real(b, 0));
    return multiply(b, positive, positive);
  }
  case ActivationKind::SoftCap:
    return softCap(
        b, multiply(b, x, real(b, activation.getAlpha().convertToDouble())),
        activation.getLimit().convertToDouble());
  }
  llvm_unreachable("unknown activation");
}

/// f(gate) * (up + shift), both clamped first where there is a limit.
static Value applyGated(LoopBuilder &b, Value gate, Value up,
                        ActivationAttr activation) {
  double limit = activation.getLimit().convertToDouble();
  double shift = activation.getShift().convertToDouble();
  if (limit > 0) {
    gate = arith::MinimumFOp::create(b, gate, real(b, limit));
    up = arith::MinimumFOp::create(b, up, real(b, limit));
    up = arith::MaximumFOp::create(b, up, real(b, -limit));
  }
  if (shift != 0)
    up = add(b, up, real(b, shift));
  return multiply(b, apply(b, gate, activation), up);
}

/// Matrix `which` of x [rows, blocks, 2, width]: gates or ups.
static Value half(LoopBuilder &b, Value x, int64_t which) {
  Sizes sizes = sizesOf(b, x);
  sizes[2] = b.getIndexAttr(1);
  Sizes offsets(4, b.getIndexAttr(0));
  offsets[2] = b.getIndexAttr(which);
  // The unit dim stays: the size of the others may be one as well.
  return slice(b, x, offsets, sizes);
}

Value llm::activateGated(LoopBuilder &b, Value gate, Value up,
                         ActivationAttr activation) {
  return map(b, sizesOf(b, gate), b.getF32Type(), {whole(gate), whole(up)},
             [&](LoopBuilder &b, ValueRange e) {
               return applyGated(b, e[0], e[1], activation);
             });
}

Value llm::activate(LoopBuilder &b, Value x, ActivationAttr activation,
                    int64_t blocks) {
  if (!activation.getGated())
    return map(b, sizesOf(b, x), b.getF32Type(), whole(x),
               [&](LoopBuilder &b, ValueRange e) {
                 return apply(b, e[0], activation);
               });
  x = splitLast(b, x, {blocks, 2, staticSize(x, 1) / 2 / blocks});
  Value gated = activateGated(b, half(b, x, 0), half(b, x, 1), activation);
  return mergeLast(b, mergeLast(b, gated));
}

Values llm::lower(LoopBuilder &b, ActivationOp op, const Lowering &) {
  return {activate(b, op.getInput(), op.getActivation(), op.getBlocks())};
}
