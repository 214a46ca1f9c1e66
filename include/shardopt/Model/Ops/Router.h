//===- Router.h - Choice of the experts of a token --------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_OPS_ROUTER_H
#define SHARDOPT_MODEL_OPS_ROUTER_H

#include "shardopt/Model/OpModel.h"

namespace shardopt::cost {

/// Logits [rows, experts] and their top k. Dim 0 contracts over a cut hidden
/// size and all-reduces the logits, dim 1 cuts the experts and gathers them.
/// Results: the tokens, passed on as they were taken, or scaled by the weight
/// of their one choice; indices and weights of the choice.
struct Router final : OpModel {
  int64_t hidden = 0;
  int64_t experts = 0;
  int64_t topK = 0;
  bool scalesTokens = false;
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

#endif // SHARDOPT_MODEL_OPS_ROUTER_H
