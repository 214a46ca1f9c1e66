//===- GqaAttention.cpp - Attention over grouped kv heads -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/Ops/GqaAttention.h"

#include "Detail.h"

#include "shardopt/Model/Heads.h"

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::detail;

static const char *whyIllegal(const GqaAttention &op, Dim dim,
                              const Context &context) {
  if (const char *reason = whyNotCutByHeads(dim, context))
    return reason;
  if (op.gated && context.degrees.cp > 1)
    return "context parallelism has no gated attention";
  if (dim != Dim::One)
    return nullptr;
  if (op.gated)
    return "sharding dim 1 of attention has no gates";
  if (context.isPrefill())
    return "sharding dim 1 of attention is for decode only";
  if (!op.turnsWholeHalves)
    return "sharding dim 1 needs rotary pairs of whole heads in style half";
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

  const Layout layout = headsLayout(dim, incoming[0].layout, context);
  rule.operands = {{placed(incoming[0], layout), context.rows}};
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
  // Of a token; a gate is read with the query.
  const double queryAndOutput =
      (op.gated ? 3 : 2) * queryHeads * dh * op.activationBytes * headShare;

  Kernel kernel;
  kernel.kind = KernelKind::Attention;
  kernel.rows = sequences;
  kernel.k = length;
  kernel.n = dh * headShare;
  kernel.count = queryHeads;
  kernel.kvHeads = static_cast<double>(op.kvHeads) * kvShare / headShare;
  kernel.cacheBytes = op.cacheBytes;
  kernel.activationBytes = op.activationBytes;
  kernel.window = static_cast<double>(context.window);
  if (!context.isPrefill()) {
    const double queries = context.queries;
    kernel.queries = queries;
    kernel.flops =
        4 * sequences * queries * length * queryHeads * dh * headShare;
    kernel.bytes = sequences * length * cacheRow * kvShare +
                   sequences * queries * queryAndOutput;
    return kernel;
  }
  // Causal, within the window; the cache is written and read.
  const double prompt = static_cast<double>(context.workload.context);
  kernel.prompt = prompt;
  kernel.rows *= 1 + context.cached;
  kernel.flops = 4 * kernel.rows * causalPairs(context) * queryHeads * dh;
  kernel.bytes = 2 * sequences * prompt * cacheRow * kvShare +
                 sequences * prompt * queryAndOutput;
  return kernel;
}

/// Over `tokens`: the norms of queries and keys, their rotation, the write of
/// the cache, and the gate.
static void addPasses(const GqaAttention &op, const Kernel &attention,
                      double tokens, OpCost &cost) {
  const double ab = op.activationBytes;
  const double queries = attention.count * attention.n;
  const double keys = attention.kvHeads * attention.n;
  const double both = 2 * ab * tokens * (queries + keys);
  if (op.qkNorm)
    cost.passes = {{Pass::Kind::Norm, both}, {Pass::Kind::Norm, both}};
  if (op.gated)
    cost.passes.push_back({Pass::Kind::Gate, 3 * ab * tokens * queries});
  cost.passes.push_back({Pass::Kind::Rotation, both});
  cost.passes.push_back({Pass::Kind::Rotation, 4 * ab * tokens * keys});
}

/// Decode by heads where cp ranks share the positions: each attends to its own
/// with the queries of all of them.
static void addSharedDecode(const GqaAttention &op, Layout incoming,
                            const ContextHeads &group, const Context &context,
                            OpCost &cost) {
  const int64_t tp = context.degrees.tp;
  const auto cp = static_cast<double>(context.degrees.cp);
  const double b = context.sequences;
  const double dh = static_cast<double>(op.headDim);
  const double length = static_cast<double>(context.attendedLength()) / cp;
  const double own = static_cast<double>(localHeads(op.heads, tp));
  const double ownKv =
      static_cast<double>(localKvHeads(op.heads, op.kvHeads, tp));
  const double heads = static_cast<double>(group.query);
  const double kvHeads = static_cast<double>(group.kv);

  if (incoming != Layout::R || op.normsHeadsApart())
    cost.collectives.push_back(
        {CollectiveKind::AllGather, Axis::Cp,
         b * cp * (own + (group.isSame ? 0 : 2 * ownKv)) * dh *
             op.activationBytes,
         "queries"});
  Kernel kernel;
  kernel.kind = KernelKind::Attention;
  kernel.rows = b;
  kernel.k = length;
  kernel.n = dh;
  kernel.count = heads;
  kernel.kvHeads = kvHeads;
  kernel.cacheBytes = op.cacheBytes;
  kernel.activationBytes = op.activationBytes;
  kernel.window = static_cast<double>(context.window);
  kernel.queries = context.queries;
  kernel.flops = 4 * b * context.queries * length * heads * dh;
  kernel.bytes = b * length * 2 * kvHeads * dh * op.cacheBytes +
                 b * context.queries * 2 * heads * dh * op.activationBytes;
  cost.kernels.push_back(kernel);
  addMerge(b, own, dh, op.activationBytes, context, cost);
}

