//===- MlaAttention.h - Multi-head latent attention -------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_OPS_MLAATTENTION_H
#define SHARDOPT_MODEL_OPS_MLAATTENTION_H

#include "shardopt/Model/OpModel.h"

namespace shardopt::cost {

/// Attention over one cached latent per token, the same for all heads
/// (DeepSeek-V2, arXiv 2405.04434). In decode the up-projections of the latent
/// are absorbed into the query and the output; in prefill keys and values are
/// expanded. Operands: queries [rows, heads * (nope + rope)] and the new latent
/// [rows, latent + rope]. Dim 0 cuts heads and replicates the latent cache; dim
/// 1 is illegal; none cuts sequences where tokens are cut, or in prefill with
/// cp = tp the positions of prompts.
///
/// With an indexer (DeepSeek-V3.2) a row reads at most `indexTopk` positions;
/// the indexer itself, whose queries are a third operand and whose keys stand
/// behind the latents, is whole on every device and reads all of them.
struct MlaAttention final : OpModel {
  int64_t heads = 0;
  int64_t latent = 0; ///< Rk, rank of the cached latent
  int64_t nope = 0;   ///< dn, part of a query head without position
  int64_t rope = 0;   ///< dr, rotary part of a query head, shared in the cache
  int64_t value = 0;  ///< dv, size of a value head
  int64_t indexHeads = 0;
  int64_t indexDim = 0;
  int64_t indexTopk = 0;                 ///< 0: no indexer
  WeightType weights = WeightType::Bf16; ///< of the latent's up-projections
  double activationBytes = 2;
  double cacheBytes = 2; ///< an element of the latent cache

  Span<const DimChoice> choices() const override;
  Rule rule(Dim dim, Span<const Placement> incoming,
            const Context &context) const override;
  OpCost cost(Dim dim, Span<const Placement> incoming,
              const Context &context) const override;
  Reads reads() const override { return Reads::Sequences; }
  OpTypes types() const override {
    OpTypes types;
    types.attention = weights;
    types.cacheBytes = cacheBytes;
    return types;
  }
  std::shared_ptr<const OpModel> retyped(const OpTypes &types) const override {
    auto other = std::make_shared<MlaAttention>(*this);
    other->weights = types.attention.value_or(weights);
    other->cacheBytes = types.cacheBytes.value_or(cacheBytes);
    return other;
  }
  bool dependsOnWindow() const override { return true; }
  bool cutsContext() const override { return indexTopk == 0; }
};

} // namespace shardopt::cost

#endif // SHARDOPT_MODEL_OPS_MLAATTENTION_H
