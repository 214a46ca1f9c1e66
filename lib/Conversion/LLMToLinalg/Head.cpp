//===- Head.cpp - Greedy choice of tokens ---------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <limits>

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

/// For every row the largest value and its column plus `offset`, i32; the first
/// of equals, `offset` where there is none. Columns that reach `vocabulary` by
/// their offset do not count.
static Values largestColumn(LoopBuilder &b, Value logits, Value offset,
                            int64_t vocabulary) {
  Sizes rows = {sizeOf(b, logits, 0)};
  Value values = filled(b, rows, lowest(b));
  Value columns = filled(b, rows, toInteger(b, offset));
  return nest(
      b, whole(logits), {whole(values), whole(columns)},
      [&](LoopBuilder &b, ValueRange e) {
        Value column = add(b, iteration(b, 1), offset);
        Value larger =
            arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, e[0], e[1]);
        Value real = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, column,
                                           index(b, vocabulary));
        Value better = arith::AndIOp::create(b, larger, real);
        return Values{
            arith::SelectOp::create(b, better, e[0], e[1]),
            arith::SelectOp::create(b, better, toInteger(b, column), e[2])};
      });
}

/// The last row of each prompt of `sequence` rows.
static Value lastRows(LoopBuilder &b, Value input, int64_t sequence) {
  if (sequence == 1)
    return input;
  Value rows = scalar(b, sizeOf(b, input, 0));
  OpFoldResult one = b.getIndexAttr(1), zero = b.getIndexAttr(0);
  OpFoldResult prompts = quotient(b, rows, index(b, sequence));
  return slice(b, input, {b.getIndexAttr(sequence - 1), zero},
               {prompts, sizeOf(b, input, 1)}, /*rank=*/-1,
               {b.getIndexAttr(sequence), one});
}

Values llm::lower(LoopBuilder &b, LmHeadOp op, const Lowering &) {
  Value last = lastRows(b, op.getInput(), op.getSequence());
  double epsilon = op.getEpsilon().convertToDouble();
  Value normed = op.subtractsMean() ? layerNorm(b, last, op.getNorm(),
                                                op.getNormBias(), epsilon)
                                    : rmsNorm(b, last, op.getNorm(), epsilon);
  Value logits = project(b, normed, op.getWeight(), op.getBias(),
                         /*transposed=*/op.getTied());
  Values results = {
      largestColumn(b, logits, index(b, 0), staticSize(logits, 1))[1]};
  if (!op.getLogits())
    return results;
  if (ActivationAttr activation = op.logitActivation())
    logits = activate(b, logits, activation, /*blocks=*/1);
  results.push_back(logits);
  return results;
}

Values llm::lower(LoopBuilder &b, ArgmaxOp op, const Lowering &) {
  Value logits = op.getLogits();
  Values best = largestColumn(b, logits, op.getOffset(), op.getVocabulary());
  Sizes sizes = {sizeOf(b, logits, 0), b.getIndexAttr(2)};
  return {
      map(b, sizes, b.getI32Type(), {{best[0], {0}}, {best[1], {0}}},
          [](LoopBuilder &b, ValueRange e) {
            Value bits = arith::BitcastOp::create(b, b.getI32Type(), e[0]);
            Value first = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                                iteration(b, 1), index(b, 0));
            return arith::SelectOp::create(b, first, bits, e[1]).getResult();
          })};
}

Values llm::lower(LoopBuilder &b, ArgmaxMergeOp op, const Lowering &) {
  Value candidates = op.getCandidates();
  Sizes rows = {sizeOf(b, candidates, 0)};
  int64_t pairs = staticSize(candidates, 1) / 2;
  Value bits = columns(b, candidates, 0, pairs, /*stride=*/2);
  Value indices = columns(b, candidates, 1, pairs, /*stride=*/2);
  Value values = filled(b, rows, lowest(b));
  Value best = filled(b, rows, integer(b, std::numeric_limits<int32_t>::max()));
  return {nest(
      b, {whole(bits), whole(indices)}, {whole(values), whole(best)},
      [](LoopBuilder &b, ValueRange e) {
        Value value = arith::BitcastOp::create(b, b.getF32Type(), e[0]);
        auto compare = [&](arith::CmpFPredicate predicate) -> Value {
          return arith::CmpFOp::create(b, predicate, value, e[2]);
        };
        Value lower =
            arith::CmpIOp::create(b, arith::CmpIPredicate::slt, e[1], e[3]);
        Value tie =
            arith::AndIOp::create(b, compare(arith::CmpFPredicate::OEQ), lower);
        Value better =
            arith::OrIOp::create(b, compare(arith::CmpFPredicate::OGT), tie);
        return Values{arith::SelectOp::create(b, better, value, e[2]),
                      arith::SelectOp::create(b, better, e[1], e[3])};
      })[1]};
}
