//===- LayerTimes.cpp - What layers take in a step ------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Serving/LayerTimes.h"

#include "shardopt/Cost/LayerWalk.h"
#include "shardopt/Support/Hash.h"

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace shardopt;
using namespace shardopt::cost;

void StepTerms::add(const StepTerms &other, double times) {
  gemm += times * other.gemm;
  attention += times * other.attention;
  elementwise += times * other.elementwise;
  experts += times * other.experts;
  collectives += times * other.collectives;
}

void LayerTimes::add(const Charges &charges, StepTerms &to) {
  for (const auto &[term, seconds] : charges)
    to.*term += seconds;
}

/// The term that counts kernels of `kind`.
static double StepTerms::*termOf(KernelKind kind) {
  switch (kind) {
  case KernelKind::Gemm:
    return &StepTerms::gemm;
  case KernelKind::GroupedGemm:
    return &StepTerms::experts;
  case KernelKind::Attention:
  case KernelKind::BatchedGemm:
  case KernelKind::Ranking:
    return &StepTerms::attention;
  case KernelKind::Memory:
    break;
  }
  return &StepTerms::elementwise;
}

static void charge(StepTerms &to, double StepTerms::*term, double seconds) {
  to.*term += seconds;
}
static void charge(LayerTimes::Charges &to, double StepTerms::*term,
                   double seconds) {
  to.emplace_back(term, seconds);
}

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

/// What ops see: the rows of both parts, or for ops that tell sequences apart
/// each part alone.
struct LayerTimes::Contexts {
  Context rows, decode, prompt;
};

/// Prompts that end in a step, whose next token is chosen.
static double endedPrompts(const StepMix &mix) {
  return mix.tokens > 0 ? std::max(1.0, mix.tokens / mix.prompt) : 0;
}

