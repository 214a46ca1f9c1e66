//===- Mamba2.h - A state space of heads in groups --------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_OPS_MAMBA2_H
#define SHARDOPT_MODEL_OPS_MAMBA2_H

#include "shardopt/Model/Ops/StateModel.h"

namespace shardopt::cost {

/// Short convolution, state space and gated norm (Dao, Gu, "Transformers are
/// SSMs", arXiv 2405.21060). Dim 0 cuts groups, each with its heads, and of a
/// single group the heads: then every device has its B and C, and the norm's
/// sum of squares is all-reduced, 4 bytes a row. None leaves heads whole and
/// cuts sequences where tokens are cut. What is cached does not grow with the
/// context.
struct Mamba2 final : StateModel {
  /// Tokens that prefill makes one step of (section 6 there).
  static constexpr double chunk = 128;

  int64_t heads = 0;
  int64_t headDim = 0;
  int64_t groups = 0; ///< of heads that share B and C
  int64_t stateDim = 0;
  bool norms = true;

  Rule rule(Dim dim, Span<const Placement> incoming,
            const Context &context) const override;
  OpCost cost(Dim dim, Span<const Placement> incoming,
              const Context &context) const override;
};

} // namespace shardopt::cost

#endif // SHARDOPT_MODEL_OPS_MAMBA2_H
