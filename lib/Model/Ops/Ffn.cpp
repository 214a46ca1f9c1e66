//===- Ffn.cpp - The two projections of a feed-forward block --------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/Ops/Ffn.h"

#include "Detail.h"

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::detail;

static double globalRows(const Ffn &ffn, const Context &context) {
  return ffn.kind == FfnKind::Grouped ? context.routing.copies : context.rows;
}

/// The axis that shards weights and activations.
static Axis axisOf(const Ffn &ffn) {
  return ffn.kind == FfnKind::Grouped ? Axis::Etp : Axis::Tp;
}

/// [rows, k] x [k, n] of the experts; `columns` columns are written, and
/// `share` is the share of every expert's weight that a rank holds.
static OpCost product(const Ffn &ffn, double rows, double k, double n,
                      double columns, double expertWeights, double share,
                      const Context &context) {
  bool grouped = ffn.kind == FfnKind::Grouped;
  double read = grouped ? context.routing.activeExperts : 1;
  double held = grouped ? double(context.routing.localExperts) : 1;
  double weightBytes = expertWeights * bytesPerWeight(ffn.weights) * share;

  OpCost cost;
  cost.kernels = {
      {grouped ? KernelKind::GroupedGemm : KernelKind::Gemm, rows, k, n, read,
       ffn.weights, 2 * rows * k * n,
       read * weightBytes + rows * (k + columns) * ffn.activationBytes, true}};
  cost.weightBytes = held * weightBytes;
  if (!grouped)
    return cost;
  Kernel &kernel = cost.kernels[0];
  kernel.held = held;
  kernel.groups = double(context.degrees.ep);
  kernel.visited = double(context.routing.topK);
  return cost;
}

/// The dims of a projection, the first two called `zero` and `one`.
template <size_t size>
static Span<const DimChoice>
choicesOf(const OpModel &op, const std::array<DimChoice, size> &list) {
  return {list.data(), op.canShardBothDims() ? size : size - 1};
}

static constexpr std::array<DimChoice, 4> ffnCuts(const char *zero,
                                                  const char *one) {
  auto list = cuts(zero, one);
  return {{list[0], list[1], list[2], {dimBoth, "both"}}};
}

/// Why a projection cannot be sharded on both dims, or null. Its rule has
/// operands all the same: a layer whose first op it is enters as they want.
static const char *whyNotBoth(const OpModel &op, const Context &context) {
  if (!op.canShardBothDims())
    return "sharding dim 3 (both) is of dense and shared networks, and these "
           "are routed experts";
  return context.degrees.tp2 == 1
             ? "sharding dim 3 (both) needs tp2 above 1, a second axis of tp"
             : nullptr;
}

/// What a device does at `dimBoth`, with weights [k, n].
static OpCost productOnTwoAxes(const Ffn &ffn, TwoAxes axes, double k, double n,
                               const Context &context) {
  double gathered = context.ranks(axes.gathered);
  double scattered = context.ranks(axes.scattered);
  double rowsBytes = context.rows * ffn.activationBytes;
  OpCost cost =
      product(ffn, context.rows, k / scattered, n / gathered, n / gathered,
              k * n, 1 / (gathered * scattered), context);
  cost.collectives = {{CollectiveKind::AllGather, axes.gathered,
                       rowsBytes * k / scattered, TwoAxes::gather},
                      {CollectiveKind::ReduceScatter, axes.scattered,
                       rowsBytes * n / gathered, TwoAxes::scatter}};
  return cost;
}

Span<const DimChoice> FfnUp::choices() const {
  static constexpr auto list = ffnCuts("hidden", "inner");
  return choicesOf(*this, list);
}

Rule FfnUp::rule(Dim dim, Span<const Placement> incoming,
                 const Context &context) const {
  Layout in = incoming[0].layout;
  Layout out = weightOpResult(dim, in);
  // A partial sum is kept from before the activation.
  int64_t columns = out == Layout::P && gated ? 2 * inner : inner;
  Rule rule;
  if (gatesRows && dim == Dim::Zero)
    rule.illegal =
        "sharding dim 0 shards the rows, and a row gate needs all of each";
  else if (gatesRows && dim == dimBoth)
    rule.illegal =
        "sharding dim 3 shards the rows, and a row gate needs all of each";
  else if (dim == dimBoth)
    rule.illegal = whyNotBoth(*this, context);
  rule.operands = {{placed(incoming[0], weightOpInput(dim, in)),
                    globalRows(*this, context)}};
  rule.results = {{{out, double(columns) * activationBytes, axisOf(*this)}}};
  return rule;
}

/// What up and gate columns become, `columns` of them on a device.
static void addActivation(const FfnUp &op, double columns, OpCost &cost) {
  cost.kernels[0].gates = op.gated ? 2 : 1;
  if (op.kind != FfnKind::Grouped)
    cost.passes = {{Pass::Kind::Activation,
                    3 * op.activationBytes * cost.kernels[0].rows * columns}};
}

OpCost FfnUp::cost(Dim dim, Span<const Placement> incoming,
                   const Context &context) const {
  double ff = double(inner);
  OpCost cost = project(dim, incoming, context);
  bool isCut = dim == Dim::One || dim == dimBoth;
  addActivation(*this, isCut ? ff / context.ranks(axisOf(*this)) : ff, cost);
  return cost;
}

OpCost FfnUp::project(Dim dim, Span<const Placement> incoming,
                      const Context &context) const {
  double rows = globalRows(*this, context);
  Axis over = axisOf(*this);
  double h = double(hidden), n = context.ranks(over);
  double ff = double(inner);
  double columns = gated ? 2 * ff : ff;
  if (dim == dimBoth)
    return productOnTwoAxes(*this, axesOfFfnUp, h, columns, context);
  switch (dim) {
  case Dim::Zero:
    return product(*this, rows, h / n, columns, columns, h * columns, 1 / n,
                   context);
  case Dim::One:
    return product(*this, rows, h, columns / n, ff / n, h * columns, 1 / n,
                   context);
  case Dim::None:
    break;
  }
  return product(*this,
                 context.localRows(passThrough(incoming[0].layout), rows, over),
                 h, columns, ff, h * columns, 1, context);
}

Span<const DimChoice> FfnDown::choices() const {
  static constexpr auto list = ffnCuts("inner", "hidden");
  return choicesOf(*this, list);
}

Rule FfnDown::rule(Dim dim, Span<const Placement> incoming,
                   const Context &context) const {
  Layout in = incoming[0].layout;
  Rule rule;
  if (dim == dimBoth)
    rule.illegal = whyNotBoth(*this, context);
  rule.operands = {{placed(incoming[0], weightOpInput(dim, in)),
                    globalRows(*this, context)}};
  rule.results = {{{weightOpResult(dim, in), double(hidden) * activationBytes,
                    axisOf(*this)}}};
  return rule;
}

OpCost FfnDown::cost(Dim dim, Span<const Placement> incoming,
                     const Context &context) const {
  double rows = globalRows(*this, context);
  Axis over = axisOf(*this);
  double h = double(hidden), n = context.ranks(over);
  double ff = double(inner);
  if (dim == dimBoth)
    return productOnTwoAxes(*this, axesOfFfnDown, ff, h, context);
  switch (dim) {
  case Dim::Zero:
    return product(*this, rows, ff / n, h, h, ff * h, 1 / n, context);
  case Dim::One:
    return product(*this, rows, ff, h / n, h / n, ff * h, 1 / n, context);
  case Dim::None:
    break;
  }
  return product(*this,
                 context.localRows(passThrough(incoming[0].layout), rows, over),
                 ff, h, h, ff * h, 1, context);
}
