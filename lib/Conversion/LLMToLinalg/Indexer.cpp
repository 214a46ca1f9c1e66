//===- Indexer.cpp - Which positions a row of latent attention reads ------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sparse attention of DeepSeek-V3.2 (arXiv 2512.02556, section 2.1): position s
// counts for row t with the sum over heads h of gate[t, h] * relu(q[t, h] .
// k[s]), and the `top_k` that count most are read. Factors that all scores
// share leave their order as it is, so that none are made.
//
//===----------------------------------------------------------------------===//

#include "Latents.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

/// x [rows, heads, dim], whose first features are turned as attention
/// turns its own, in the indexer's style.
static Value turnIndexed(LoopBuilder &b, Value x, AttentionOp op) {
  std::optional<RopeAttr> rope = op.getRope();
  if (!rope)
    return x;
  Rotation rotation = makeRotation(b, op.getPositions(), *rope);
  rotation.style = op.getIndexer()->getStyle();
  return rotate(b, x, rotation);
}

Value llm::indexKeys(LoopBuilder &b, AttentionOp op) {
  IndexerAttr indexer = *op.getIndexer();
  int64_t dim = indexer.getDim();
  Value keys =
      columns(b, op.getLatent(), *op.getRank() + *op.getRopeDim(), dim);
  keys = layerNorm(b, keys, op.getIndexNorm(), op.getIndexNormBias(),
                   indexer.getEpsilon().convertToDouble());
  return mergeLast(b, turnIndexed(b, splitLast(b, keys, {1, dim}), op));
}

/// [count]: how much each position counts that the row sees.
static Value scoresOf(LoopBuilder &b, Value queries, Value keys, Value gates) {
  enum { position, head, feature };
  Sizes sizes = {sizeOf(b, keys, 0), sizeOf(b, queries, 0)};
  Value products =
      nest(b, {{keys, {position, feature}}, {queries, {head, feature}}},
           Operand{zeros(b, sizes), {position, head}},
           [](LoopBuilder &b, ValueRange e) {
             return Values{add(b, e[2], multiply(b, e[0], e[1]))};
           })[0];
  return nest(b, {{products, {position, head}}, {gates, {head}}},
              Operand{zeros(b, sizes[0]), {position}},
              [](LoopBuilder &b, ValueRange e) {
                Value positive = arith::MaximumFOp::create(b, e[0], real(b, 0));
                return Values{add(b, e[2], multiply(b, positive, e[1]))};
              })[0];
}

/// 0 for the `count` largest of a vector, the first of equals, and -inf for the
/// others: those before which as many come.
static Value keepLargest(LoopBuilder &b, Value scores, int64_t count) {
  enum { own, other };
  Value before = nest(
      b, {{scores, {own}}, {scores, {other}}},
      Operand{zeros(b, sizeOf(b, scores, 0)), {own}},
      [](LoopBuilder &b, ValueRange e) {
        auto compare = [&](arith::CmpFPredicate predicate) -> Value {
          return arith::CmpFOp::create(b, predicate, e[1], e[0]);
        };
        Value isFirst =
            arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                                  iteration(b, other), iteration(b, own));
        Value tie = arith::AndIOp::create(b, compare(arith::CmpFPredicate::OEQ),
                                          isFirst);
        Value comes =
            arith::OrIOp::create(b, compare(arith::CmpFPredicate::OGT), tie);
        Value one = arith::SelectOp::create(b, comes, real(b, 1), real(b, 0));
        return Values{add(b, e[2], one)};
      })[0];
  return map(b, sizesOf(b, before), b.getF32Type(), whole(before),
             [&](LoopBuilder &b, ValueRange e) {
               Value isKept = arith::CmpFOp::create(
                   b, arith::CmpFPredicate::OLT, e[0], real(b, double(count)));
               return arith::SelectOp::create(b, isKept, real(b, 0), lowest(b))
                   .getResult();
             });
}

Value llm::chosenPositions(LoopBuilder &b, AttentionOp op, Value cache,
                           const RowPlaces &places) {
  IndexerAttr indexer = *op.getIndexer();
  int64_t heads = indexer.getHeads(), dim = indexer.getDim();
  int64_t first = *op.getRank() + *op.getRopeDim();
  Value queries =
      turnIndexed(b, splitLast(b, op.getIndexQueries(), {heads, dim}), op);
  Value gates = columns(b, op.getLatent(), first + dim, heads);
  Value chosen =
      filled(b, {sizeOf(b, queries, 0), sizeOf(b, cache, 1)}, lowest(b));
  return visitRows(b, places, /*heads=*/1, chosen,
                   [&](LoopBuilder &b, const Visit &visit, Value chosen) {
                     Value keys = visibleOf(b, cache, visit, /*kvHead=*/Value(),
                                            dim, first);
                     Value scores = scoresOf(b, part(b, queries, visit.row),
                                             keys, part(b, gates, visit.row));
                     return insert(b, keepLargest(b, scores, indexer.getTopK()),
                                   chosen, {visit.row, visit.begin},
                                   {b.getIndexAttr(1), visit.count});
                   });
}

Value llm::onlyChosen(LoopBuilder &b, Value scores, Value chosen,
                      const Visit &visit) {
  Value own = slice(b, chosen, {visit.row, visit.begin},
                    {b.getIndexAttr(1), visit.count}, /*rank=*/1);
  return map(b, sizesOf(b, scores), b.getF32Type(), {whole(scores), whole(own)},
             [](LoopBuilder &b, ValueRange e) { return add(b, e[0], e[1]); });
}
