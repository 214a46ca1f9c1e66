//===- Norm.h - Norms, alone or after a residual add ------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_OPS_NORM_H
#define SHARDOPT_MODEL_OPS_NORM_H

#include "shardopt/Model/OpModel.h"

namespace shardopt::cost {

/// A norm over the hidden size, optionally of the sum of its operand and the
/// residual, which is then its second result. Dim 0 cuts rows, dim 1 features
/// (sums over them are all-reduced, 4 bytes a row and sum), none keeps both
/// whole. The layout that it leaves is the *anchor* of what follows, and the
/// residual is kept in it.
struct Norm final : OpModel {
  int64_t hidden = 0;
  /// Sums that it takes of a row: of squares (RMSNorm), and of the features
  /// themselves (LayerNorm).
  int64_t sums = 1;
  double activationBytes = 2;

  Span<const DimChoice> choices() const override;
  Rule rule(Dim dim, Span<const Placement> incoming,
            const Context &context) const override;
  OpCost cost(Dim dim, Span<const Placement> incoming,
              const Context &context) const override;
  Reads reads() const override { return Reads::Rows; }
};

} // namespace shardopt::cost

#endif // SHARDOPT_MODEL_OPS_NORM_H
