//===- GqaAttention.cpp - Attention over grouped kv heads -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Ops/GqaAttention.h"

#include "Detail.h"

#include "shardopt/Cost/Heads.h"

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::detail;

static const char *whyIllegal(const GqaAttention &op, Dim dim,
                              const Context &context) {
  if (dim != Dim::One)
    return nullptr;
  if (context.isPrefill())
    return "sharding dim 1 of attention is for decode only";
  if (op.headDim % (2 * context.degrees.tp) != 0)
    return "sharding dim 1 needs a head size divisible by 2 * tp";
  return nullptr;
}

Span<const DimChoice> GqaAttention::choices() const {
  static constexpr auto list = cuts("heads", "head_dim");
  return {list.data(), list.size()};
}

Rule GqaAttention::rule(Dim dim, Span<const Placement> incoming,
                        const Context &context) const {
  Rule rule;
  rule.illegal = whyIllegal(*this, dim, context);
  if (!rule.isLegal())
    return rule;

  const Layout layout = dim == Dim::None
                            ? sequenceLayout(incoming[0].layout, context)
                            : Layout::H;
  rule.operands = {
      {placed(incoming[0], layout), static_cast<double>(context.rows)}};
  rule.results = {
      {{layout, static_cast<double>(heads * headDim) * activationBytes}}};
  return rule;
}

/// The attention kernel for `sequences` sequences and `queryHeads` heads, of
/// which a rank reads the share `kvShare` of the cache and computes the share
/// `headShare` of every head.
static Kernel attend(const GqaAttention &op, double sequences,
                     double queryHeads, double kvShare, double headShare,
                     const Context &context) {
  const double length = static_cast<double>(context.attendedLength());
  const double dh = static_cast<double>(op.headDim);
  const double cacheRow =
      2 * static_cast<double>(op.kvHeads) * dh * op.cacheBytes; // of a token
  const double queryAndOutput =
      2 * queryHeads * dh * op.activationBytes * headShare; // of a token

  Kernel kernel;
  kernel.kind = KernelKind::Attention;
  kernel.rows = sequences;
  kernel.k = length;
  kernel.n = dh * headShare;
  kernel.count = queryHeads;
  kernel.kvHeads = static_cast<double>(op.kvHeads) * kvShare / headShare;
  kernel.cacheBytes = op.cacheBytes;
  if (!context.isPrefill()) {
    kernel.flops = 4 * sequences * length * queryHeads * dh * headShare;
    kernel.bytes =
        sequences * length * cacheRow * kvShare + sequences * queryAndOutput;
    return kernel;
  }
  // Causal, within the window; the cache is written and read.
  const double prompt = static_cast<double>(context.workload.context);
  kernel.prompt = prompt;
  kernel.flops = 4 * sequences * causalPairs(context) * queryHeads * dh;
  kernel.bytes = 2 * sequences * prompt * cacheRow * kvShare +
                 sequences * prompt * queryAndOutput;
  return kernel;
}

OpCost GqaAttention::cost(Dim dim, Span<const Placement> incoming,
                          const Context &context) const {
  const int64_t tp = context.degrees.tp;
  const double length = static_cast<double>(context.attendedLength());
  const double nq = static_cast<double>(heads);
  const double nkv = static_cast<double>(kvHeads);
  const double dh = static_cast<double>(headDim);
  const double b = static_cast<double>(context.microBatch);
  const double sequences = static_cast<double>(context.groupBatch);
  const double sequenceCache = length * 2 * nkv * dh * cacheBytes;

  OpCost cost;
  switch (dim) {
  case Dim::Zero: {
    const double share =
        static_cast<double>(localKvHeads(heads, kvHeads, tp)) / nkv;
    cost.kernels = {attend(*this, b, static_cast<double>(localHeads(heads, tp)),
                           share, 1, context)};
    cost.cacheBytes = sequences * sequenceCache * share;
    break;
  }
  case Dim::One: {
    const double share = static_cast<double>(ceilDiv(headDim, tp)) / dh;
    const double scores = b * nq * length * 4;
    cost.kernels = {attend(*this, b, nq, share, share, context),
                    memoryKernel(3 * scores)};
    if (qkNorm)
      cost.collectives.push_back({CollectiveKind::AllReduce, GridAxis::Tp,
                                  b * (nq + nkv) * 4, "norm"});
    cost.collectives.push_back(
        {CollectiveKind::AllReduce, GridAxis::Tp, scores, "scores"});
    cost.cacheBytes = sequences * sequenceCache * share;
    break;
  }
  case Dim::None: {
    const Layout layout = sequenceLayout(incoming[0].layout, context);
    cost.kernels = {
        attend(*this, context.localRows(layout, b), nq, 1, 1, context)};
    const double held = layout == Layout::T
                            ? static_cast<double>(context.microBatches) *
                                  context.localRows(Layout::T, b)
                            : sequences;
    cost.cacheBytes = sequenceCache * held;
    break;
  }
  }
  return cost;
}
