//===- Ffn.h - The two projections of a feed-forward block ------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_MODEL_OPS_FFN_H
#define SHARDOPT_MODEL_OPS_FFN_H

#include "shardopt/Model/OpModel.h"

namespace shardopt::cost {

/// Which feed-forward block a projection belongs to.
enum class FfnKind : uint8_t {
  Dense,   ///< of a dense layer
  Grouped, ///< of the routed experts, after a dispatch
  Shared,  ///< of experts that every token visits
};

/// Facts that both projections share. Dense and shared blocks see the rows of
/// the micro-batch and hold one expert; routed ones see the copies of the
/// busiest group and hold the local experts (both from Context::routing).
struct Ffn {
  FfnKind kind = FfnKind::Dense;
  int64_t hidden = 0;
  int64_t inner = 0;  ///< ff, columns after the activation, of one expert
  bool gated = false; ///< gate and up columns: the projection is 2 * inner wide
  WeightType weights = WeightType::Bf16;
  double activationBytes = 2;
};

/// What a projection of such a block reads.
inline OpTypes typesOf(const Ffn &network) {
  OpTypes types;
  (network.kind == FfnKind::Grouped ? types.experts : types.dense) =
      network.weights;
  return types;
}
/// A network with weights of `types`.
template <typename Op>
std::shared_ptr<const Op> retypedFfn(const Op &op, const OpTypes &types) {
  auto other = std::make_shared<Op>(op);
  other->weights = (op.kind == FfnKind::Grouped ? types.experts : types.dense)
                       .value_or(op.weights);
  return other;
}

/// The collectives inside a projection that is sharded on both dims (Pope et
/// al., "Efficiently Scaling Transformer Inference", arXiv 2211.05102, section
/// 3.2.2). Its input arrives in H over tp. It is gathered along `gathered`, so
/// that a device has the rows of its part of the weight, and the partial sum is
/// reduce-scattered along `scattered`, which leaves H over tp. The wider
/// features, those between the two projections, travel along tp2, between
/// neighbours.
struct TwoAxes {
  static constexpr const char *gather = "gather", *scatter = "scatter";
  Axis gathered, scattered;
};
inline constexpr TwoAxes axesOfFfnUp = {Axis::Tp1, Axis::Tp2};
inline constexpr TwoAxes axesOfFfnDown = {Axis::Tp2, Axis::Tp1};

constexpr Reads readsOf(FfnKind kind) {
  return kind == FfnKind::Grouped ? Reads::Experts : Reads::Rows;
}

/// [rows, hidden] x [hidden, inner or 2 inner], then the activation. Dim 0
/// contracts over a cut hidden size; the partial sum that it leaves is before
/// the activation, gate and up columns included. Dim 1 cuts `inner`. `dimBoth`
/// cuts the hidden size over tp2 and `inner` over tp1.
struct FfnUp final : OpModel, Ffn {
  /// Rows are multiplied by a number that is made of whole rows, so that dim 0
  /// is illegal. As norms and biases, it is not charged.
  bool gatesRows = false;

  bool canShardBothDims() const override { return kind != FfnKind::Grouped; }
  Span<const DimChoice> choices() const override;
  Rule rule(Dim dim, Span<const Placement> incoming,
            const Context &context) const override;
  OpCost cost(Dim dim, Span<const Placement> incoming,
              const Context &context) const override;
  Reads reads() const override { return readsOf(kind); }
  OpTypes types() const override { return typesOf(*this); }
  std::shared_ptr<const OpModel> retyped(const OpTypes &types) const override {
    return retypedFfn(*this, types);
  }

private:
  OpCost project(Dim dim, Span<const Placement> incoming,
                 const Context &context) const;
};

/// [rows, inner] x [inner, hidden]. Dim 0 contracts over a cut `inner` (partial
/// sum), dim 1 cuts the hidden size. `dimBoth` cuts `inner` over tp1 and the
/// hidden size over tp2.
struct FfnDown final : OpModel, Ffn {
  bool canShardBothDims() const override { return kind != FfnKind::Grouped; }
  Span<const DimChoice> choices() const override;
  Rule rule(Dim dim, Span<const Placement> incoming,
            const Context &context) const override;
  OpCost cost(Dim dim, Span<const Placement> incoming,
              const Context &context) const override;
  Reads reads() const override { return readsOf(kind); }
  OpTypes types() const override { return typesOf(*this); }
  std::shared_ptr<const OpModel> retyped(const OpTypes &types) const override {
    return retypedFfn(*this, types);
  }
};

} // namespace shardopt::cost

#endif // SHARDOPT_MODEL_OPS_FFN_H
