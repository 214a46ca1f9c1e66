//===- QkvProj.h - Fused query, key and value projection --------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_OPS_QKVPROJ_H
#define SHARDOPT_MODEL_OPS_QKVPROJ_H

#include "shardopt/Model/OpModel.h"

namespace shardopt::cost {

/// [rows, hidden] x [hidden, (heads + 2 kvHeads) * headDim]. Dim 0 contracts
/// over a cut hidden size (partial sum), dim 1 cuts heads: a rank holds every
/// kv head that its query heads read, so kv weights may be held twice.
struct QkvProj final : OpModel {
  int64_t hidden = 0;
  int64_t heads = 0;
  int64_t kvHeads = 0;
  int64_t headDim = 0;
  bool gated = false; ///< every query head has as many columns more
  WeightType weights = WeightType::Bf16;
  double activationBytes = 2;

  Span<const DimChoice> choices() const override;
  Rule rule(Dim dim, Span<const Placement> incoming,
            const Context &context) const override;
  OpCost cost(Dim dim, Span<const Placement> incoming,
              const Context &context) const override;
  Reads reads() const override { return Reads::Rows; }
  OpTypes types() const override {
    OpTypes types;
    types.attention = weights;
    return types;
  }
  std::shared_ptr<const OpModel> retyped(const OpTypes &types) const override {
    auto other = std::make_shared<QkvProj>(*this);
    other->weights = types.attention.value_or(weights);
    return other;
  }

private:
  /// Columns of so many heads.
  double columns(int64_t queryHeads, int64_t keyHeads) const;
};

} // namespace shardopt::cost

#endif // SHARDOPT_MODEL_OPS_QKVPROJ_H
