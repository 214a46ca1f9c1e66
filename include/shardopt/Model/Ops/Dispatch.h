//===- Dispatch.h - Exchange of tokens on their way to experts --*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_OPS_DISPATCH_H
#define SHARDOPT_MODEL_OPS_DISPATCH_H

#include "shardopt/Model/OpModel.h"

namespace shardopt::cost {

/// Sends every token to the expert-parallel groups that hold its `topK`
/// experts: an all-to-all over EP. Dim 0 exchanges cut rows, dim 1 cut
/// features; none exchanges what arrives, from every rank if it is replicated.
struct Dispatch final : OpModel {
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

#endif // SHARDOPT_MODEL_OPS_DISPATCH_H
