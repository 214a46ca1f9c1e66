//===- AttentionRows.cpp - Attention, a row and head at a time ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

//===----------------------------------------------------------------------===//
// Caches
//===----------------------------------------------------------------------===//

Value llm::writeCache(LoopBuilder &b, Value cache, Value rows,
                      const RowPlaces &places) {
  return writePositions(b, cache, places,
                        [&](LoopBuilder &b, Value row, const Sizes &,
                            const Sizes &) { return part(b, rows, row); });
}

Value llm::writePositions(
    LoopBuilder &b, Value cache, const RowPlaces &places,
    function_ref<Value(LoopBuilder &, Value, const Sizes &, const Sizes &)>
        next) {
  Value count = scalar(b, sizeOf(b, places.positions, 0));
  return repeatFor(
      b, count, cache, [&](LoopBuilder &b, Value row, Value cache) {
        Value position = at(b, places.positions, row);
        Value real = arith::CmpIOp::create(b, arith::CmpIPredicate::sge,
                                           position, index(b, 0));
        if (places.first) {
          Value owner = rest(b, position, index(b, places.stride));
          Value own = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, owner,
                                            places.first);
          real = arith::AndIOp::create(b, real, own);
        }
        auto written = scf::IfOp::create(
            b, real,
            [&](OpBuilder &nested, Location loc) {
              LoopBuilder b(loc, nested);
              Sizes offsets(rankOf(cache), b.getIndexAttr(0));
              offsets[0] = quotient(b, row, index(b, places.sequence));
              offsets[1] = places.first
                               ? quotient(b, position, index(b, places.stride))
                               : position;
              Sizes sizes = sizesOf(b, cache);
              sizes[0] = sizes[1] = b.getIndexAttr(1);
              Value written = insert(b, next(b, row, offsets, sizes), cache,
                                     offsets, sizes);
              scf::YieldOp::create(b, written);
            },
            [&](OpBuilder &nested, Location loc) {
              LoopBuilder b(loc, nested);
              scf::YieldOp::create(b, cache);
            });
        return written.getResult(0);
      });
}

Value llm::visibleOf(LoopBuilder &b, Value cache, const Visit &visit,
                     Value kvHead, int64_t features, int64_t first) {
  OpFoldResult one = b.getIndexAttr(1);
  Sizes offsets = {visit.prompt, visit.begin}, sizes = {one, visit.count};
  if (kvHead) {
    offsets.push_back(kvHead);
    sizes.push_back(one);
  }
  offsets.push_back(b.getIndexAttr(first));
  sizes.push_back(b.getIndexAttr(features));
  return slice(b, cache, offsets, sizes, /*rank=*/2);
}

Value llm::kvHeadOf(LoopBuilder &b, Value head, int64_t group, Value offset,
                    int64_t kvHeads) {
  Value each = index(b, group);
  Value first = index(b, 0);
  if (offset) {
    first = quotient(b, offset, each);
    head = add(b, head, offset);
  }
  Value own = subtract(b, quotient(b, head, each), first);
  return arith::MinSIOp::create(b, own, index(b, kvHeads - 1));
}

//===----------------------------------------------------------------------===//
// Rows and heads
//===----------------------------------------------------------------------===//

/// How many of the positions below `end` the cache holds.
static Value placesBelow(LoopBuilder &b, const RowPlaces &places, Value end) {
  if (!places.first)
    return end;
  Value above =
      subtract(b, add(b, end, index(b, places.stride - 1)), places.first);
  return quotient(b, arith::MaxSIOp::create(b, above, index(b, 0)),
                  index(b, places.stride));
}

/// Which positions a row sees.
static Visit visit(LoopBuilder &b, const RowPlaces &places, Value row) {
  Value position = at(b, places.positions, row);
  Value zero = index(b, 0);
  // Of padding, whose position is negative, nothing is left.
  Value end = arith::MaxSIOp::create(b, add(b, position, index(b, 1)), zero);
  Value begin = zero;
  if (places.window && places.chunked) {
    Value last = arith::MaxSIOp::create(b, position, zero);
    begin = subtract(b, last, rest(b, last, places.window));
    // Nothing of padding.
    begin = arith::MinSIOp::create(b, begin, end);
  } else if (places.window) {
    begin = arith::MaxSIOp::create(b, subtract(b, end, places.window), zero);
  }
  begin = placesBelow(b, places, begin);
  end = placesBelow(b, places, end);
  Value prompt = quotient(b, row, index(b, places.sequence));
  return {row, /*head=*/Value(), prompt, begin, subtract(b, end, begin)};
}

Value llm::visitRows(
    LoopBuilder &b, const RowPlaces &places, int64_t heads, Value result,
    function_ref<Value(LoopBuilder &, const Visit &, Value)> body) {
  Value rows = scalar(b, sizeOf(b, places.positions, 0));
  return repeatFor(
      b, rows, result, [&](LoopBuilder &b, Value row, Value result) {
        Visit own = visit(b, places, row);
        return repeatFor(b, index(b, heads), result,
                         [&](LoopBuilder &b, Value head, Value result) {
                           own.head = head;
                           return body(b, own, result);
                         });
      });
}

Values llm::visitRows(
    LoopBuilder &b, const RowPlaces &places, int64_t heads, ValueRange results,
    function_ref<Values(LoopBuilder &, const Visit &, ValueRange)> body) {
  Value rows = scalar(b, sizeOf(b, places.positions, 0));
  return repeatFor(
      b, rows, results, [&](LoopBuilder &b, Value row, ValueRange results) {
        Visit own = visit(b, places, row);
        return repeatFor(b, index(b, heads), results,
                         [&](LoopBuilder &b, Value head, ValueRange results) {
                           own.head = head;
                           return body(b, own, results);
                         });
      });
}

