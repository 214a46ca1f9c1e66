//===- QuickBound.cpp - Bounds without a trellis --------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Dims/QuickBound.h"

#include "DimFrames.h"
#include "shardopt/Cost/Tables/BalancedCut.h"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>

using namespace shardopt;
using namespace shardopt::cost;

static constexpr double unbounded = std::numeric_limits<double>::infinity();

/// The layouts that an operand of some op can come in, over `grid`.
static Span<const Layout> layoutsOn(const StageGrid &grid) {
  bool isCutOverQ = grid.q() > 1 && grid.c() > 1;
  return {allLayouts, isCutOverQ ? numLayouts : numWholeLayouts};
}

/// What a kernel takes time for: all that it has.
static auto timedOf(const Kernel &kernel) {
  const auto &[kind, rows, k, n, count, weights, flops, bytes, launch, kvHeads,
               cacheBytes, activationBytes, prompt, window, queries, latent,
               held, groups, visited, gates, inExperts, sharesRows] = kernel;
  return std::tie(kind, rows, k, n, count, weights, flops, bytes, launch,
                  kvHeads, cacheBytes, activationBytes, prompt, window, queries,
                  latent, held, groups, visited, gates, inExperts, sharesRows);
}
static auto timedOf(const Pass &pass) {
  return std::tie(pass.kind, pass.bytes);
}
static auto timedOf(const Collective &collective) {
  return std::tie(collective.kind, collective.axis, collective.bytes);
}

template <typename List> static bool takeTheSame(const List &a, const List &b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(),
      [](const auto &x, const auto &y) { return timedOf(x) == timedOf(y); });
}

namespace {
/// The least of an op with one dim, to which layouts of its operands are added:
/// many of them cost the same, which is timed once.
class LeastOfLayouts {
public:
  LeastOfLayouts(const OpModel &op, Dim dim, const Context &context,
                 const TimeModel &time)
      : op(op), dim(dim), context(context), time(time) {}

  void add(Span<const Placement> incoming);

  LeastCost least{unbounded, unbounded};

private:
  const OpModel &op;
  const Dim dim;
  const Context &context;
  const TimeModel &time;
  std::optional<OpCost> last;
};
} // namespace

void LeastOfLayouts::add(Span<const Placement> incoming) {
  if (!op.rule(dim, incoming, context).isLegal())
    return;
  OpCost cost = op.cost(dim, incoming, context);
  if (!last || !takeTheSame(last->kernels, cost.kernels) ||
      !takeTheSame(last->passes, cost.passes) ||
      !takeTheSame(last->collectives, cost.collectives))
    least.seconds =
        std::min(least.seconds, time.seconds(cost, context.degrees));
  least.bytes = std::min(least.bytes, cost.weightBytes + cost.cacheBytes);
  last = std::move(cost);
}

/// Adds all layouts of the operands from `next` on to those before it.
static void addLayouts(Span<Placement> incoming, size_t next,
                       const Context &context, LeastOfLayouts &found) {
  if (next == incoming.size()) {
    found.add({incoming.data(), incoming.size()});
    return;
  }
  for (Layout layout : layoutsOn(context.grid)) {
    incoming[next].layout = layout;
    addLayouts(incoming, next + 1, context, found);
  }
}

/// The least of `op` with `dim` over all layouts of its operands.
static LeastCost leastOf(const OpModel &op, Dim dim, size_t numOperands,
                         const Context &context, const TimeModel &time) {
  LeastOfLayouts found(op, dim, context, time);
  // What rows weigh does not matter to what is not resharded.
  std::array<Placement, maxOperands> incoming;
  addLayouts({incoming.data(), numOperands}, 0, context, found);
  return found.least;
}

/// The same over the dims in `domain`; those that are not in `costs` are added.
static LeastCost leastOf(const OpModel &op, DimSet domain, size_t numOperands,
                         const Context &context, const TimeModel &time,
                         LeastCosts &costs) {
  LeastCost least{unbounded, unbounded};
  for (const DimChoice &choice : op.choices()) {
    if (!contains(domain, choice.dim))
      continue;
    LeastCost &ofDim = costs.dims[size_t(choice.dim)];
    if (!contains(costs.known, choice.dim)) {
      ofDim = leastOf(op, choice.dim, numOperands, context, time);
      costs.known |= only(choice.dim);
    }
    least.seconds = std::min(least.seconds, ofDim.seconds);
    least.bytes = std::min(least.bytes, ofDim.bytes);
  }
  return least;
}

