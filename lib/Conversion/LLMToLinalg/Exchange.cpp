//===- Exchange.cpp - The order of copies of tokens -----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace shardopt;
using namespace shardopt::llm;

//===----------------------------------------------------------------------===//
// Sorting copies by key
//===----------------------------------------------------------------------===//

namespace {
/// Copies of tokens in the order of their keys.
struct Order {
  Value counts;  ///< i32 [keys]: copies of each key
  Value origins; ///< i32 [?]: row * top_k + choice of each copy
};
} // namespace

/// vector[i] += 1; the value before is given as an index.
static std::pair<Value, Value> countUp(LoopBuilder &b, Value vector, Value i) {
  Value before = at(b, vector, i);
  Value after = toInteger(b, add(b, before, index(b, 1)));
  return {tensor::InsertOp::create(b, after, vector, i), before};
}

/// i32 [keys]: how many copies have each key.
static Value countKeys(LoopBuilder &b, Value copies, int64_t keys,
                       function_ref<Value(LoopBuilder &, Value)> keyOf) {
  Value zero = filled(b, {b.getIndexAttr(keys)}, integer(b, 0));
  return repeatFor(b, copies, zero, [&](LoopBuilder &b, Value i, Value counts) {
    return countUp(b, counts, keyOf(b, i)).first;
  });
}

/// i32 [keys]: the sum of the counts before each key.
static Value startsOf(LoopBuilder &b, Value counts) {
  int64_t keys = staticSize(counts, 0);
  Value starts = empty(b, {b.getIndexAttr(keys)}, b.getI32Type());
  return repeatFor(
      b, index(b, keys), {starts, index(b, 0)},
      [&](LoopBuilder &b, Value key, ValueRange state) {
        Value start = toInteger(b, state[1]);
        Value next = add(b, state[1], at(b, counts, key));
        return Values{tensor::InsertOp::create(b, start, state[0], key), next};
      })[0];
}

/// Sorts copies 0, 1, ... by their keys in [0, keys], keeping the order of
/// equal ones (a counting sort). Those of key `keys` are left out.
static Order sortCopies(LoopBuilder &b, Value copies, int64_t keys,
                        function_ref<Value(LoopBuilder &, Value)> keyOf) {
  Value counts = countKeys(b, copies, keys + 1, keyOf);
  Value starts = startsOf(b, counts);
  Value order = empty(b, OpFoldResult(copies), b.getI32Type());
  Value sent = at(b, starts, index(b, keys));
  order = repeatFor(b, copies, {order, starts},
                    [&](LoopBuilder &b, Value i, ValueRange state) {
                      auto [next, place] = countUp(b, state[1], keyOf(b, i));
                      Value order = tensor::InsertOp::create(b, toInteger(b, i),
                                                             state[0], place);
                      return Values{order, next};
                    })[0];
  OpFoldResult zero = b.getIndexAttr(0);
  return {slice(b, counts, zero, OpFoldResult(b.getIndexAttr(keys))),
          slice(b, order, zero, OpFoldResult(sent))};
}

/// The expert of copy i of `indices` [rows, k].
static Value expertOf(LoopBuilder &b, Value indices, Value i) {
  Value k = index(b, staticSize(indices, 1));
  return at(b, indices, {quotient(b, i, k), rest(b, i, k)});
}

static Value numberOfCopies(LoopBuilder &b, Value indices) {
  return multiply(b, scalar(b, sizeOf(b, indices, 0)),
                  index(b, staticSize(indices, 1)));
}

//===----------------------------------------------------------------------===//
// Rows of copies
//===----------------------------------------------------------------------===//

/// Row i is row origins[i] / k of the tokens, times the weight of its choice
/// where there are `weights`.
static Value gatherRows(LoopBuilder &b, Value tokens, Value origins, int64_t k,
                        Value weights) {
  Sizes sizes = {sizeOf(b, origins, 0), sizeOf(b, tokens, 1)};
  return map(b, sizes, b.getF32Type(), Operand{origins, {0}},
             [&](LoopBuilder &b, ValueRange e) {
               Value origin = toIndex(b, e[0]), each = index(b, k);
               Value row = quotient(b, origin, each);
               Value token = at(b, tokens, {row, iteration(b, 1)});
               if (!weights)
                 return token;
               Value weight = at(b, weights, {row, rest(b, origin, each)});
               return multiply(b, token, weight);
             });
}

