//===- Combine.h - Exchange of tokens on their way back ---------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_OPS_COMBINE_H
#define SHARDOPT_MODEL_OPS_COMBINE_H

#include "shardopt/Model/OpModel.h"

namespace shardopt::cost {

/// Returns the outputs of the experts and adds the `topK` copies of each token.
/// Dims as those of Dispatch; as it is linear, none also passes a partial sum.
struct Combine final : OpModel {
  int64_t hidden = 0;
  int64_t topK = 0;
  double activationBytes = 2;

  Span<const DimChoice> choices() const override;
  Rule rule(Dim dim, Span<const Placement> incoming,
            const Context &context) const override;
  OpCost cost(Dim dim, Span<const Placement> incoming,
              const Context &context) const override;
  Reads reads() const override { return Reads::Experts; }
};

} // namespace shardopt::cost

#endif // SHARDOPT_MODEL_OPS_COMBINE_H
