//===- GatedDeltaNet.h - Linear attention with a state ----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_OPS_GATEDDELTANET_H
#define SHARDOPT_MODEL_OPS_GATEDDELTANET_H

#include "shardopt/Model/Ops/StateModel.h"

namespace shardopt::cost {

/// Short convolution, gated delta rule and gated norm (Yang, Kautz,
/// Hatamizadeh, "Gated Delta Networks", arXiv 2412.06464). Dim 0 cuts key
/// heads, each with its value heads; none leaves heads whole and cuts sequences
/// where tokens are cut. What is cached does not grow with the context.
struct GatedDeltaNet final : StateModel {
  /// Tokens that prefill makes one step of (section 3.3 there).
  static constexpr double chunk = 64;

  int64_t heads = 0; ///< of queries and keys
  int64_t valueHeads = 0;
  int64_t keyDim = 0;
  int64_t valueDim = 0;

  Rule rule(Dim dim, Span<const Placement> incoming,
            const Context &context) const override;
  OpCost cost(Dim dim, Span<const Placement> incoming,
              const Context &context) const override;
};

} // namespace shardopt::cost

#endif // SHARDOPT_MODEL_OPS_GATEDDELTANET_H