/// Row t is the sum of the copies of token t, each times its routing weight
/// unless it is `unweighted`.
static Value sumCopies(LoopBuilder &b, Value rows, Value origins, Value weights,
                       bool unweighted) {
  Value k = index(b, staticSize(weights, 1));
  Sizes one = {b.getIndexAttr(1), sizeOf(b, rows, 1)};
  Value result = zeros(b, {sizeOf(b, weights, 0), one[1]});
  Value copies = scalar(b, sizeOf(b, origins, 0));
  return repeatFor(
      b, copies, result, [&](LoopBuilder &b, Value i, Value result) {
        Value origin = at(b, origins, i), token = quotient(b, origin, k);
        Value weight = unweighted ? real(b, 1)
                                  : at(b, weights, {token, rest(b, origin, k)});
        Sizes from = {i, b.getIndexAttr(0)}, to = {token, b.getIndexAttr(0)};
        Value sum =
            nest(b, whole(slice(b, rows, from, one)),
                 whole(slice(b, result, to, one)),
                 [&](LoopBuilder &b, ValueRange e) {
                   return Values{add(b, e[1], multiply(b, e[0], weight))};
                 })[0];
        return insert(b, sum, result, to, one);
      });
}

//===----------------------------------------------------------------------===//
// The ops
//===----------------------------------------------------------------------===//

Values llm::lower(LoopBuilder &b, DispatchOp op, const Lowering &) {
  Value indices = op.getIndices();
  Order order = sortCopies(
      b, numberOfCopies(b, indices), op.getExperts(),
      [&](LoopBuilder &b, Value i) { return expertOf(b, indices, i); });
  Value rows = gatherRows(b, op.getTokens(), order.origins,
                          staticSize(indices, 1), op.getWeights());
  return {rows, splitLast(b, order.counts, {1, 1, int64_t(op.getExperts())}),
          order.origins};
}

Values llm::lower(LoopBuilder &b, CombineOp op, const Lowering &) {
  return {sumCopies(b, op.getRows(), op.getOrigins(), op.getWeights(),
                    op.getUnweighted())};
}

Values llm::lower(LoopBuilder &b, ExchangePlanOp op, const Lowering &) {
  Value indices = op.getIndices();
  ArrayRef<int64_t> shape = op.getCounts().getType().getShape();
  int64_t homes = shape[1], experts = shape[2];
  int64_t keys = shape[0] * homes * experts;
  int64_t k = staticSize(indices, 1);

  // By destination, then home, then expert. Padding comes last and is not sent.
  auto keyOf = [&](LoopBuilder &b, Value i) -> Value {
    Value expert = expertOf(b, indices, i), each = index(b, experts);
    Value key = quotient(b, expert, each);
    if (homes > 1) {
      Value row = quotient(b, i, index(b, k));
      Value home = op.getDealt() ? rest(b, row, index(b, *op.getDealt()))
                                 : quotient(b, row, op.getBlock());
      home = rest(b, home, index(b, homes));
      key = add(b, multiply(b, key, index(b, homes)), home);
    }
    key = add(b, multiply(b, key, each), rest(b, expert, each));
    Value padding = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, expert,
                                          index(b, 0));
    return arith::SelectOp::create(b, padding, index(b, keys), key);
  };
  Order order = sortCopies(b, numberOfCopies(b, indices), keys, keyOf);
  return {splitLast(b, order.counts, shape), order.origins};
}

Values llm::lower(LoopBuilder &b, LocalExpertsOp op, const Lowering &) {
  Value indices = op.getIndices();
  auto local = [&](LoopBuilder &b, ValueRange e) -> Value {
    Value own = subtract(b, toIndex(b, e[0]), op.getFirst());
    // Numbers below the first, and what is none, are large without a sign.
    Value isOwn = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, own,
                                        index(b, int64_t(op.getExperts())));
    Value isChoice = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, e[0],
                                           integer(b, 0));
    isOwn = arith::AndIOp::create(b, isOwn, isChoice);
    return arith::SelectOp::create(b, isOwn, toInteger(b, own), integer(b, -1));
  };
  return {map(b, sizesOf(b, indices), b.getI32Type(), whole(indices), local)};
}

Values llm::lower(LoopBuilder &b, PermuteOp op, const Lowering &) {
  return {gatherRows(b, op.getTokens(), op.getOrigins(), op.getTopK(),
                     op.getWeights())};
}

Values llm::lower(LoopBuilder &b, UnpermuteOp op, const Lowering &) {
  return {sumCopies(b, op.getRows(), op.getOrigins(), op.getWeights(),
                    op.getUnweighted())};
}
