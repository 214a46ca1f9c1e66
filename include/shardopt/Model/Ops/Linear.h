//===- Linear.h - A plain linear layer --------------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_OPS_LINEAR_H
#define SHARDOPT_MODEL_OPS_LINEAR_H

#include "shardopt/Model/OpModel.h"

namespace shardopt::cost {

/// [rows, in] x [in, out]. Dim 0 contracts over a cut `in` (partial sum), dim 1
/// cuts `out`.
struct Linear final : OpModel {
  int64_t in = 0;
  int64_t out = 0;
  /// Dim 1 gives a rank ceil(heads / tp) * (out / heads) columns; 0: out / tp.
  int64_t heads = 0;
  int64_t shared =
      0; ///< of `out`: all heads read them, and every rank has them
  /// The operand is normalised first. That is part of the matrix product,
  /// unless the features to be normalised are cut: then their sum of squares is
  /// all-reduced, 4 bytes a row.
  bool innerNorm = false;
  /// Of the columns, those that engines project apart and keep in bf16: the
  /// gates of a gated delta net.
  int64_t apart = 0;
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
    auto other = std::make_shared<Linear>(*this);
    other->weights = types.attention.value_or(weights);
    return other;
  }
};

} // namespace shardopt::cost

#endif // SHARDOPT_MODEL_OPS_LINEAR_H