/// The balanced cut of layers that take and hold the least of their kind.
static StageCut balance(const CostModel &costs, const Context &context,
                        const std::vector<LeastCost> &kinds,
                        const LeastCost &embed, const LeastCost &head) {
  int64_t numLayers = costs.layers().numLayers();
  LayerChain chain(numLayers);
  double sum = embed.seconds + head.seconds;
  for (int64_t i = 0; i < numLayers; ++i) {
    const LeastCost &kind = kinds[costs.layers().kindNumberOfLayer(i)];
    chain.seconds[i] = kind.seconds;
    chain.bytes[i] = kind.bytes;
    sum += kind.seconds;
  }
  chain.embedSeconds = embed.seconds;
  chain.embedBytes = embed.bytes;
  chain.headSeconds = head.seconds;
  chain.headBytes = head.bytes;
  if (!(sum < unbounded))
    return evenCut(numLayers, context.degrees.pp);
  return balancedCut(chain, context, costs.limits());
}

/// How many ops at the beginning of a layer are not of experts.
static size_t numFirst(const Body &body) {
  auto isOfExperts = [](const Node &node) {
    return node.op->reads() != Reads::Rows &&
           node.op->reads() != Reads::Sequences;
  };
  return size_t(
      std::find_if(body.nodes.begin(), body.nodes.end(), isOfExperts) -
      body.nodes.begin());
}

namespace {
/// The least that ops of one request take and hold.
class Leasts {
public:
  Leasts(const CostModel &costs, const TableRequest &request)
      : costs(costs), request(request) {}

  LeastCost ofOp(const Node &node, size_t numOperands, const Context &context);
  LeastCost ofLayer(unsigned kind);

private:
  /// Ops that have one key together, at most.
  static constexpr size_t mostOfRun = 64;

  std::optional<Reads> readsOf(const Body &body, size_t first,
                               size_t last) const;
  uint32_t numberOf(unsigned kind, size_t first, size_t last);
  LeastCost ofRun(unsigned kind, size_t first, size_t last,
                  const Context &context);
  double walked(unsigned kind, size_t numNodes, const Context &context);

  const CostModel &costs;
  const TableRequest &request;
};
} // namespace

LeastCost Leasts::ofOp(const Node &node, size_t numOperands,
                       const Context &context) {
  std::optional<OpKey> key =
      request.shared ? OpKey::of(node, context) : std::nullopt;
  LeastCosts own;
  return leastOf(*node.op, request.domains[node.variable], numOperands, context,
                 costs.time(), key ? request.shared->leasts(*key) : own);
}

/// What ops from number `first` to `last` of a body read, where one key has all
/// of it, and it is shared.
std::optional<Reads> Leasts::readsOf(const Body &body, size_t first,
                                     size_t last) const {
  if (!request.shared || first == last || last - first > mostOfRun)
    return std::nullopt;
  Reads all = Reads::Rows;
  for (size_t i = first; i < last; ++i) {
    Reads reads = body.nodes[i].op->reads();
    if (reads == Reads::Rows || reads == all)
      continue;
    if (reads == Reads::Everything || all != Reads::Rows)
      return std::nullopt;
    all = reads;
  }
  return all;
}

/// Of ops from number `first` to `last` of a layer of kind `kind`: what is
/// shared of runs of them is looked up once for all.
LeastCost Leasts::ofRun(unsigned kind, size_t first, size_t last,
                        const Context &context) {
  const Body &body = costs.model().bodies[costs.layers().kinds()[kind].body];
  LeastSum own, *found = &own;
  if (std::optional<Reads> reads = readsOf(body, first, last))
    found = &request.shared->sums(
        OpKey::ofRun(numberOf(kind, first, last), *reads, context));
  if (found->isKnown())
    return found->sum;
  LeastCost sum{0, 0};
  for (size_t i = first; i < last; ++i) {
    const Node &node = body.nodes[i];
    LeastCost op = ofOp(node, node.operands.size(), context);
    sum.seconds += op.seconds;
    sum.bytes += op.bytes;
  }
  return found->sum = sum;
}

