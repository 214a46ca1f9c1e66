//===- GqaAttention.h - Attention over grouped kv heads ---------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_OPS_GQAATTENTION_H
#define SHARDOPT_MODEL_OPS_GQAATTENTION_H

#include "shardopt/Model/OpModel.h"

namespace shardopt::cost {

/// Softmax attention of `heads` query heads over `kvHeads` key and value heads
/// and their cache. Dim 0 cuts heads; dim 1 cuts the head size (scores are
/// all-reduced; decode only, rotary pairs stay together); none leaves heads
/// whole and cuts sequences where tokens are cut, or in prefill with cp = tp
/// the positions of prompts (keys and values are gathered).
struct GqaAttention final : OpModel {
  int64_t heads = 0;
  int64_t kvHeads = 0;
  int64_t headDim = 0;
  bool qkNorm = false; ///< norm of every query and key head
  /// One norm of the features of all query heads, and one of all key heads: the
  /// sums of squares of cut heads are all-reduced, 8 bytes a row.
  bool normsAllHeads = false;
  /// As `Norm::sums`; of a head that has two, weights differ from head to head.
  int64_t normSums = 1;
  /// Whether rotary pairs, if any, are features j and j + headDim / 2.
  bool turnsWholeHalves = true;
  bool gated = false; ///< a gate of its output with every query
  double activationBytes = 2;
  double cacheBytes = 2; ///< an element of the kv cache

  /// Whether a device norms its heads before it gives them to others.
  bool normsHeadsApart() const { return normsAllHeads || normSums > 1; }

  Span<const DimChoice> choices() const override;
  Rule rule(Dim dim, Span<const Placement> incoming,
            const Context &context) const override;
  OpCost cost(Dim dim, Span<const Placement> incoming,
              const Context &context) const override;
  Reads reads() const override { return Reads::Sequences; }
  OpTypes types() const override {
    OpTypes types;
    types.cacheBytes = cacheBytes;
    return types;
  }
  std::shared_ptr<const OpModel> retyped(const OpTypes &types) const override {
    auto other = std::make_shared<GqaAttention>(*this);
    other->cacheBytes = types.cacheBytes.value_or(cacheBytes);
    return other;
  }
  bool dependsOnWindow() const override { return true; }
  bool cutsContext() const override { return true; }
};

} // namespace shardopt::cost

#endif // SHARDOPT_MODEL_OPS_GQAATTENTION_H