/// Offsets and sizes of entries of a row's head.
static std::pair<Sizes, Sizes> boxOf(LoopBuilder &b, const Visit &visit,
                                     OpFoldResult begin, OpFoldResult size) {
  OpFoldResult one = b.getIndexAttr(1);
  return {{visit.row, visit.head, begin}, {one, one, size}};
}

Value llm::vectorOf(LoopBuilder &b, Value tensor, const Visit &visit,
                    OpFoldResult begin, OpFoldResult size) {
  auto [offsets, sizes] = boxOf(b, visit, begin, size);
  return slice(b, tensor, offsets, sizes, /*rank=*/1);
}

Value llm::storeVector(LoopBuilder &b, Value vector, Value tensor,
                       const Visit &visit, OpFoldResult begin) {
  auto [offsets, sizes] = boxOf(b, visit, begin, sizeOf(b, vector, 0));
  return insert(b, vector, tensor, offsets, sizes);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value llm::timesVector(LoopBuilder &b, Value matrix, Value vector) {
  Value start = zeros(b, sizeOf(b, matrix, 0));
  return linalg::MatvecOp::create(b, ValueRange{matrix, vector}, start)
      .getResult(0);
}

Value llm::vectorTimes(LoopBuilder &b, Value vector, Value matrix) {
  Value start = zeros(b, sizeOf(b, matrix, 1));
  return linalg::VecmatOp::create(b, ValueRange{vector, matrix}, start)
      .getResult(0);
}

Value llm::capped(LoopBuilder &b, Value scores, std::optional<APFloat> cap) {
  if (!cap)
    return scores;
  return map(b, sizesOf(b, scores), b.getF32Type(), whole(scores),
             [&](LoopBuilder &b, ValueRange e) {
               return softCap(b, e[0], cap->convertToDouble());
             });
}

/// Folds the entries of a vector into a scalar.
static Value fold(LoopBuilder &b, Value vector, Value init,
                  function_ref<Value(LoopBuilder &, Value, Value)> combine) {
  return repeatFor(b, scalar(b, sizeOf(b, vector, 0)), init,
                   [&](LoopBuilder &b, Value i, Value value) {
                     return combine(b, value, at(b, vector, i));
                   });
}

namespace {
/// Exponentials relative to the highest score.
struct Powers {
  Value highest, each, total;
};
} // namespace

static Powers powersOf(LoopBuilder &b, Value scores, Value sink) {
  Value highest = fold(b, scores, sink ? sink : lowest(b),
                       [](LoopBuilder &b, Value x, Value y) -> Value {
                         return arith::MaximumFOp::create(b, x, y);
                       });
  auto power = [&](LoopBuilder &b, Value x) -> Value {
    return math::ExpOp::create(b, subtract(b, x, highest));
  };
  Value powers =
      map(b, sizesOf(b, scores), b.getF32Type(), whole(scores),
          [&](LoopBuilder &b, ValueRange e) { return power(b, e[0]); });
  Value total = fold(b, powers, sink ? power(b, sink) : real(b, 0), add);
  return {highest, powers, total};
}

/// Every exponential over their sum.
static Value weightsOf(LoopBuilder &b, const Powers &powers) {
  return map(b, sizesOf(b, powers.each), b.getF32Type(), whole(powers.each),
             [&](LoopBuilder &b, ValueRange e) {
               return arith::DivFOp::create(b, e[0], powers.total).getResult();
             });
}

Value llm::softmax(LoopBuilder &b, Value scores, Value sink) {
  return weightsOf(b, powersOf(b, scores, sink));
}

Softmax llm::softmaxWithSum(LoopBuilder &b, Value scores, Value sink) {
  Powers powers = powersOf(b, scores, sink);
  // Of nothing, exponentials relative to -inf are none.
  Value isSome = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT,
                                       powers.highest, lowest(b));
  Value logarithm = math::LogOp::create(b, powers.total);
  Value sum = add(b, powers.highest, logarithm);
  sum = arith::SelectOp::create(b, isSome, sum, lowest(b));
  return {weightsOf(b, powers), sum};
}

Value llm::tempered(LoopBuilder &b, Value queries, Value positions,
                    std::optional<TemperatureAttr> temperature) {
  if (!temperature)
    return queries;
  double growth = temperature->getScale().convertToDouble();
  Value floor = integer(
      b, int32_t(std::min<int64_t>(temperature->getFloor(),
                                   std::numeric_limits<int32_t>::max())));
  Type f32 = b.getF32Type();
  return map(
      b, sizesOf(b, queries), f32, {whole(queries), {positions, {0}}},
      [&](LoopBuilder &b, ValueRange e) {
        // Padding has no query that counts.
        Value seen = arith::MaxSIOp::create(
            b, arith::AddIOp::create(b, e[1], integer(b, 1)), integer(b, 0));
        Value periods = arith::SIToFPOp::create(
            b, f32, arith::DivSIOp::create(b, seen, floor));
        Value factor =
            multiply(b, math::Log1pOp::create(b, periods), real(b, growth));
        return multiply(b, e[0], add(b, factor, real(b, 1)));
      });
}

Value llm::scaled(LoopBuilder &b, Value x, double factor) {
  return map(b, sizesOf(b, x), b.getF32Type(), whole(x),
             [&](LoopBuilder &b, ValueRange e) {
               return multiply(b, e[0], real(b, factor));
             });
}
