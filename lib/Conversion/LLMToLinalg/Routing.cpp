//===- Routing.cpp - Choice of experts ------------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

static Value softmaxRows(LoopBuilder &b, Value x) {
  Sizes rows = {sizeOf(b, x, 0)};
  Value highest =
      nest(b, whole(x), Operand{filled(b, rows, lowest(b)), {0}},
           [](LoopBuilder &b, ValueRange e) {
             return Values{arith::MaximumFOp::create(b, e[0], e[1])};
           })[0];
  Value powers =
      map(b, sizesOf(b, x), b.getF32Type(), {whole(x), {highest, {0}}},
          [](LoopBuilder &b, ValueRange e) {
            return math::ExpOp::create(b, subtract(b, e[0], e[1])).getResult();
          });
  Value totals = nest(b, whole(powers), Operand{zeros(b, rows), {0}},
                      [](LoopBuilder &b, ValueRange e) {
                        return Values{add(b, e[0], e[1])};
                      })[0];
  return map(b, sizesOf(b, x), b.getF32Type(), {whole(powers), {totals, {0}}},
             [](LoopBuilder &b, ValueRange e) {
               return arith::DivFOp::create(b, e[0], e[1]).getResult();
             });
}

Value llm::sigmoid(LoopBuilder &b, Value x) {
  return map(
      b, sizesOf(b, x), b.getF32Type(), whole(x),
      [](LoopBuilder &b, ValueRange e) {
        Value power = math::ExpOp::create(b, arith::NegFOp::create(b, e[0]));
        return arith::DivFOp::create(b, real(b, 1), add(b, real(b, 1), power))
            .getResult();
      });
}

//===----------------------------------------------------------------------===//
// The largest of each row
//===----------------------------------------------------------------------===//

/// Column of the largest entry of a row, the first of equals.
static Value firstLargest(LoopBuilder &b, Value x, Value row) {
  Value width = index(b, staticSize(x, 1));
  return repeatFor(
      b, width, {lowest(b), index(b, 0)},
      [&](LoopBuilder &b, Value column, ValueRange best) {
        Value value = at(b, x, {row, column});
        Value larger =
            arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, value, best[0]);
        return Values{arith::SelectOp::create(b, larger, value, best[0]),
                      arith::SelectOp::create(b, larger, column, best[1])};
      })[1];
}

