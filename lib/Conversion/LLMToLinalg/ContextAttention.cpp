//===- ContextAttention.cpp - Attention over shared positions -------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionRows.h"
#include "Latents.h"
#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

//===----------------------------------------------------------------------===//
// A device's positions
//===----------------------------------------------------------------------===//

/// The logit of a head that has no value, -inf where another device counts it.
static Value sinkOf(LoopBuilder &b, PartialAttentionOp op, const Visit &visit) {
  if (!op.getSinks())
    return {};
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                        op.getOffset(), index(b, 0));
  return arith::SelectOp::create(b, isFirst, at(b, op.getSinks(), visit.head),
                                 lowest(b));
}

/// Attention of all rows and heads: `keysOf` and `valuesOf` are what a row's
/// head sees of the caches. Results, `width` features a head, and their sums.
static Values
attend(LoopBuilder &b, PartialAttentionOp op, const RowPlaces &places,
       Value queries, int64_t width,
       function_ref<std::pair<Value, Value>(LoopBuilder &, const Visit &)>
           keysAndValues) {
  int64_t heads = op.getHeads();
  OpFoldResult first = b.getIndexAttr(0), rows = sizeOf(b, queries, 0);
  Value result = zeros(b, {rows, b.getIndexAttr(heads), b.getIndexAttr(width)});
  Value sums = filled(b, {rows, b.getIndexAttr(heads)}, lowest(b));
  return visitRows(
      b, places, heads, {result, sums},
      [&](LoopBuilder &b, const Visit &visit, ValueRange state) {
        Value query = vectorOf(b, queries, visit, first, sizeOf(b, queries, 2));
        auto [keys, values] = keysAndValues(b, visit);
        Value scores = capped(b, timesVector(b, keys, query), op.getSoftCap());
        Softmax weights = softmaxWithSum(b, scores, sinkOf(b, op, visit));
        Value taken = vectorTimes(b, weights.weights, values);
        return Values{storeVector(b, taken, state[0], visit, first),
                      tensor::InsertOp::create(b, weights.sum, state[1],
                                               {visit.row, visit.head})};
      });
}

static Values attendToHeads(LoopBuilder &b, PartialAttentionOp op,
                            const RowPlaces &places) {
  int64_t kv = op.getKvHeads(), size = op.getHeadDim();
  AttentionHeads own = makeHeads(b, op);
  Value queries = scaled(b, own.queries, op.getScale().convertToDouble());
  Value keys = writeCache(b, op.getCaches()[0], own.keys, places);
  Value values = writeCache(b, op.getCaches()[1], own.values, places);
  Values made = attend(
      b, op, places, queries, size, [&](LoopBuilder &b, const Visit &visit) {
        Value head =
            kvHeadOf(b, visit.head, op.getGroup(), op.getHeadOffset(), kv);
        return std::pair(visibleOf(b, keys, visit, head, size),
                         visibleOf(b, values, visit, head, size));
      });
  return {mergeLast(b, made[0]), made[1], keys, values};
}

static Values attendToLatents(LoopBuilder &b, PartialAttentionOp op,
                              const RowPlaces &places) {
  int64_t heads = op.getHeads(), rank = op.getRank();
  int64_t features = rank + int64_t(op.getRopeDim());
  Value queries = scaled(b, splitLast(b, op.getInput(), {heads, features}),
                         op.getScale().convertToDouble());
  Value cache = writeCache(b, op.getCaches()[0], latentRows(b, op), places);
  Values made = attend(
      b, op, places, queries, rank, [&](LoopBuilder &b, const Visit &visit) {
        Value keys = visibleOf(b, cache, visit, /*kvHead=*/Value(), features);
        return std::pair(keys, columns(b, keys, 0, rank));
      });
  return {mergeLast(b, made[0]), made[1], cache};
}

