//===- LmHead.h - Final norm, logits and greedy argmax ----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_OPS_LMHEAD_H
#define SHARDOPT_MODEL_OPS_LMHEAD_H

#include "shardopt/Model/OpModel.h"

namespace shardopt::cost {

/// A norm, [rows, hidden] x [hidden, vocab] and argmax, on the last row of
/// each sequence. Dim 0 contracts over a cut hidden size (the logits are
/// reduce-scattered over the vocabulary), dim 1 cuts the vocabulary; both end
/// in a gather of one (value, index) of 8 bytes a row and rank. Its only
/// operand is the sum that leaves the last layer.
struct LmHead final : OpModel {
  int64_t vocab = 0;
  int64_t hidden = 0;
  int64_t normSums = 1; ///< as `Norm::sums`
  WeightType weights = WeightType::Bf16;
  double activationBytes = 2;

  Span<const DimChoice> choices() const override;
  Rule rule(Dim dim, Span<const Placement> incoming,
            const Context &context) const override;
  OpCost cost(Dim dim, Span<const Placement> incoming,
              const Context &context) const override;
  Reads reads() const override { return Reads::Rows; }
};

} // namespace shardopt::cost

#endif // SHARDOPT_MODEL_OPS_LMHEAD_H
