//===- MlaAttention.cpp - Multi-head latent attention ---------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The keys and values of all heads are GEMMs of one cached latent and the
// halves of kv_up. Neither is made: q . (latent * U) = (q * U^T) . latent, so
// the queries are brought to the latent's space, all heads read the latent
// itself, and what they take of it goes through the values' half afterwards
// (DeepSeek-V2, arXiv 2405.04434, section 2.1).
//
//===----------------------------------------------------------------------===//

#include "Latents.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

Value llm::headProducts(LoopBuilder &b, Value x, Value up, bool transposed) {
  enum { row, head, out, in };
  Operand weight = {up, {in, head, out}};
  if (transposed)
    weight.loops = {out, head, in};
  Sizes sizes = {sizeOf(b, x, 0), sizeOf(b, x, 1),
                 sizeOf(b, up, transposed ? 0 : 2)};
  return nest(b, {{x, {row, head, in}}, weight},
              Operand{zeros(b, sizes), {row, head, out}},
              [](LoopBuilder &b, ValueRange e) {
                return Values{add(b, e[2], multiply(b, e[0], e[1]))};
              })[0];
}

template <typename Op>
static Value rowsOfLatents(LoopBuilder &b, Op op, Value latent, int64_t rank,
                           int64_t rotary) {
  Value normed = rmsNorm(b, columns(b, latent, 0, rank), op.getKvNorm(),
                         op.getKvNormEpsilon()->convertToDouble());
  Value shared = columns(b, latent, rank, rotary);
  shared = mergeLast(b, turn(b, splitLast(b, shared, {1, rotary}), op));
  return beside(b, {normed, shared});
}

Value llm::latentRows(LoopBuilder &b, AttentionOp op) {
  Value rows =
      rowsOfLatents(b, op, op.getLatent(), *op.getRank(), *op.getRopeDim());
  return op.getIndexer() ? beside(b, {rows, indexKeys(b, op)}) : rows;
}

Value llm::latentRows(LoopBuilder &b, PartialAttentionOp op) {
  return rowsOfLatents(b, op, op.getLatent(), op.getRank(), op.getRopeDim());
}

Value llm::latentRows(LoopBuilder &b, WriteCacheOp op) {
  return rowsOfLatents(b, op, op.getInput(), *op.getRank(), *op.getRopeDim());
}

Values llm::lowerMla(LoopBuilder &b, AttentionOp op, Value window) {
  int64_t heads = op.getHeads(), rank = *op.getRank();
  int64_t nope = *op.getNopeDim(), rotary = *op.getRopeDim();
  int64_t value = *op.getValueDim(), features = rank + rotary;
  RowPlaces places = {op.getPositions(), int64_t(op.getSequence()), window,
                      op.getChunked()};

  Value up = splitLast(b, op.getKvUp(), {heads, nope + value});
  Value input = splitLast(b, op.getInput(), {heads, nope + rotary});
  Value queries = latentQueries(b, op, input, up, nope, rotary);
  queries = scaled(b, queries, op.getScale().convertToDouble());
  Value cache = writeCache(b, op.getCaches()[0], latentRows(b, op), places);

  Value chosen;
  if (op.getIndexer())
    chosen = chosenPositions(b, op, cache, places);

  OpFoldResult first = b.getIndexAttr(0);
  Value latents = zeros(
      b, {sizeOf(b, input, 0), b.getIndexAttr(heads), b.getIndexAttr(rank)});
  latents = visitRows(
      b, places, heads, latents,
      [&](LoopBuilder &b, const Visit &visit, Value latents) {
        Value query =
            vectorOf(b, queries, visit, first, b.getIndexAttr(features));
        Value keys = visibleOf(b, cache, visit, /*kvHead=*/Value(), features);
        Value sink = op.getSinks() ? at(b, op.getSinks(), visit.head) : Value();
        Value scores = capped(b, timesVector(b, keys, query), op.getSoftCap());
        if (chosen)
          scores = onlyChosen(b, scores, chosen, visit);
        Value weights = softmax(b, scores, sink);
        Value taken = vectorTimes(b, weights, columns(b, keys, 0, rank));
        return storeVector(b, taken, latents, visit, first);
      });
  Value result = headProducts(b, latents, columns(b, up, nope, value),
                              /*transposed=*/false);
  return {mergeLast(b, result), cache};
}
