//===- Embedding.h - Token embedding ----------------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_OPS_EMBEDDING_H
#define SHARDOPT_MODEL_OPS_EMBEDDING_H

#include "shardopt/Model/OpModel.h"

namespace shardopt::cost {

/// Looks up one row of a [vocab, hidden] table per token. Dim 0 cuts the
/// vocabulary (each rank contributes its rows: a partial sum), dim 1 the hidden
/// size.
struct Embedding final : OpModel {
  int64_t vocab = 0;
  int64_t hidden = 0;
  WeightType weights = WeightType::Bf16;
  double activationBytes = 2; ///< an element of the result

  Span<const DimChoice> choices() const override;
  Rule rule(Dim dim, Span<const Placement> incoming,
            const Context &context) const override;
  OpCost cost(Dim dim, Span<const Placement> incoming,
              const Context &context) const override;
  Reads reads() const override { return Reads::Rows; }
};

} // namespace shardopt::cost

#endif // SHARDOPT_MODEL_OPS_EMBEDDING_H
