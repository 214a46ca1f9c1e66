//===- MlaAttention.cpp - Multi-head latent attention ---------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Model/Ops/MlaAttention.h"

#include "Detail.h"

#include "shardopt/Model/Heads.h"

using namespace shardopt;
using namespace shardopt::cost;
using namespace shardopt::cost::detail;

Span<const DimChoice> MlaAttention::choices() const {
  static constexpr auto list = cuts("heads", "head_dim");
  return {list.data(), list.size()};
}

Rule MlaAttention::rule(Dim dim, Span<const Placement> incoming,
                        const Context &context) const {
  Rule rule;
  rule.illegal = whyNotCutByHeads(dim, context);
  if (!rule.isLegal())
    return rule;
  if (dim == Dim::One) {
    rule.illegal =
        "sharding dim 1 of attention needs heads of keys, and latent "
        "attention has none";
    return rule;
  }
  if (indexTopk > 0 && context.degrees.cp > 1) {
    rule.illegal = "context parallelism shards positions, and an indexer ranks "
                   "all positions of a sequence";
    return rule;
  }
  double rows = context.rows;
  Layout layout = headsLayout(dim, incoming[0].layout, context);
  // All positions' latents are gathered where queries are those of some.
  Layout latentLayout =
      dim == Dim::None && !cutsPositions(context) ? layout : Layout::R;
  rule.operands = {{placed(incoming[0], layout), rows},
                   {placed(incoming[1], latentLayout), rows}};
  if (indexTopk > 0)
    rule.operands.push_back({placed(incoming[2], latentLayout), rows});
  rule.results = {{{layout, double(heads * value) * activationBytes}}};
  return rule;
}

/// [sequences, k] x [k, n] for each of `localHeads` heads.
static Kernel batchedGemm(const MlaAttention &op, double sequences,
                          double localHeads, double k, double n) {
  return {KernelKind::BatchedGemm,
          sequences,
          k,
          n,
          localHeads,
          op.weights,
          2 * sequences * localHeads * k * n,
          localHeads * k * n * bytesPerWeight(op.weights) +
              sequences * localHeads * (k + n) * op.activationBytes,
          true};
}

/// Positions that a row reads of `seen`.
static double readOf(const MlaAttention &op, double seen) {
  return op.indexTopk > 0 ? std::min(seen, double(op.indexTopk)) : seen;
}

/// An indexer meets the keys of `length` positions of each of `sequences`, in
/// `pairs` of a row and a position. A score is written and read to be ranked.
static void addIndexer(const MlaAttention &op, double sequences, double rows,
                       double length, double pairs, const Context &context,
                       OpCost &cost) {
  if (op.indexTopk == 0)
    return;
  double columns = double(op.indexHeads) * double(op.indexDim);
  Kernel kernel;
  kernel.kind = KernelKind::Ranking;
  kernel.rows = rows;
  kernel.k = double(op.indexDim);
  kernel.n = length;
  kernel.count = double(op.indexHeads);
  kernel.flops = 2 * pairs * columns;
  kernel.bytes = sequences * length * double(op.indexDim) * op.cacheBytes +
                 rows * columns * op.activationBytes + 8 * pairs;
  if (context.isPrefill())
    kernel.prompt = double(context.workload.context);
  else
    kernel.queries = context.queries;
  cost.kernels.push_back(kernel);
}

/// Absorbed: the query goes to the latent space, attends there, comes back.
static void addDecodeKernels(const MlaAttention &op, double sequences,
                             double localHeads, const Context &context,
                             OpCost &cost) {
  double rk = double(op.latent);
  double dn = double(op.nope);
  double dr = double(op.rope);
  double dv = double(op.value);
  double seen = double(context.attendedLength());
  double length = readOf(op, seen);

  Kernel attention;
  attention.kind = KernelKind::Attention;
  attention.rows = sequences;
  attention.k = length;
  attention.n = rk + dr;
  attention.count = localHeads;
  attention.cacheBytes = op.cacheBytes;
  attention.activationBytes = op.activationBytes;
  attention.latent = true;
  double tokens = sequences * context.queries;
  attention.queries = context.queries;
  attention.flops = 2 * tokens * length * localHeads * (2 * rk + dr);
  attention.bytes = sequences * length * (rk + dr) * op.cacheBytes +
                    tokens * localHeads * (2 * rk + dr) * op.activationBytes;
  cost.kernels = {batchedGemm(op, tokens, localHeads, dn, rk),
                  batchedGemm(op, tokens, localHeads, rk, dv), attention};
  addIndexer(op, sequences, tokens, seen, tokens * seen, context, cost);
}

/// The same where cp ranks share the positions: each attends to its own with
/// the absorbed queries of all of them.
static void addSharedDecode(const MlaAttention &op, double sequences,
                            double localHeads, const Context &context,
                            OpCost &cost) {
  auto cp = double(context.degrees.cp);
  double rk = double(op.latent);
  double dr = double(op.rope);
  double all = std::min(double(op.heads), cp * localHeads);
  double length = double(context.attendedLength()) / cp;

  addDecodeKernels(op, sequences, localHeads, context, cost);
  Kernel &attention = cost.kernels[2];
  attention.k = length;
  attention.count = all;
  double tokens = sequences * context.queries;
  attention.flops = 2 * tokens * length * all * (2 * rk + dr);
  attention.bytes = sequences * length * (rk + dr) * op.cacheBytes +
                    tokens * all * (2 * rk + dr) * op.activationBytes;
  cost.collectives.push_back(
      {CollectiveKind::AllGather, Axis::Cp,
       sequences * cp * localHeads * (rk + dr) * op.activationBytes,
       "queries"});
  addMerge(sequences, localHeads, rk, op.activationBytes, context, cost);
}

