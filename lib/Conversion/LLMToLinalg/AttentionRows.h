//===- AttentionRows.h - Attention, a row and head at a time ----*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_CONVERSION_LLMTOLINALG_ATTENTIONROWS_H
#define SHARDOPT_LIB_CONVERSION_LLMTOLINALG_ATTENTIONROWS_H

#include "Lowering.h"
#include "Rope.h"

namespace shardopt::llm {

/// Where the rows of an attention op stand.
struct RowPlaces {
  Value positions;      ///< i32 [rows]; negative for padding
  int64_t sequence = 1; ///< rows of a prompt
  Value window;         ///< index: keys that a row sees; null for all
  /// Rows see what is from the last multiple of the window on.
  bool chunked = false;
  /// The cache holds positions `first`, an index, `first + stride`, … alone;
  /// all of them where it is null.
  int64_t stride = 1;
  Value first = nullptr;
};

/// A row and a head of it, and the places of the cached positions that the row
/// sees: `count` from `begin` on, none for padding.
struct Visit {
  Value row, head;
  Value prompt; ///< of the row, within the cache
  Value begin, count;
};

/// The cache [prompt, position, ...] with each row of `rows` [rows, ...] at its
/// prompt and position; padding is not written.
Value writeCache(LoopBuilder &b, Value cache, Value rows,
                 const RowPlaces &places);

/// The same with what `next` makes of a row and the box that it goes to.
Value writePositions(
    LoopBuilder &b, Value cache, const RowPlaces &places,
    llvm::function_ref<Value(LoopBuilder &, Value row, const Sizes &offsets,
                             const Sizes &sizes)>
        next);

/// What qkv_proj gives, by heads: each [rows, heads, head_dim].
struct AttentionHeads {
  Value queries, keys, values;
};

/// The heads of the input, normed and turned.
AttentionHeads makeHeads(LoopBuilder &b, AttentionOp op);
AttentionHeads makeHeads(LoopBuilder &b, PartialAttentionOp op);

/// result = body(visit, result) for all rows and heads.
Value visitRows(
    LoopBuilder &b, const RowPlaces &places, int64_t heads, Value result,
    llvm::function_ref<Value(LoopBuilder &, const Visit &, Value result)> body);
Values visitRows(
    LoopBuilder &b, const RowPlaces &places, int64_t heads, ValueRange results,
    llvm::function_ref<Values(LoopBuilder &, const Visit &, ValueRange)> body);

/// [count, features]: what the row sees of a kv head of `cache` [prompt,
/// position, kv head, feature]; of a cache without kv heads where `kvHead` is
/// null. Features from `first` on.
Value visibleOf(LoopBuilder &b, Value cache, const Visit &visit, Value kvHead,
                int64_t features, int64_t first = 0);

/// The local kv head that a query head reads: min((offset + head) / group -
/// offset / group, kvHeads - 1).
Value kvHeadOf(LoopBuilder &b, Value head, int64_t group, Value offset,
               int64_t kvHeads);

/// cap * tanh(scores / cap), or the scores where there is no cap.
Value capped(LoopBuilder &b, Value scores, std::optional<llvm::APFloat> cap);

/// softmax(scores) [count], with one more score that has no value where
/// `sink` is not null.
Value softmax(LoopBuilder &b, Value scores, Value sink);

/// The same, with the logarithm of the sum of the scores' exponentials: -inf of
/// none. The sink may be -inf.
struct Softmax {
  Value weights, sum;
};
Softmax softmaxWithSum(LoopBuilder &b, Value scores, Value sink);

/// matrix * vector, and vector * matrix.
Value timesVector(LoopBuilder &b, Value matrix, Value vector);
Value vectorTimes(LoopBuilder &b, Value vector, Value matrix);

/// Entries [visit.row, visit.head, begin, begin + size) of a tensor [rows,
/// heads, ...], as a vector.
Value vectorOf(LoopBuilder &b, Value tensor, const Visit &visit,
               mlir::OpFoldResult begin, mlir::OpFoldResult size);

/// The tensor with those entries replaced by a vector.
Value storeVector(LoopBuilder &b, Value vector, Value tensor,
                  const Visit &visit, mlir::OpFoldResult begin);

/// Queries [rows, heads, features] times what `temperature`, if there is one,
/// says of their positions.
Value tempered(LoopBuilder &b, Value queries, Value positions,
               std::optional<TemperatureAttr> temperature);

/// Every entry times `factor`.
Value scaled(LoopBuilder &b, Value x, double factor);

} // namespace shardopt::llm

#endif // SHARDOPT_LIB_CONVERSION_LLMTOLINALG_ATTENTIONROWS_H
