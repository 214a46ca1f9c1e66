//===- OutProj.h - Projection of the heads to the hidden size ---*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_OPS_OUTPROJ_H
#define SHARDOPT_MODEL_OPS_OUTPROJ_H

#include "shardopt/Model/OpModel.h"

namespace shardopt::cost {

/// [rows, heads * headDim] x [heads * headDim, hidden]. Dim 0 contracts over
/// cut heads (partial sum), dim 1 cuts the hidden size.
struct OutProj final : OpModel {
  int64_t heads = 0;
  int64_t headDim = 0; ///< of a value head
  int64_t hidden = 0;
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
    auto other = std::make_shared<OutProj>(*this);
    other->weights = types.attention.value_or(weights);
    return other;
  }
};

} // namespace shardopt::cost

#endif // SHARDOPT_MODEL_OPS_OUTPROJ_H