uint32_t Leasts::numberOf(unsigned kind, size_t first, size_t last) {
  const Body &body = costs.model().bodies[costs.layers().kinds()[kind].body];
  InlineVector<DimSet, mostOfRun> domains;
  for (size_t i = first; i < last; ++i)
    domains.push_back(request.domains[body.nodes[i].variable]);
  return request.shared->numberOf(kind, unsigned(first), domains);
}

/// A bound of the seconds of the first ops: those of a walk, which pays for
/// what it reshards. That is little in decode, compared with weights and
/// caches: 0 there, as without trellises, or if there are more ops than a key
/// can tell.
double Leasts::walked(unsigned kind, size_t numNodes, const Context &context) {
  if (!context.isPrefill() || !request.shared || !costs.hasTrellises() ||
      numNodes > mostOfRun)
    return 0;
  // Seconds are those of a micro-batch: how many there are is for bytes alone.
  Context one = context;
  one.groupBatch = one.microBatches = 1;
  double &walked = request.shared
                       ->sums(OpKey::ofRun(numberOf(kind, 0, numNodes),
                                           Reads::Sequences, one))
                       .walked;
  if (walked < 0)
    walked = leastSecondsOfFirst(costs, kind, numNodes, request);
  return walked;
}

LeastCost Leasts::ofLayer(unsigned kind) {
  const LayerKind &layer = costs.layers().kinds()[kind];
  const Body &body = costs.model().bodies[layer.body];
  Context context = costs.context(request.degrees, layer, request.range);
  size_t numOfFirst = numFirst(body);
  LeastCost first = ofRun(kind, 0, numOfFirst, context);
  LeastCost rest = ofRun(kind, numOfFirst, body.nodes.size(), context);
  return {rest.seconds +
              std::max(first.seconds, walked(kind, numOfFirst, context)),
          first.bytes + rest.bytes};
}

DimsBound cost::boundQuickly(const CostModel &costs,
                             const TableRequest &request, Goal goal,
                             bool walksLayers) {
  DimsBound result;
  result.infeasible = Reason::Structural;
  if (!costs.fits(request.degrees))
    return result;
  if (request.shared)
    request.shared->makeRoom();
  const Model &model = costs.model();
  Context outer = costs.context(request.degrees, request.range);
  Leasts leasts(costs, request);
  std::vector<LeastCost> kinds;
  for (unsigned kind = 0; kind < costs.layers().kinds().size(); ++kind) {
    kinds.push_back(leasts.ofLayer(kind));
    unsigned body = costs.layers().kinds()[kind].body;
    if (walksLayers && costs.hasTrellis(body))
      kinds.back().seconds =
          std::max(kinds.back().seconds,
                   leastSecondsOfFirst(
                       costs, kind, model.bodies[body].nodes.size(), request));
  }
  LeastCost embed = leasts.ofOp(model.embed, 0, outer);
  LeastCost head = leasts.ofOp(model.head, 1, outer);

  Degrees degrees = request.degrees;
  if (costs.balancesStages(degrees))
    degrees.stages = balance(costs, outer, kinds, embed, head);
  Pipeline pipeline;
  for (const Stage &stage : costs.layers().stages(degrees)) {
    LeastCost sum{0, 0};
    for (size_t kind = 0; kind < kinds.size(); ++kind) {
      if (!stage.kinds[kind])
        continue;
      auto layers = double(stage.kinds[kind]);
      sum.seconds += layers * kinds[kind].seconds;
      sum.bytes += layers * kinds[kind].bytes;
    }
    if (stage.isFirst) {
      sum.seconds += embed.seconds;
      sum.bytes += embed.bytes;
    }
    if (stage.isLast) {
      sum.seconds += head.seconds;
      // The table may be that of the embedding.
      sum.bytes += stage.isFirst && model.tiedEmbeddings ? 0 : head.bytes;
    }
    pipeline.addStages(stage.repeats, sum.seconds, sum.bytes);
  }
  if (!(pipeline.sumSeconds < unbounded))
    return result;
  result.leastBytes = pipeline.maxBytes;
  result.infeasible = violatedLimit(pipeline, outer, costs.limits());
  double score = scoreOf(pipeline, outer, costs.limits(), goal);
  result.value = goal == Goal::Throughput ? score : -score;
  return result;
}