/// Absorbed, as in decode: tokens that read different positions share none.
static void addSparsePrefill(const MlaAttention &op, double sequences,
                             double localHeads, const Context &context,
                             OpCost &cost) {
  double rk = double(op.latent);
  double dn = double(op.nope);
  double dr = double(op.rope);
  double dv = double(op.value);
  double prompt = double(context.workload.context);
  double read = double(op.indexTopk);
  double tokens = sequences * prompt;
  double pairs = sequences * (prompt * read - read * read / 2);

  Kernel attention;
  attention.kind = KernelKind::Attention;
  attention.rows = sequences;
  attention.k = read;
  attention.n = rk + dr;
  attention.prompt = prompt;
  attention.count = localHeads;
  attention.cacheBytes = op.cacheBytes;
  attention.activationBytes = op.activationBytes;
  attention.latent = true;
  attention.flops = 2 * pairs * localHeads * (2 * rk + dr);
  attention.bytes = pairs * (rk + dr) * op.cacheBytes +
                    tokens * localHeads * (2 * rk + dr) * op.activationBytes;
  cost.kernels = {batchedGemm(op, tokens, localHeads, dn, rk),
                  batchedGemm(op, tokens, localHeads, rk, dv), attention};
}

/// Expanded: keys and values of all tokens, those of `expanded` sequences, are
/// made from the latent.
static void addPrefillKernels(const MlaAttention &op, double sequences,
                              double expanded, double localHeads,
                              const Context &context, OpCost &cost) {
  double rk = double(op.latent);
  double dn = double(op.nope);
  double dr = double(op.rope);
  double dv = double(op.value);
  double prompt = double(context.workload.context);
  double length = double(context.attendedLength());
  double tokens = sequences * prompt, keys = expanded * prompt;

  Kernel attention;
  attention.kind = KernelKind::Attention;
  attention.rows = sequences;
  attention.k = length;
  attention.n = dn + dr;
  attention.prompt = prompt;
  attention.count = localHeads;
  attention.cacheBytes = op.cacheBytes;
  attention.activationBytes = op.activationBytes;
  attention.latent = true;
  attention.rows *= 1 + context.cached;
  attention.flops =
      2 * attention.rows * causalPairs(context) * localHeads * (dn + dr + dv);
  attention.bytes = tokens * (2 * localHeads * (dn + dr + dv) + rk + dr) *
                        op.activationBytes +
                    (keys - tokens) * (localHeads * (dn + dr + dv) + rk + dr) *
                        op.activationBytes;
  cost.kernels = {gemm(keys, rk, localHeads * (dn + dv),
                       localHeads * rk * (dn + dv) * bytesPerWeight(op.weights),
                       op.weights, op.activationBytes),
                  attention};
}

/// The norm of the latent, and the rotation and the write of the cache.
static void addPasses(const MlaAttention &op, const Context &context,
                      OpCost &cost) {
  double bytes =
      2 * op.activationBytes * context.rows * double(op.latent + op.rope);
  cost.passes = {{Pass::Kind::Norm, bytes}, {Pass::Kind::Rotation, bytes}};
}

OpCost MlaAttention::cost(Dim dim, Span<const Placement> incoming,
                          const Context &context) const {
  double b = context.sequences;
  double heldSequences = double(context.groupBatch);
  double sequences = b, expanded = b;
  double ownHeads = double(heads);
  if (dim == Dim::Zero) {
    ownHeads = double(localHeads(heads, context.degrees.tp));
  } else if (cutsPositions(context)) {
    sequences = b / double(context.degrees.cp);
  } else if (sequenceLayout(incoming[0].layout, context) == Layout::T) {
    sequences = expanded = context.localRows(Layout::T, b);
    heldSequences = double(context.microBatches) * sequences;
  }

  OpCost cost;
  addPasses(*this, context, cost);
  double seen = double(context.attendedLength());
  if (context.isPrefill() && readOf(*this, seen) < seen)
    addSparsePrefill(*this, sequences, ownHeads, context, cost);
  else if (context.isPrefill())
    addPrefillKernels(*this, sequences, expanded, ownHeads, context, cost);
  else if (context.degrees.cp > 1)
    addSharedDecode(*this, sequences, ownHeads, context, cost);
  else
    addDecodeKernels(*this, sequences, ownHeads, context, cost);
  if (context.isPrefill())
    addIndexer(*this, sequences, sequences * double(context.workload.context),
               seen, sequences * causalPairs(context), context, cost);
  cost.weightBytes =
      ownHeads * double(latent * (nope + value)) * bytesPerWeight(weights);
  cost.cacheBytes =
      heldSequences * seen * double(latent + rope + indexDim) * cacheBytes;
  if (context.degrees.cp > 1)
    cost.cacheBytes /= double(context.degrees.cp);
  return cost;
}