Values llm::lower(LoopBuilder &b, PartialAttentionOp op,
                  const Lowering &lowering) {
  RowPlaces places = {op.getPositions(),        /*sequence=*/1,
                      lowering.windowOf(b, op), op.getChunked(),
                      int64_t(op.getStride()),  op.getOffset()};
  return op.getLatent() ? attendToLatents(b, op, places)
                        : attendToHeads(b, op, places);
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

Values llm::lower(LoopBuilder &b, AttentionMergeOp op, const Lowering &) {
  enum { row, head, feature, part };
  int64_t parts = op.getParts();
  int64_t heads = staticSize(op.getSums(), 1) / parts;
  int64_t width = staticSize(op.getValues(), 1) / (parts * heads);
  Value sums = splitLast(b, op.getSums(), {parts, heads});
  Value values = splitLast(b, op.getValues(), {parts, heads, width});
  OpFoldResult rows = sizeOf(b, sums, 0);
  Sizes perHead = {rows, b.getIndexAttr(heads)};
  Type f32 = b.getF32Type();

  // Relative to the largest, 0 where there is none.
  Value highest =
      nest(b, Operand{sums, {0, 2, 1}},
           Operand{filled(b, perHead, lowest(b)), {0, 1}},
           [](LoopBuilder &b, ValueRange e) {
             return Values{arith::MaximumFOp::create(b, e[0], e[1])};
           })[0];
  Value weights =
      map(b, {rows, b.getIndexAttr(parts), b.getIndexAttr(heads)}, f32,
          {Operand{sums, {0, 1, 2}}, Operand{highest, {0, 2}}},
          [&](LoopBuilder &b, ValueRange e) -> Value {
            Value isThere = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT,
                                                  e[0], lowest(b));
            Value power = math::ExpOp::create(
                b, arith::SubFOp::create(b, e[0], e[1]).getResult());
            return arith::SelectOp::create(b, isThere, power, real(b, 0));
          });
  Value totals =
      nest(b, Operand{weights, {0, 2, 1}}, Operand{zeros(b, perHead), {0, 1}},
           [](LoopBuilder &b, ValueRange e) {
             return Values{add(b, e[0], e[1])};
           })[0];
  Value taken = nest(
      b, {{values, {row, part, head, feature}}, {weights, {row, part, head}}},
      Operand{zeros(b, {rows, b.getIndexAttr(heads), b.getIndexAttr(width)}),
              {row, head, feature}},
      [](LoopBuilder &b, ValueRange e) {
        return Values{add(b, e[2], multiply(b, e[0], e[1]))};
      })[0];
  Value result = map(b, sizesOf(b, taken), f32,
                     {Operand{taken, {0, 1, 2}}, Operand{totals, {0, 1}}},
                     [&](LoopBuilder &b, ValueRange e) -> Value {
                       Value isThere = arith::CmpFOp::create(
                           b, arith::CmpFPredicate::OGT, e[1], real(b, 0));
                       Value divisor = arith::SelectOp::create(b, isThere, e[1],
                                                               real(b, 1));
                       return arith::DivFOp::create(b, e[0], divisor);
                     });
  return {mergeLast(b, result)};
}

//===----------------------------------------------------------------------===//
// Latents
//===----------------------------------------------------------------------===//

Values llm::lower(LoopBuilder &b, LatentQueriesOp op, const Lowering &) {
  int64_t heads = op.getHeads(), nope = op.getNopeDim();
  int64_t rotary = op.getRopeDim();
  Value up =
      splitLast(b, op.getKvUp(), {heads, staticSize(op.getKvUp(), 1) / heads});
  Value input = splitLast(b, op.getInput(), {heads, nope + rotary});
  return {mergeLast(b, latentQueries(b, op, input, up, nope, rotary))};
}

Values llm::lower(LoopBuilder &b, LatentValuesOp op, const Lowering &) {
  int64_t heads = op.getHeads(), nope = op.getNopeDim();
  int64_t width = staticSize(op.getKvUp(), 1) / heads;
  Value up = splitLast(b, op.getKvUp(), {heads, width});
  Value input = splitLast(b, op.getInput(),
                          {heads, staticSize(op.getInput(), 1) / heads});
  return {
      mergeLast(b, headProducts(b, input, columns(b, up, nope, width - nope),
                                /*transposed=*/false))};
}

//===----------------------------------------------------------------------===//
// Caches
//===----------------------------------------------------------------------===//

Values llm::lower(LoopBuilder &b, WritePositionsOp op, const Lowering &) {
  RowPlaces places = {op.getPositions(),       int64_t(op.getSequence()),
                      /*window=*/Value(),      /*chunked=*/false,
                      int64_t(op.getStride()), op.getOffset()};
  return {writePositions(
      b, op.getCache(), places,
      [&](LoopBuilder &b, Value, const Sizes &offsets, const Sizes &sizes) {
        return slice(b, op.getValues(), offsets, sizes);
      })};
}

Values llm::lower(LoopBuilder &b, SelectBlocksOp op, const Lowering &) {
  Value input = op.getInput();
  int64_t last = rankOf(input) - 1, wanted = staticSize(op.getResult(), last);
  int64_t width = wanted / staticSize(op.getPlaces(), 0);
  Sizes sizes = sizesOf(b, input);
  sizes.back() = b.getIndexAttr(wanted);
  auto element = [&](LoopBuilder &b, ValueRange) -> Value {
    Value column = iteration(b, last), each = index(b, width);
    Value place = at(b, op.getPlaces(), quotient(b, column, each));
    Value inside =
        arith::CmpIOp::create(b, arith::CmpIPredicate::sge, place, index(b, 0));
    place = arith::MaxSIOp::create(b, place, index(b, 0));
    Values from;
    for (int64_t dim = 0; dim < last; ++dim)
      from.push_back(iteration(b, dim));
    from.push_back(add(b, multiply(b, place, each), rest(b, column, each)));
    return arith::SelectOp::create(b, inside, at(b, input, from), real(b, 0));
  };
  return {map(b, sizes, b.getF32Type(), ArrayRef<Operand>(), element)};
}
