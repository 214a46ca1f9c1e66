//===- StepTimes.cpp - What steps of an engine take -----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/StepTimes.h"

#include "shardopt/Cost/LayerWalk.h"

#include <algorithm>
#include <cmath>

using namespace shardopt;
using namespace shardopt::cost;

void StepTerms::add(const StepTerms &other, double times) {
  gemm += times * other.gemm;
  attention += times * other.attention;
  elementwise += times * other.elementwise;
  experts += times * other.experts;
  collectives += times * other.collectives;
}

/// The term that counts `kernel`.
static double &termOf(const Kernel &kernel, StepTerms &terms) {
  switch (kernel.kind) {
  case KernelKind::Gemm:
    return terms.gemm;
  case KernelKind::GroupedGemm:
    return terms.experts;
  case KernelKind::Attention:
  case KernelKind::BatchedGemm:
  case KernelKind::Ranking:
    return terms.attention;
  case KernelKind::Memory:
    break;
  }
  return terms.elementwise;
}

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

/// What ops see: the rows of both parts, or for ops that tell sequences apart
/// each part alone.
struct StepTimes::Contexts {
  Context rows, decode, prompt;
};

StepTimes::Contexts StepTimes::contexts(const StepMix &mix,
                                        const LayerKind *kind) const {
  const Degrees &degrees = strategy.degrees;
  const auto seen = std::max<int64_t>(1, std::llround(mix.context));
  Contexts all;
  Context &rows = all.rows;
  rows = makeContext({Phase::Decode, seen}, degrees);
  rows.rows = mix.decoded() + mix.tokens;
  // Whose next token is chosen.
  const double ended =
      mix.tokens > 0 ? std::max(1.0, mix.tokens / mix.prompt) : 0;
  rows.sequences = mix.decoded() + ended;
  rows.wholeSequences = mix.tokens <= 0;
  rows.routing.copies = rows.routing.meanCopies = rows.rows;
  if (kind) {
    rows.window = kind->window;
    const Body &body = model.model().bodies[kind->body];
    if (body.experts)
      rows.routing = makeRouting(body.experts, body.topK, rows.rows, degrees.dp,
                                 degrees.ep, skew, reach, deviations);
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

void StepTimes::add(const OpCost &cost, StepTerms &to) const {
  const TimeModel &time = model.time();
  for (const Kernel &kernel : cost.kernels)
    termOf(kernel, to) += time.seconds(kernel);
  for (const Pass &pass : cost.passes)
    to.elementwise += time.seconds(pass);
  for (const Collective &collective : cost.collectives)
    to.collectives += time.seconds(collective, strategy.degrees);
}

void StepTimes::add(const Reshard &steps, StepTerms &to) const {
  for (const Collective &step : steps)
    to.collectives += model.time().seconds(step, strategy.degrees);
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

struct StepTimes::Visitor {
  struct NoHandle {};

  const StepTimes &times;
  const Contexts &seen;
  StepTerms &terms;

  /// A product of the layer, which others of its rows run with.
  struct Product {
    ValueId operand;
    Kernel kernel;
  };
  InlineVector<Product, 16> products = {};

  void begin(const WalkedOp &op) {
    const OpModel &model = *op.node.op;
    if (model.reads() != Reads::Sequences) {
      const OpCost cost = model.cost(op.dim, op.incoming, seen.rows);
      times.add(cost, terms);
      join(op, cost);
      return;
    }
    const bool decodes = seen.decode.sequences > 0;
    const bool reads = seen.prompt.rows > 0;
    OpCost prompts;
    if (reads)
      prompts = model.cost(op.dim, op.incoming, seen.prompt);
    if (!decodes) {
      times.add(prompts, terms);
      return;
    }
    const OpCost decoded = model.cost(op.dim, op.incoming, seen.decode);
    if (reads)
      for (const Kernel &kernel : prompts.kernels)
        termOf(kernel, terms) += times.model.time().seconds(kernel);
    times.add(reads ? together(decoded, prompts) : decoded, terms);
  }

  /// Takes what a product saves that runs with one before.
  void join(const WalkedOp &op, const OpCost &cost) {
    const TimeModel &time = times.model.time();
    const Kernel &kernel = cost.kernels[0];
    if (!time.multipliesAtOnce() || !kernel.sharesRows)
      return;
    const ValueId operand = op.node.operands[0];
    for (Product &known : products) {
      Kernel &both = known.kernel;
      if (known.operand != operand || both.rows != kernel.rows ||
          both.k != kernel.k || both.weights != kernel.weights)
        continue;
      const double apart = time.seconds(both) + time.seconds(kernel);
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

void StepTimes::leave(const LayerExit &end, Layout to, double rows,
                      const Context &context, StepTerms &all) const {
  const double rowBytes = model.model().rowBytes;
  const LayerExit::Moves moves = end.into(to);
  for (Layout from : moves.sources)
    add(reshardCollectives(from, to, rows, rowBytes, strategy.degrees,
                           Axis::Tp),
        all);
  for (Layout join : moves.joins)
    all.elementwise +=
        model.time().seconds(joinKernel(join, rows, rowBytes, context));
}

std::vector<StepTerms> StepTimes::stageTerms(const StepMix &mix) const {
  const LayerIndex &index = model.layers();
  const Model &program = model.model();
  const TimeModel &time = model.time();
  LayerWalk<Visitor::NoHandle> walk(model, strategy);
  std::vector<Layer> kinds;
  for (const LayerKind &kind : index.kinds()) {
    const Contexts seen = contexts(mix, &kind);
    Layer layer;
    Visitor visitor{*this, seen, layer.terms};
    if (!walk.walk(kind.body, seen.rows, {}, visitor))
      return {};
    layer.exit = walk.exit();
    kinds.push_back(layer);
  }
  auto exitOf = [&](unsigned body) -> const LayerExit & {
    for (size_t i = 0; i < kinds.size(); ++i)
      if (index.kinds()[i].body == body)
        return kinds[i].exit;
    return kinds.front().exit;
  };

  const Context outer = contexts(mix, nullptr).rows;
  std::vector<StepTerms> all;
  for (const Stage &stage : stages) {
    StepTerms terms;
    for (size_t k = 0; k < stage.kinds.size(); ++k)
      terms.add(kinds[k].terms, static_cast<double>(stage.kinds[k]));
    for (size_t t = 0; t < stage.transitions.size(); ++t) {
      if (stage.transitions[t] == 0)
        continue;
      const Transition &transition = index.transitions()[t];
      StepTerms one;
      leave(exitOf(transition.body), walk.entering(transition.next).layout,
            outer.rows, outer, one);
      terms.add(one, static_cast<double>(stage.transitions[t]));
    }
    if (stage.isFirst) {
      const Node &embed = program.embed;
      const Dim dim = walk.dimOf(embed);
      const Placement made =
          embed.op->rule(dim, {}, outer).results[0].placement;
      add(embed.op->cost(dim, {}, outer), terms);
      add(reshardCollectives(
              made.layout, walk.entering(index.firstBody()).layout, outer.rows,
              made.rowBytes, strategy.degrees, made.over),
          terms);
    }
    if (stage.isLast) {
      const Node &head = program.head;
      const Dim dim = walk.dimOf(head);
      const LayerExit &end = exitOf(index.lastBody());
      const Placement incoming{end.outputLayout(), program.rowBytes};
      const Span<const Placement> operands(&incoming, 1);
      const Rule rule = head.op->rule(dim, operands, outer);
      leave(end, rule.operands[0].required.layout, rule.operands[0].rows, outer,
            terms);
      add(head.op->cost(dim, operands, outer), terms);
    } else {
      for (const Collective &send :
           time.transfer(walk.entering(stage.nextBody).layout,
                         outer.rows * program.rowBytes, strategy.degrees))
        terms.collectives += time.seconds(send, strategy.degrees);
    }
    for (int64_t i = 0; i < stage.repeats; ++i)
      all.push_back(terms);
  }
  if (std::optional<Collective> back = model.tokenReturn(strategy.degrees))
    all.back().collectives += time.seconds(*back, strategy.degrees);
  return all;
}

StepTimes::StepTimes(const CostModel &costs, Strategy given,
                     std::optional<double> skew, double reach, double spread)
    : model(costs), strategy(std::move(given)), skew(skew), reach(reach),
      deviations(spread * deviationsOfLargest(
                              static_cast<double>(strategy.degrees.ep))) {
  Degrees &degrees = strategy.degrees;
  degrees.batch = degrees.dp * degrees.pp;
  if (costs.structuralError(degrees))
    return;
  stages = costs.layers().stages(degrees);
  legal = !stageTerms({1, 1}).empty();
}

StepTerms StepTimes::terms(const StepMix &mix) const {
  StepTerms sum;
  for (const StepTerms &stage : stageTerms(mix))
    sum.add(stage, 1);
  return sum;
}

double StepTimes::seconds(const StepMix &mix) const {
  double sum = 0, slowest = 0;
  for (const StepTerms &stage : stageTerms(mix)) {
    sum += stage.sum();
    slowest = std::max(slowest, stage.sum());
  }
  return std::max(sum, static_cast<double>(strategy.degrees.pp) * slowest);
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
    const OpCost cost = op.node.op->cost(op.dim, op.incoming, context);
    memory.weights += cost.weightBytes;
    memory.cache += cost.cacheBytes;
  }
  NoHandle reshard(const WalkedOp &, unsigned, NoHandle, const Reshard &) {
    return {};
  }
  NoHandle run(const WalkedOp &) { return {}; }
};
} // namespace

std::vector<StageMemory> StepTimes::memory(double context) const {
  const LayerIndex &index = model.layers();
  const Model &program = model.model();
  LayerWalk<MemoryVisitor::NoHandle> walk(model, strategy);
  StepMix one;
  one.sequences = 1;
  one.context = context;
  std::vector<StageMemory> kinds;
  for (const LayerKind &kind : index.kinds()) {
    Context seen = contexts(one, &kind).decode;
    seen.groupBatch = seen.microBatches = seen.microBatch = 1;
    MemoryVisitor visitor{seen};
    if (!walk.walk(kind.body, seen, {}, visitor))
      return {};
    kinds.push_back(visitor.memory);
  }
  const Context outer = contexts(one, nullptr).rows;
  const Dim embed = walk.dimOf(program.embed), head = walk.dimOf(program.head);
  const Placement incoming{Layout::R, program.rowBytes};
  std::vector<StageMemory> all;
  for (const Stage &stage : stages) {
    StageMemory memory;
    for (size_t k = 0; k < stage.kinds.size(); ++k) {
      const auto count = static_cast<double>(stage.kinds[k]);
      memory.weights += count * kinds[k].weights;
      memory.cache += count * kinds[k].cache;
    }
    if (stage.isFirst)
      memory.weights += program.embed.op->cost(embed, {}, outer).weightBytes;
    if (stage.isLast && !(stage.isFirst && program.sharesTable(embed, head)))
      memory.weights +=
          program.head.op
              ->cost(head, Span<const Placement>(&incoming, 1), outer)
              .weightBytes;
    for (int64_t i = 0; i < stage.repeats; ++i)
      all.push_back(memory);
  }
  return all;
}

double StepTimes::cacheBytes(double context) const {
  double bytes = 0;
  for (const StageMemory &stage : memory(context))
    bytes += stage.cache;
  return bytes;
}
