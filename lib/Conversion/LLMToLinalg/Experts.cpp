//===- Experts.cpp - Feed-forward products, plain and grouped -------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

/// The product of rows [begin, begin + count) with the weight of one expert,
/// written into `result` at the same rows.
static Value multiplyRows(LoopBuilder &b, Value input, Value weight, Value bias,
                          Value result, Value begin, Value count) {
  auto rowsOf = [&](Value tensor) {
    return std::pair<Sizes, Sizes>{{begin, b.getIndexAttr(0)},
                                   {count, sizeOf(b, tensor, 1)}};
  };
  auto [from, taken] = rowsOf(input);
  auto [to, made] = rowsOf(result);
  Value start = slice(b, result, to, made);
  if (bias)
    start = startFromBias(b, bias, start);
  Value product = addProduct(b, slice(b, input, from, taken), weight, start);
  return insert(b, product, result, to, made);
}

/// Rows [home][source][expert], each with its expert's weight. The blocks of
/// the homes are equally long; what their counts do not fill is zero, and an
/// expert without rows costs nothing.
static Value groupedProduct(LoopBuilder &b, Value input, Value weight,
                            Value bias, Value counts) {
  Value rows = scalar(b, sizeOf(b, input, 0));
  Value homes = index(b, staticSize(counts, 0));
  Value sources = index(b, staticSize(counts, 1));
  Value experts = index(b, staticSize(counts, 2));
  Value block = quotient(b, rows, homes);
  Value result = zeros(b, {rows, sizeOf(b, weight, 2)});

  auto expertRows = [&](LoopBuilder &b, Value home, Value source, Value expert,
                        ValueRange state) {
    Value count = at(b, counts, {home, source, expert});
    Value ownBias = bias ? part(b, bias, expert) : Value();
    Value next = multiplyRows(b, input, part(b, weight, expert), ownBias,
                              state[0], state[1], count);
    return Values{next, add(b, state[1], count)};
  };
  return repeatFor(
      b, homes, result, [&](LoopBuilder &b, Value home, Value result) {
        Value begin = multiply(b, home, block);
        return repeatFor(b, sources, {result, begin},
                         [&](LoopBuilder &b, Value source, ValueRange state) {
                           return repeatFor(b, experts, state,
                                            [&](LoopBuilder &b, Value expert,
                                                ValueRange state) {
                                              return expertRows(b, home, source,
                                                                expert, state);
                                            });
                         })[0];
      });
}

static Value product(LoopBuilder &b, Value input, Value weight, Value bias,
                     Value counts) {
  if (counts)
    return groupedProduct(b, input, weight, bias, counts);
  return project(b, input, weight, bias);
}

/// The rows of `x`, each times sigmoid(its row of `input` * gate).
static Value gateRows(LoopBuilder &b, Value x, Value input, Value gate) {
  Sizes rows = {sizeOf(b, input, 0)};
  Value products =
      nest(b, {whole(input), {gate, {1}}}, Operand{zeros(b, rows), {0}},
           [](LoopBuilder &b, ValueRange e) {
             return Values{add(b, e[2], multiply(b, e[0], e[1]))};
           })[0];
  return map(
      b, sizesOf(b, x), b.getF32Type(), {whole(x), {sigmoid(b, products), {0}}},
      [](LoopBuilder &b, ValueRange e) { return multiply(b, e[0], e[1]); });
}

Values llm::lower(LoopBuilder &b, FfnUpOp op, const Lowering &) {
  // Zeros stay zeros under every activation, so padding may take part.
  Value raw =
      product(b, op.getInput(), op.getWeight(), op.getBias(), op.getCounts());
  if (op.getActivation())
    raw = activate(b, raw, *op.getActivation(), /*blocks=*/1);
  if (Value gate = op.getRowGate())
    raw = gateRows(b, raw, op.getInput(), gate);
  return {raw};
}

Values llm::lower(LoopBuilder &b, FfnDownOp op, const Lowering &) {
  return {
      product(b, op.getInput(), op.getWeight(), op.getBias(), op.getCounts())};
}
