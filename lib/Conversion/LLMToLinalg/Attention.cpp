//===- Attention.cpp - Grouped-query attention ----------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionRows.h"
#include "Latents.h"
#include "Lowering.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

static Value heads(LoopBuilder &b, Value input, int64_t first, int64_t count,
                   int64_t size) {
  return splitLast(b, columns(b, input, first * size, count * size),
                   {count, size});
}

/// What stands behind the queries of each head where there are gates.
static Value gatesOf(LoopBuilder &b, AttentionOp op) {
  int64_t count = op.getHeads(), size = *op.getHeadDim();
  return columns(b, heads(b, op.getInput(), 0, count, 2 * size), size, size);
}

/// x * sigmoid(gates).
static Value gated(LoopBuilder &b, Value x, Value gates) {
  return map(
      b, sizesOf(b, x), b.getF32Type(), {whole(x), whole(sigmoid(b, gates))},
      [](LoopBuilder &b, ValueRange e) { return multiply(b, e[0], e[1]); });
}

/// How queries and keys are normed; a device that shares positions norms them
/// apart where they are not normed head by head with one weight.
static std::optional<HeadNorm> normOf(AttentionOp op) { return op.getQkNorm(); }
static std::optional<HeadNorm> normOf(PartialAttentionOp) { return {}; }

/// Heads [rows, heads, size], normed.
static Value normHeads(LoopBuilder &b, Value heads, Value weight,
                       std::optional<HeadNorm> norm, double epsilon) {
  if (!norm)
    return rmsNorm(b, heads, weight, epsilon);
  int64_t count = staticSize(heads, 1), size = staticSize(heads, 2);
  if (*norm == HeadNorm::AllHeads)
    return splitLast(b, rmsNorm(b, mergeLast(b, heads), weight, epsilon),
                     {count, size});
  return layerNorm(b, heads, splitLast(b, weight, {count, size}),
                   /*bias=*/Value(), epsilon);
}

template <typename Op>
static AttentionHeads headsOf(LoopBuilder &b, Op op, int64_t kv, int64_t size,
                              bool isGated = false) {
  Value input = op.getInput();
  int64_t count = op.getHeads(), before = isGated ? 2 * count : count;
  AttentionHeads made = {heads(b, input, 0, count, before / count * size),
                         heads(b, input, before, kv, size),
                         heads(b, input, before + kv, kv, size)};
  if (isGated)
    made.queries = columns(b, made.queries, 0, size);
  if (op.getEpsilon()) {
    double epsilon = op.getEpsilon()->convertToDouble();
    std::optional<HeadNorm> norm = normOf(op);
    made.queries = normHeads(b, made.queries, op.getQNorm(), norm, epsilon);
    made.keys = normHeads(b, made.keys, op.getKNorm(), norm, epsilon);
  }
  if (op.getRope()) {
    Rotation rotation = makeRotation(b, op.getPositions(), *op.getRope());
    made.queries = rotate(b, made.queries, rotation);
    made.keys = rotate(b, made.keys, rotation);
  }
  made.queries =
      tempered(b, made.queries, op.getPositions(), op.getTemperature());
  return made;
}

AttentionHeads llm::makeHeads(LoopBuilder &b, AttentionOp op) {
  return headsOf(b, op, *op.getKvHeads(), *op.getHeadDim(), op.getGated());
}

AttentionHeads llm::makeHeads(LoopBuilder &b, PartialAttentionOp op) {
  return headsOf(b, op, op.getKvHeads(), op.getHeadDim());
}

Values llm::lower(LoopBuilder &b, WriteCacheOp op, const Lowering &) {
  RowPlaces places = {op.getPositions(), int64_t(op.getSequence()),
                      /*window=*/Value()};
  if (op.getRank())
    return {writeCache(b, op.getCaches()[0], latentRows(b, op), places)};
  int64_t kv = op.getKvHeads(), size = op.getHeadDim();
  Value keys = heads(b, op.getInput(), 0, kv, size);
  if (op.getEpsilon())
    keys = normHeads(b, keys, op.getKNorm(), op.getQkNorm(),
                     op.getEpsilon()->convertToDouble());
  keys = turn(b, keys, op);
  return {writeCache(b, op.getCaches()[0], keys, places),
          writeCache(b, op.getCaches()[1],
                     heads(b, op.getInput(), kv, kv, size), places)};
}

static Values lowerGqa(LoopBuilder &b, AttentionOp op, Value window) {
  int64_t count = op.getHeads(), kv = *op.getKvHeads(), size = *op.getHeadDim();
  RowPlaces places = {op.getPositions(), int64_t(op.getSequence()), window,
                      op.getChunked()};
  AttentionHeads own = makeHeads(b, op);
  Value queries = scaled(b, own.queries, op.getScale().convertToDouble());
  Value keys = writeCache(b, op.getCaches()[0], own.keys, places);
  Value values = writeCache(b, op.getCaches()[1], own.values, places);

  Value result = zeros(b, sizesOf(b, queries));
  result = visitRows(
      b, places, count, result,
      [&](LoopBuilder &b, const Visit &visit, Value result) {
        Value head =
            kvHeadOf(b, visit.head, op.getGroup(), op.getHeadOffset(), kv);
        Value query = vectorOf(b, queries, visit, b.getIndexAttr(0),
                               b.getIndexAttr(size));
        Value scores = capped(
            b, timesVector(b, visibleOf(b, keys, visit, head, size), query),
            op.getSoftCap());
        Value sink = op.getSinks() ? at(b, op.getSinks(), visit.head) : Value();
        Value taken = vectorTimes(b, softmax(b, scores, sink),
                                  visibleOf(b, values, visit, head, size));
        return storeVector(b, taken, result, visit, b.getIndexAttr(0));
      });
  if (op.getGated())
    result = gated(b, result, gatesOf(b, op));
  return {mergeLast(b, result), keys, values};
}

Values llm::lower(LoopBuilder &b, AttentionOp op, const Lowering &lowering) {
  Value window = lowering.windowOf(b, op);
  return op.getKind() == AttentionKind::Gqa ? lowerGqa(b, op, window)
                                            : lowerMla(b, op, window);
}
