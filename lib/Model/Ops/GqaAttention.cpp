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

  Layout layout = headsLayout(dim, incoming[0].layout, context);
  rule.operands = {{placed(incoming[0], layout), context.rows}};
  rule.results = {{{layout, double(heads * headDim) * activationBytes}}};
  return rule;
}

/// The attention kernel for `sequences` sequences and `queryHeads` heads, of
/// which a rank reads the share `kvShare` of the cache and computes the share
/// `headShare` of every head.
static Kernel attend(const GqaAttention &op, double sequences,
                     double queryHeads, double kvShare, double headShare,
                     const Context &context) {
  double length = double(context.attendedLength());
  double dh = double(op.headDim);
  double cacheRow = 2 * double(op.kvHeads) * dh * op.cacheBytes; // of a token
  // Of a token; a gate is read with the query.
  double queryAndOutput =
      (op.gated ? 3 : 2) * queryHeads * dh * op.activationBytes * headShare;

  Kernel kernel;
  kernel.kind = KernelKind::Attention;
  kernel.rows = sequences;
  kernel.k = length;
  kernel.n = dh * headShare;
  kernel.count = queryHeads;
  kernel.kvHeads = double(op.kvHeads) * kvShare / headShare;
  kernel.cacheBytes = op.cacheBytes;
  kernel.activationBytes = op.activationBytes;
  kernel.window = double(context.window);
  if (!context.isPrefill()) {
    double queries = context.queries;
    kernel.queries = queries;
    kernel.flops =
        4 * sequences * queries * length * queryHeads * dh * headShare;
    kernel.bytes = sequences * length * cacheRow * kvShare +
                   sequences * queries * queryAndOutput;
    return kernel;
  }
  // Causal, within the window; the cache is written and read.
  double prompt = double(context.workload.context);
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
  double ab = op.activationBytes;
  double queries = attention.count * attention.n;
  double keys = attention.kvHeads * attention.n;
  double both = 2 * ab * tokens * (queries + keys);
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
  int64_t tp = context.degrees.tp;
  auto cp = double(context.degrees.cp);
  double b = context.sequences;
  double dh = double(op.headDim);
  double length = double(context.attendedLength()) / cp;
  double own = double(localHeads(op.heads, tp));
  double ownKv = double(localKvHeads(op.heads, op.kvHeads, tp));
  double heads = double(group.query);
  double kvHeads = double(group.kv);

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
  kernel.window = double(context.window);
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
  auto cp = double(context.degrees.cp);
  double dh = double(op.headDim);
  double tokens = context.sequences * double(context.workload.context);
  double ownKv = double(localKvHeads(op.heads, op.kvHeads, context.degrees.tp));
  if (!group.isSame)
    cost.collectives.push_back(
        {CollectiveKind::AllToAll, Axis::Cp,
         context.rows * 2 * ownKv * dh * op.activationBytes, "positions"});
  kernel.bytes +=
      2 * tokens * dh * op.cacheBytes * (double(group.kv) / cp - ownKv);
  cost.kernels.push_back(kernel);
}

/// Prefill of the queries of own positions, heads whole. Positions are dealt to
/// ranks in turn, so that each has as many pairs of tokens, and keys and values
/// of all of them are gathered unless they are there.
static void addPositions(const GqaAttention &op, Layout incoming,
                         const Context &context, OpCost &cost) {
  auto cp = double(context.degrees.cp);
  double keys = 2 * double(op.kvHeads) * double(op.headDim);
  Kernel kernel =
      attend(op, context.sequences / cp, double(op.heads), 1, 1, context);
  // All keys are read, and those of own positions written.
  kernel.bytes += context.rows * keys * op.cacheBytes * (1 - 1 / cp);
  addPasses(op, kernel, context.rows / cp, cost);
  cost.kernels.push_back(kernel);
  if (incoming != Layout::R)
    cost.collectives.push_back({CollectiveKind::AllGather, Axis::Cp,
                                context.rows * keys * op.activationBytes,
                                "keys"});
}

OpCost GqaAttention::cost(Dim dim, Span<const Placement> incoming,
                          const Context &context) const {
  int64_t tp = context.degrees.tp;
  double length = double(context.attendedLength());
  double nq = double(heads);
  double nkv = double(kvHeads);
  double dh = double(headDim);
  double b = context.sequences;
  double sequences = double(context.groupBatch);
  double sequenceCache = length * 2 * nkv * dh * cacheBytes;

  OpCost cost;
  switch (dim) {
  case Dim::Zero: {
    if (normsAllHeads)
      cost.collectives.push_back(
          {CollectiveKind::AllReduce, Axis::Tp, context.rows * 2 * 4, "norm"});
    double share = double(localKvHeads(heads, kvHeads, tp)) / nkv;
    Kernel whole =
        attend(*this, b, double(localHeads(heads, tp)), share, 1, context);
    addPasses(*this, whole, context.rows, cost);
    if (context.degrees.cp == 1) {
      cost.kernels = {whole};
      cost.cacheBytes = sequences * sequenceCache * share;
      break;
    }
    ContextHeads group = contextHeads(heads, kvHeads, tp, context.degrees.cp);
    if (context.isPrefill())
      addSharedPrefill(*this, whole, group, context, cost);
    else
      addSharedDecode(*this, incoming[0].layout, group, context, cost);
    cost.cacheBytes = sequences * sequenceCache * (double(group.kv) / nkv) /
                      double(context.degrees.cp);
    break;
  }
  case Dim::One: {
    double share = double(ceilDiv(headDim, tp)) / dh;
    double scores = b * nq * length * 4;
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
    if (cutsPositions(context)) {
      addPositions(*this, incoming[0].layout, context, cost);
      cost.cacheBytes = sequences * sequenceCache / double(context.degrees.cp);
      break;
    }
    Layout layout = sequenceLayout(incoming[0].layout, context);
    cost.kernels = {
        attend(*this, context.localRows(layout, b), nq, 1, 1, context)};
    addPasses(*this, cost.kernels[0], context.localRows(layout, context.rows),
              cost);
    double held = layout == Layout::T ? double(context.microBatches) *
                                            context.localRows(Layout::T, b)
                                      : sequences;
    cost.cacheBytes = sequenceCache * held;
    break;
  }
  }
  return cost;
}