LayerTimes::Contexts LayerTimes::contexts(const StepMix &mix,
                                          const LayerKind *kind) const {
  const Degrees &degrees = strategy.degrees;
  auto seen = std::max<int64_t>(1, std::llround(mix.context));
  Contexts all;
  Context &rows = all.rows;
  rows = makeContext({Phase::Decode, seen}, degrees);
  rows.rows = mix.decoded() + mix.tokens;
  rows.sequences = mix.decoded() + endedPrompts(mix);
  rows.wholeSequences = mix.tokens <= 0;
  rows.routing.copies = rows.routing.meanCopies = rows.rows;
  if (kind) {
    rows.window = kind->window;
    const Body &body = model.model().bodies[kind->body];
    if (body.experts && placements)
      rows.routing = placements->of(body.experts, body.topK, degrees)
                         .route(rows.rows * double(degrees.dp));
    else if (body.experts)
      rows.routing = makeRouting(body.experts, body.topK, rows.rows, degrees,
                                 skew, reach, deviations);
  }
  all.decode = rows;
  all.decode.rows = mix.decoded();
  all.decode.sequences = mix.sequences;
  all.decode.queries = 1 + mix.drafts;
  all.prompt = rows;
  all.prompt.workload = {Phase::Prefill,
                         std::max<int64_t>(1, std::llround(mix.prompt))};
  all.prompt.rows = mix.tokens;
  all.prompt.sequences = mix.tokens / mix.prompt;
  all.prompt.cached = mix.cached;
  return all;
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

/// Kernels of prompts alone send a token to each node once, and its domain
/// passes it on (DeepEP's normal kernels; of k experts on n nodes it reaches as
/// many as independent ones do). Those of few tokens send each copy.
double LayerTimes::sentShare(const StepMix &mix, const Body &body) const {
  const Degrees &degrees = strategy.degrees;
  if (!body.experts || degrees.gathers() || mix.sequences > 0 || domain < 1)
    return 1;
  AxisGroup along = groupOf(Axis::Ep, degrees);
  int64_t inside = std::clamp<int64_t>(domain / along.stride, 1, along.size);
  double nodes = double(along.size) / double(inside);
  auto k = double(body.topK);
  return nodes > 1 ? nodes * (1 - std::pow(1 - 1 / nodes, k)) / k : 1;
}

template <typename Sink>
void LayerTimes::add(const OpCost &cost, Sink &to) const {
  const TimeModel &time = model.time();
  for (const Kernel &kernel : cost.kernels)
    charge(to, termOf(kernel.kind), time.seconds(kernel));
  for (const Pass &pass : cost.passes)
    charge(to, &StepTerms::elementwise, time.seconds(pass));
  for (const Collective &collective : cost.collectives)
    charge(to, &StepTerms::collectives,
           time.seconds(collective, strategy.degrees));
}

template <typename Sink>
void LayerTimes::add(const Reshard &steps, Sink &to) const {
  for (const Collective &step : steps)
    charge(to, &StepTerms::collectives,
           model.time().seconds(step, strategy.degrees));
}

/// Both costs are of one op, whose passes and collectives are over all rows.
static OpCost together(OpCost cost, const OpCost &other) {
  for (size_t i = 0; i < other.passes.size(); ++i)
    if (i < cost.passes.size())
      cost.passes[i].bytes += other.passes[i].bytes;
    else
      cost.passes.push_back(other.passes[i]);
  for (const Collective &more : other.collectives) {
    auto *same = std::find_if(cost.collectives.begin(), cost.collectives.end(),
                              [&](const Collective &known) {
                                return known.kind == more.kind &&
                                       known.axis == more.axis;
                              });
    if (same != cost.collectives.end())
      same->bytes += more.bytes;
    else
      cost.collectives.push_back(more);
  }
  return cost;
}

struct LayerTimes::Visitor {
  struct NoHandle {};

  const LayerTimes &times;
  const Contexts &seen;
  StepTerms &terms;
  Exchange &exchange;
  double sent; ///< share of the exchange

  /// A product of the layer, which others of its rows run with.
  struct Product {
    ValueId operand;
    Kernel kernel;
  };
  InlineVector<Product, 16> products = {};

  void begin(const WalkedOp &op) {
    const OpModel &model = *op.node.op;
    if (model.reads() != Reads::Sequences) {
      OpCost cost = model.cost(op.dim, op.incoming, seen.rows);
      if (sent < 1)
        for (Collective &collective : cost.collectives)
          if (isExchange(collective))
            collective.bytes *= sent;
      times.add(cost, terms);
      join(op, cost);
      sendOver(cost);
      return;
    }
    bool decodes = seen.decode.sequences > 0;
    bool reads = seen.prompt.rows > 0;
    OpCost prompts;
    if (reads)
      prompts = model.cost(op.dim, op.incoming, seen.prompt);
    if (!decodes) {
      times.add(prompts, terms);
      return;
    }
    OpCost decoded = model.cost(op.dim, op.incoming, seen.decode);
    if (reads)
      for (const Kernel &kernel : prompts.kernels)
        charge(terms, termOf(kernel.kind), times.model.time().seconds(kernel));
    times.add(reads ? together(decoded, prompts) : decoded, terms);
  }

  static bool isExchange(const Collective &collective) {
    return collective.kind == CollectiveKind::AllToAll &&
           collective.axis == Axis::Ep;
  }

  /// Tells the way to the experts and back from what is around it.
  void sendOver(const OpCost &cost) {
    StepTerms sent;
    for (const Collective &collective : cost.collectives)
      if (isExchange(collective))
        times.add(Reshard{collective}, sent);
    if (sent.sum() <= 0)
      return;
    if (exchange.dispatch <= 0) {
      exchange.dispatch = sent.sum();
      exchange.experts = -terms.sum();
    } else {
      exchange.combine = sent.sum();
      exchange.experts += terms.sum() - sent.sum();
    }
  }

  /// Takes what a product saves that runs with one before.
  void join(const WalkedOp &op, const OpCost &cost) {
    const TimeModel &time = times.model.time();
    const Kernel &kernel = cost.kernels[0];
    if (!time.multipliesAtOnce() || !kernel.sharesRows)
      return;
    ValueId operand = op.node.operands[0];
    for (Product &known : products) {
      Kernel &both = known.kernel;
      if (known.operand != operand || both.rows != kernel.rows ||
          both.k != kernel.k || both.weights != kernel.weights)
        continue;
      double apart = time.seconds(both) + time.seconds(kernel);
      both.n += kernel.n;
      both.flops += kernel.flops;
      both.bytes += kernel.bytes;
      terms.gemm += time.seconds(both) - apart;
      return;
    }
    if (products.size() < 16)
      products.push_back({operand, kernel});
  }

  NoHandle reshard(const WalkedOp &, unsigned, NoHandle, const Reshard &steps) {
    times.add(steps, terms);
    return {};
  }
  NoHandle run(const WalkedOp &) { return {}; }
};

template <typename Sink>
void LayerTimes::leave(const LayerExit &end, Layout to, const Context &context,
                       Sink &all) const {
  double rowBytes = model.model().rowBytes, rows = context.rows;
  LayerExit::Moves moves = end.into(to);
  for (Layout from : moves.sources)
    add(reshardCollectives(from, to, rows, rowBytes, strategy.degrees,
                           Axis::Tp),
        all);
  for (Layout join : moves.joins)
    charge(all, &StepTerms::elementwise,
           model.time().seconds(joinKernel(join, rows, rowBytes, context)));
}

LayerTimes::Step LayerTimes::make(const StepMix &mix) const {
  const LayerIndex &index = model.layers();
  const Model &program = model.model();
  LayerWalk<Visitor::NoHandle> walk(model, strategy);
  Step step;
  std::vector<LayerExit> exits;
  for (const LayerKind &kind : index.kinds()) {
    Contexts seen = contexts(mix, &kind);
    StepTerms terms;
    Exchange exchange;
    Visitor visitor{*this, seen, terms, exchange,
                    sentShare(mix, program.bodies[kind.body])};
    if (!walk.walk(kind.body, seen.rows, {}, visitor))
      return {};
    exits.push_back(walk.exit());
    step.kinds.push_back(terms);
    step.exchanges.push_back(exchange);
  }
  auto exitOf = [&](unsigned body) -> const LayerExit & {
    for (size_t i = 0; i < exits.size(); ++i)
      if (index.kinds()[i].body == body)
        return exits[i];
    return exits.front();
  };

  Context outer = contexts(mix, nullptr).rows;
  for (const Transition &transition : index.transitions()) {
    StepTerms one;
    leave(exitOf(transition.body), entering(transition.next), outer, one);
    step.transitions.push_back(one);
  }
  const Node &embed = program.embed;
  Dim embedDim = walk.dimOf(embed);
  Placement made = embed.op->rule(embedDim, {}, outer).results[0].placement;
  add(embed.op->cost(embedDim, {}, outer), step.embed);
  add(reshardCollectives(made.layout, entering(index.firstBody()), outer.rows,
                         made.rowBytes, strategy.degrees, made.over),
      step.embed);
  const Node &head = program.head;
  Dim headDim = walk.dimOf(head);
  const LayerExit &end = exitOf(index.lastBody());
  Placement incoming{end.outputLayout(), program.rowBytes};
  Span<const Placement> operands(&incoming, 1);
  Rule rule = head.op->rule(headDim, operands, outer);
  Context left = outer;
  left.rows = rule.operands[0].rows;
  leave(end, rule.operands[0].required.layout, left, step.head);
  add(head.op->cost(headDim, operands, outer), step.head);
  if (!drafter.isNone() && mix.drafts > 0)
    step.drafts = draftsBehind(step, mix);
  return step;
}

//===----------------------------------------------------------------------===//
// Drafts
//===----------------------------------------------------------------------===//

/// Of a projection from two rows to one, or of a dense head.
static constexpr double draftBytes = 2;

void LayerTimes::addHead(double rows, StepTerms &to) const {
  const TimeModel &time = model.time();
  const Degrees &degrees = strategy.degrees;
  double rowBytes = model.model().rowBytes, hidden = rowBytes / draftBytes;
  if (drafter.layers > 0) {
    to.gemm += time.seconds(gemm(rows, 2 * hidden, hidden,
                                 2 * hidden * hidden * draftBytes,
                                 WeightType::Bf16, draftBytes));
    return;
  }
  double held = drafter.parameters / double(degrees.tp);
  to.gemm += time.seconds(gemm(rows, hidden, held / hidden, held * draftBytes,
                               WeightType::Bf16, draftBytes));
  Collective sum{CollectiveKind::AllReduce, Axis::Tp, rows * rowBytes};
  to.collectives += 2 * time.seconds(sum, degrees);
}

/// The first pass has the rows of the step, whose tokens it caches, and the
/// others one row of each sequence. The head of the model picks every token.
StepTerms LayerTimes::draftsBehind(const Step &step, const StepMix &mix) const {
  StepMix one;
  one.sequences = mix.sequences + endedPrompts(mix);
  one.context = mix.context;
  StepTerms terms;
  addHead(mix.rows(), terms);
  for (double pass = 1; pass < mix.drafts; ++pass)
    addHead(one.sequences, terms);
  if (drafter.layers <= 0)
    return terms;
  const LayerIndex &index = model.layers();
  size_t last = index.kindNumberOfLayer(index.numLayers() - 1);
  const Step &next = at(one);
  terms.add(step.kinds[last], 1);
  terms.add(next.kinds[last], std::max(0.0, mix.drafts - 1));
  for (double pass = 0; pass < mix.drafts; ++pass) {
    add(next.embed, terms);
    add(next.head, terms);
  }
  return terms;
}

size_t
LayerTimes::MixHash::operator()(const std::array<double, 6> &fields) const {
  WordHash hash;
  for (double field : fields) {
    uint64_t bits;
    std::memcpy(&bits, &field, sizeof(bits));
    hash.add(bits);
  }
  return hash.value();
}

const LayerTimes::Step &LayerTimes::at(const StepMix &mix) const {
  // Neighbours in a search ask for the same; what was long ago is not asked
  // for.
  constexpr size_t mostKnown = 64;
  auto found = known.find(mix.fields());
  if (found != known.end())
    return found->second;
  if (known.size() >= mostKnown)
    known.clear();
  return known.emplace(mix.fields(), make(mix)).first->second;
}

LayerTimes::LayerTimes(const CostModel &costs, Strategy given,
                       std::optional<double> skew, double reach, double spread,
                       const DraftHead &drafter,
                       std::shared_ptr<ExpertPlacements> placements,
                       int64_t domain)
    : model(costs), strategy(std::move(given)), skew(skew), reach(reach),
      deviations(spread * deviationsOfLargest(double(strategy.degrees.ep))),
      drafter(drafter), placements(std::move(placements)), domain(domain) {
  Degrees &degrees = strategy.degrees;
  degrees.pp = 1;
  degrees.stages = {};
  degrees.batch = degrees.dp;
  LayerWalk<Visitor::NoHandle> walk(model, strategy);
  for (unsigned body = 0; body < costs.model().bodies.size(); ++body)
    anchors.push_back(walk.entering(body).layout);
  legal = !at({1, 1}).kinds.empty();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

namespace {
/// What a walk needs to sum bytes.
struct MemoryVisitor {
  struct NoHandle {};
  const Context &context;
  StageMemory memory = {};

  void begin(const WalkedOp &op) {
    OpCost cost = op.node.op->cost(op.dim, op.incoming, context);
    memory.weights += cost.weightBytes;
    memory.cache += cost.cacheBytes;
  }
  NoHandle reshard(const WalkedOp &, unsigned, NoHandle, const Reshard &) {
    return {};
  }
  NoHandle run(const WalkedOp &) { return {}; }
};
} // namespace

LayerTimes::Bytes LayerTimes::sum(double context) const {
  const Model &program = model.model();
  LayerWalk<MemoryVisitor::NoHandle> walk(model, strategy);
  StepMix one;
  one.sequences = 1;
  one.context = context;
  Bytes bytes;
  for (const LayerKind &kind : model.layers().kinds()) {
    Context seen = contexts(one, &kind).decode;
    MemoryVisitor visitor{seen};
    if (!walk.walk(kind.body, seen, {}, visitor))
      return {};
    bytes.kinds.push_back(visitor.memory);
  }
  Context outer = contexts(one, nullptr).rows;
  Dim embed = walk.dimOf(program.embed), head = walk.dimOf(program.head);
  Placement incoming{Layout::R, program.rowBytes};
  bytes.embed = program.embed.op->cost(embed, {}, outer).weightBytes;
  bytes.head =
      program.head.op->cost(head, Span<const Placement>(&incoming, 1), outer)
          .weightBytes;
  bytes.isShared = program.sharesTable(embed, head);
  if (drafter.isNone())
    return bytes;
  const LayerIndex &index = model.layers();
  const StageMemory &layer =
      bytes.kinds[index.kindNumberOfLayer(index.numLayers() - 1)];
  double hidden = program.rowBytes / draftBytes;
  double each = layer.weights + 2 * hidden * hidden * draftBytes;
  bytes.drafts.weights = drafter.layers > 0 ? drafter.layers * each
                                            : drafter.parameters * draftBytes /
                                                  double(strategy.degrees.tp);
  bytes.drafts.cache = std::max(1.0, drafter.layers) * layer.cache;
  return bytes;
}

const LayerTimes::Bytes &LayerTimes::memory(double context) const {
  constexpr size_t mostKnown = 8;
  for (const auto &[length, bytes] : knownBytes)
    if (length == context)
      return bytes;
  if (knownBytes.size() >= mostKnown)
    knownBytes.clear();
  knownBytes.emplace_back(context, sum(context));
  return knownBytes.back().second;
}
