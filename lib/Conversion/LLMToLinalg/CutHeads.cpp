//===- CutHeads.cpp - Attention with cut head features --------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In two halves, because the scores of a head are partial sums here, which are
// reduced between them. Decode only: row r is the one of prompt r.
//
//===----------------------------------------------------------------------===//

#include "AttentionRows.h"
#include "Lowering.h"
#include "Rope.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

/// The places of the cache that any row sees.
static OpFoldResult visiblePlaces(LoopBuilder &b, Value cache,
                                  const RowPlaces &places) {
  OpFoldResult all = sizeOf(b, cache, 1);
  if (!places.window)
    return all;
  return arith::MinSIOp::create(b, scalar(b, all), places.window).getResult();
}

Values llm::lower(LoopBuilder &b, AttentionScoresOp op,
                  const Lowering &lowering) {
  int64_t heads = op.getHeads(), kv = op.getKvHeads(), size = op.getHeadDim();
  RowPlaces places = {op.getPositions(), /*sequence=*/1,
                      lowering.windowOf(b, op), op.getChunked()};
  Value own = splitLast(b, op.getInput(), {heads + kv, size});
  if (op.getRope())
    own = rotate(b, own,
                 makeRotation(b, op.getPositions(), *op.getRope(),
                              op.getPairOffset(), size / 2));

  Sizes sizes = sizesOf(b, own), offsets(3, b.getIndexAttr(0));
  sizes[1] = b.getIndexAttr(heads);
  Value queries = tempered(b, slice(b, own, offsets, sizes), op.getPositions(),
                           op.getTemperature());
  queries = scaled(b, queries, op.getScale().convertToDouble());
  offsets[1] = b.getIndexAttr(heads);
  sizes[1] = b.getIndexAttr(kv);
  Value cache =
      writeCache(b, op.getCache(), slice(b, own, offsets, sizes), places);

  // What a row does not see stays zero.
  Value scores = zeros(b, {sizes[0], b.getIndexAttr(heads),
                           visiblePlaces(b, op.getCache(), places)});
  scores = visitRows(
      b, places, heads, scores,
      [&](LoopBuilder &b, const Visit &visit, Value scores) {
        Value head = kvHeadOf(b, visit.head, op.getGroup(), Value(), kv);
        Value query = vectorOf(b, queries, visit, b.getIndexAttr(0),
                               b.getIndexAttr(size));
        Value own =
            timesVector(b, visibleOf(b, cache, visit, head, size), query);
        return storeVector(b, own, scores, visit, b.getIndexAttr(0));
      });
  return {scores, cache};
}

/// The first score that a row sees, the `begin`-th place: the first there is,
/// or that of its place where `scores` have one for each place of the cache.
static Value firstScore(LoopBuilder &b, Value scores, Value cache,
                        Value begin) {
  Value all = scalar(b, sizeOf(b, cache, 1));
  Value own = scalar(b, sizeOf(b, scores, 2));
  Value isWhole = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, own, all);
  Value zero = scalar(b, b.getIndexAttr(0));
  return arith::SelectOp::create(b, isWhole, begin, zero);
}

Values llm::lower(LoopBuilder &b, AttentionValuesOp op,
                  const Lowering &lowering) {
  int64_t heads = op.getHeads(), kv = op.getKvHeads(), size = op.getHeadDim();
  RowPlaces places = {op.getPositions(), /*sequence=*/1,
                      lowering.windowOf(b, op), op.getChunked()};
  Value cache = writeCache(b, op.getCache(),
                           splitLast(b, op.getInput(), {kv, size}), places);
  Value result = zeros(b, {sizeOf(b, op.getInput(), 0), b.getIndexAttr(heads),
                           b.getIndexAttr(size)});
  result = visitRows(
      b, places, heads, result,
      [&](LoopBuilder &b, const Visit &visit, Value result) {
        Value head = kvHeadOf(b, visit.head, op.getGroup(), Value(), kv);
        OpFoldResult first = b.getIndexAttr(0);
        if (places.window)
          first = firstScore(b, op.getScores(), op.getCache(), visit.begin);
        Value scores = capped(b,
                              vectorOf(b, op.getScores(), visit, first,
                                       OpFoldResult(visit.count)),
                              op.getSoftCap());
        Value sink = op.getSinks() ? at(b, op.getSinks(), visit.head) : Value();
        Value taken = vectorTimes(b, softmax(b, scores, sink),
                                  visibleOf(b, cache, visit, head, size));
        return storeVector(b, taken, result, visit, b.getIndexAttr(0));
      });
  return {mergeLast(b, result), cache};
}