/// By heads as without cp, but for the cache: a rank writes its
/// positions of the heads of all cp.
static void addSharedPrefill(const GqaAttention &op, Kernel kernel,
                             const ContextHeads &group, const Context &context,
                             OpCost &cost) {
  const auto cp = static_cast<double>(context.degrees.cp);
  const double dh = static_cast<double>(op.headDim);
  const double tokens =
      context.sequences * static_cast<double>(context.workload.context);
  const double ownKv = static_cast<double>(
      localKvHeads(op.heads, op.kvHeads, context.degrees.tp));
  if (!group.isSame)
    cost.collectives.push_back(
        {CollectiveKind::AllToAll, Axis::Cp,
         context.rows * 2 * ownKv * dh * op.activationBytes, "positions"});
  kernel.bytes += 2 * tokens * dh * op.cacheBytes *
                  (static_cast<double>(group.kv) / cp - ownKv);
  cost.kernels.push_back(kernel);
}

OpCost GqaAttention::cost(Dim dim, Span<const Placement> incoming,
                          const Context &context) const {
  const int64_t tp = context.degrees.tp;
  const double length = static_cast<double>(context.attendedLength());
  const double nq = static_cast<double>(heads);
  const double nkv = static_cast<double>(kvHeads);
  const double dh = static_cast<double>(headDim);
  const double b = context.sequences;
  const double sequences = static_cast<double>(context.groupBatch);
  const double sequenceCache = length * 2 * nkv * dh * cacheBytes;

  OpCost cost;
  switch (dim) {
  case Dim::Zero: {
    if (normsAllHeads)
      cost.collectives.push_back(
          {CollectiveKind::AllReduce, Axis::Tp, context.rows * 2 * 4, "norm"});
    const double share =
        static_cast<double>(localKvHeads(heads, kvHeads, tp)) / nkv;
    const Kernel whole =
        attend(*this, b, static_cast<double>(localHeads(heads, tp)), share, 1,
               context);
    addPasses(*this, whole, context.rows, cost);
    if (context.degrees.cp == 1) {
      cost.kernels = {whole};
      cost.cacheBytes = sequences * sequenceCache * share;
      break;
    }
    const ContextHeads group =
        contextHeads(heads, kvHeads, tp, context.degrees.cp);
    if (context.isPrefill())
      addSharedPrefill(*this, whole, group, context, cost);
    else
      addSharedDecode(*this, incoming[0].layout, group, context, cost);
    cost.cacheBytes = sequences * sequenceCache *
                      (static_cast<double>(group.kv) / nkv) /
                      static_cast<double>(context.degrees.cp);
    break;
  }
  case Dim::One: {
    const double share = static_cast<double>(ceilDiv(headDim, tp)) / dh;
    const double scores = b * nq * length * 4;
    cost.kernels = {attend(*this, b, nq, share, share, context),
                    memoryKernel(3 * scores)};
    addPasses(*this, cost.kernels[0], context.rows, cost);
    if (qkNorm)
      cost.collectives.push_back(
          {CollectiveKind::AllReduce, Axis::Tp,
           b * (normsAllHeads ? 2 : nq + nkv) * 4 * double(normSums), "norm"});
    cost.collectives.push_back(
        {CollectiveKind::AllReduce, Axis::Tp, scores, "scores"});
    cost.cacheBytes = sequences * sequenceCache * share;
    break;
  }
  case Dim::None: {
    const Layout layout = sequenceLayout(incoming[0].layout, context);
    cost.kernels = {
        attend(*this, context.localRows(layout, b), nq, 1, 1, context)};
    addPasses(*this, cost.kernels[0], context.localRows(layout, context.rows),
              cost);
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