/// Columns of the k largest entries of each row of x, largest first, the first
/// of equals first: i32 [rows, k]. Each round takes the first largest one and
/// strikes it out.
static Value largest(LoopBuilder &b, Value x, int64_t k) {
  Value rows = scalar(b, sizeOf(b, x, 0));
  Value chosen = empty(b, {rows, b.getIndexAttr(k)}, b.getI32Type());
  return repeatFor(
      b, rows, {x, chosen}, [&](LoopBuilder &b, Value row, ValueRange state) {
        return repeatFor(b, index(b, k), state,
                         [&](LoopBuilder &b, Value round, ValueRange state) {
                           Value best = firstLargest(b, state[0], row);
                           Value left = tensor::InsertOp::create(
                               b, lowest(b), state[0], ValueRange{row, best});
                           Value chosen = tensor::InsertOp::create(
                               b, toInteger(b, best), state[1],
                               ValueRange{row, round});
                           return Values{left, chosen};
                         });
      })[1];
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// [rows, groups]: the sum of each group's `count` largest entries, one or two
/// (the only one, where groups have one).
static Value bestOfGroups(LoopBuilder &b, Value grouped, int64_t count) {
  Sizes sizes = {sizeOf(b, grouped, 0), sizeOf(b, grouped, 1)};
  Value start = filled(b, sizes, lowest(b));
  Values best =
      nest(b, whole(grouped), {{start, {0, 1}}, {start, {0, 1}}},
           [](LoopBuilder &b, ValueRange e) {
             Value smaller = arith::MinimumFOp::create(b, e[0], e[1]);
             return Values{arith::MaximumFOp::create(b, e[0], e[1]),
                           arith::MaximumFOp::create(b, e[2], smaller)};
           });
  if (count == 1 || staticSize(grouped, 2) == 1)
    return best[0];
  return map(b, sizes, b.getF32Type(), {{best[0], {0, 1}}, {best[1], {0, 1}}},
             [](LoopBuilder &b, ValueRange e) { return add(b, e[0], e[1]); });
}

/// `scores` where experts are in one of the best groups of their row, -inf
/// elsewhere.
static Value keepBestGroups(LoopBuilder &b, Value scores, int64_t groups,
                            int64_t topGroups, int64_t best) {
  int64_t width = staticSize(scores, 1) / groups;
  Value grouped = splitLast(b, scores, {groups, width});
  Value kept = largest(b, bestOfGroups(b, grouped, best), topGroups);
  Value masked = filled(b, sizesOf(b, grouped), lowest(b));
  // A loop over the kept groups that writes where it finds them.
  masked = nest(b, {whole(grouped), {kept, {0, 3}}}, whole(masked),
                [](LoopBuilder &b, ValueRange e) {
                  Value group = iteration(b, 1);
                  Value same = arith::CmpIOp::create(
                      b, arith::CmpIPredicate::eq, toIndex(b, e[1]), group);
                  return Values{arith::SelectOp::create(b, same, e[0], e[2])};
                })[0];
  return mergeLast(b, masked);
}

//===----------------------------------------------------------------------===//
// Router and top-k
//===----------------------------------------------------------------------===//

/// Choice j of row r is expert (r * k + j) mod E.
static Value inTurn(LoopBuilder &b, Value scores, int64_t k) {
  Value experts = index(b, staticSize(scores, 1));
  Sizes sizes = {sizeOf(b, scores, 0), b.getIndexAttr(k)};
  return map(b, sizes, b.getI32Type(), {}, [&](LoopBuilder &b, ValueRange) {
    Value copy = multiply(b, iteration(b, 0), index(b, k));
    copy = add(b, copy, iteration(b, 1));
    return toInteger(b, rest(b, copy, experts));
  });
}

/// Which experts to choose; `scores` are uncorrected.
template <typename Op>
static Value chooseExperts(LoopBuilder &b, Op op, Value scores,
                           Routing routing) {
  if (routing == Routing::Balanced)
    return inTurn(b, scores, op.getTopK());
  if (Value correction = op.getCorrection())
    scores =
        map(b, sizesOf(b, scores), b.getF32Type(),
            {whole(scores), {correction, {1}}},
            [](LoopBuilder &b, ValueRange e) { return add(b, e[0], e[1]); });
  if (op.getGroups() > 1)
    scores = keepBestGroups(b, scores, op.getGroups(), op.getTopGroups(),
                            op.getGroupBest());
  return largest(b, scores, op.getTopK());
}

/// [rows, k]: the scores of the chosen, as weights.
static Value weigh(LoopBuilder &b, Value scores, Value chosen, bool normalize,
                   double factor) {
  Sizes sizes = sizesOf(b, chosen);
  Value weights =
      map(b, sizes, b.getF32Type(), whole(chosen),
          [&](LoopBuilder &b, ValueRange e) {
            return at(b, scores, {iteration(b, 0), toIndex(b, e[0])});
          });
  SmallVector<Operand> inputs = {whole(weights)};
  if (normalize) {
    Value totals = nest(b, whole(weights), Operand{zeros(b, sizes[0]), {0}},
                        [](LoopBuilder &b, ValueRange e) {
                          return Values{add(b, e[0], e[1])};
                        })[0];
    inputs.push_back({totals, {0}});
  }
  return map(b, sizes, b.getF32Type(), inputs,
             [&](LoopBuilder &b, ValueRange e) {
               Value weight = e[0];
               if (normalize)
                 weight = arith::DivFOp::create(b, weight, e[1]);
               return multiply(b, weight, real(b, factor));
             });
}

/// Indices and weights from logits that are complete.
template <typename Op>
static Values route(LoopBuilder &b, Op op, Value logits, Routing routing) {
  Value scores = op.getScoring() == Scoring::Softmax ? softmaxRows(b, logits)
                                                     : sigmoid(b, logits);
  Value chosen = chooseExperts(b, op, scores, routing);
  return {chosen, weigh(b, scores, chosen, op.getNormalize(),
                        op.getScale().convertToDouble())};
}

/// Row r of x times weights[r, 0].
static Value scaleRows(LoopBuilder &b, Value x, Value weights) {
  enum { row, column };
  return map(b, sizesOf(b, x), b.getF32Type(), whole(x),
             [&](LoopBuilder &b, ValueRange e) {
               Value weight = at(b, weights, {iteration(b, row), index(b, 0)});
               return multiply(b, e[0], weight);
             });
}

Values llm::lower(LoopBuilder &b, RouterOp op, const Lowering &lowering) {
  Value logits = project(b, op.getInput(), op.getWeight(), op.getBias());
  Values choice = route(b, op, logits, lowering.routing);
  if (!op.getScaleTokens())
    return {op.getInput(), choice[0], choice[1]};
  return {scaleRows(b, op.getInput(), choice[1]), choice[0],
          filled(b, sizesOf(b, choice[1]), real(b, 1))};
}

Values llm::lower(LoopBuilder &b, ScaleRowsOp op, const Lowering &) {
  return {scaleRows(b, op.getInput(), op.getWeights())};
}

Values llm::lower(LoopBuilder &b, TopKOp op, const Lowering &lowering) {
  Value logits = columns(b, op.getLogits(), 0, op.getExperts());
  return route(b, op, logits, lowering.routing);
}
