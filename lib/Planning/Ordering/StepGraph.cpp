//===- StepGraph.cpp - A step of a strategy as a graph to order -----------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/Ordering/StepGraph.h"

#include "shardopt/Cost/LayerWalk.h"
#include "shardopt/Solvers/Schedule/OpLimit.h"

#include <algorithm>
#include <cmath>

using namespace shardopt;
using namespace shardopt::ordering;
using cost::Layout;
using schedule::MachineKind;
using Part = StepOrigin::Part;

/// The strategy whose micro-batch has so many sequences.
static Strategy withMicroBatch(const Strategy &whole, int64_t sequences) {
  Strategy part = whole;
  part.degrees.batch = whole.degrees.dp * whole.degrees.pp * sequences;
  return part;
}

/// What embedding and head see.
static cost::Context outerContext(const cost::CostModel &costs,
                                  const Degrees &degrees,
                                  const StepOptions &options) {
  cost::Context context = costs.context(degrees);
  if (options.isTraining)
    context.sequences = context.rows;
  return context;
}

/// The gradients of what `kernels` read: of a product one of its rows and one
/// of its weights, each with as many flops and bytes as the product. Attention
/// makes five products instead of two (FlashAttention-2, arXiv 2307.08691).
/// What only moves bytes moves them once more. Kept are rows that products and
/// attention read, both halves of a gated product, and of a norm, which reads
/// and writes twice, its sum.
static Gradients gradientsOf(const cost::OpCost &cost,
                             const cost::TimeModel &clock) {
  constexpr double element = 2; // bf16
  Gradients result;
  cost::WeightType weights = cost::WeightType::Bf16;
  for (cost::Kernel kernel : cost.kernels) {
    switch (kernel.kind) {
    case cost::KernelKind::Gemm:
    case cost::KernelKind::GroupedGemm:
    case cost::KernelKind::BatchedGemm: {
      double heads =
          kernel.kind == cost::KernelKind::BatchedGemm ? kernel.count : 1;
      result.weightSeconds += clock.seconds(kernel);
      result.keptBytes += heads * kernel.rows * kernel.k * element;
      if (kernel.gates)
        result.keptBytes += kernel.rows * kernel.n * element;
      weights = kernel.weights;
      std::swap(kernel.k, kernel.n);
      result.inputSeconds += clock.seconds(kernel);
      break;
    }
    case cost::KernelKind::Attention:
    case cost::KernelKind::Ranking:
      result.inputSeconds += 2.5 * clock.seconds(kernel);
      result.keptBytes += kernel.rows * std::max(1.0, kernel.prompt) *
                          (kernel.count + 2 * kernel.kvHeads) * kernel.n *
                          element;
      break;
    case cost::KernelKind::Memory:
      result.inputSeconds += clock.seconds(kernel);
      result.keptBytes += kernel.bytes / 4;
      break;
    }
  }
  result.parameters = cost.weightBytes / cost::bytesPerWeight(weights);
  return result;
}

namespace {

/// Writes the operators of a step in the order of the program. The handle of a
/// copy of a value is the operator after which it is there, -1: from the start.
class StepWriter {
public:
  StepWriter(const cost::CostModel &costs, const Strategy &strategy,
             const StepOptions &options, int64_t sequences, StepGraph &result)
      : costs(costs), model(costs.model()), strategy(strategy),
        degrees(strategy.degrees), options(options),
        outer(outerContext(costs, degrees, options)),
        cacheScale(double(sequences) / double(outer.groupBatch)),
        walk(costs, strategy), result(result) {}

  /// False if a dim is illegal.
  bool write();

private:
  struct Visitor;

  Dim dimOf(const cost::Node &node) const {
    return strategy.dims[node.variable];
  }
  const cost::TimeModel &clock() const {
    return options.clocks.empty() ? costs.time() : *options.clocks[stage];
  }
  int32_t add(const std::string &name, StepOrigin origin, MachineKind machine,
              double seconds, std::vector<int32_t> after);
  /// `after` itself where the collectives take no time.
  template <typename Collectives>
  int32_t send(const std::string &name, StepOrigin origin,
               const Collectives &collectives, int32_t after);
  int32_t runOp(const cost::Node &node, int32_t layer, const cost::OpCost &cost,
                std::vector<int32_t> operands);
  void writeEmbedding();
  bool writeLayer(int64_t layer);
  void leave(const cost::LayerExit &end, Layout to, double rows, int32_t layer);
  void writeHead(const cost::LayerExit &end);
  void writeTransfer(int64_t stage, int64_t next);
  void beginStage(int64_t number);

  const cost::CostModel &costs;
  const cost::Model &model;
  const Strategy &strategy;
  const Degrees &degrees;
  const StepOptions &options;
  const cost::Context outer; ///< what embedding and head see
  /// Sequences of a replica in all chunks, by those of one of each.
  const double cacheScale;
  cost::LayerWalk<int32_t> walk;
  StepGraph &result;

  int32_t stage = 0;
  int32_t residual = -1; ///< after which the residual is there
  int32_t firstOfStage = -1;
  std::array<int32_t, schedule::numMachineKinds> last = {-1, -1};
};

} // namespace

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

int32_t StepWriter::add(const std::string &name, StepOrigin origin,
                        MachineKind machine, double seconds,
                        std::vector<int32_t> after) {
  schedule::PlanGraph &graph = result.graph;
  int32_t index = int32_t(graph.ops.size());
  schedule::PlanOp op;
  op.id = origin.layer < 0 ? name : std::to_string(origin.layer) + "." + name;
  op.type = name;
  op.machine = machine;
  op.stage = op.group = stage;
  op.times = {int64_t(std::llround(seconds * 1e9))};
  int32_t &before = last[size_t(machine)];
  if (!options.reorders)
    after.push_back(before);
  before = index;
  std::sort(after.begin(), after.end());
  after.erase(std::unique(after.begin(), after.end()), after.end());
  for (int32_t from : after)
    if (from >= 0)
      graph.edges.push_back({from, index, 0});
  if (firstOfStage < 0)
    firstOfStage = index;
  graph.ops.push_back(std::move(op));
  result.origins.push_back(origin);
  // A collective has its transpose in the backward pass, and a sum two reads.
  result.gradients.push_back({seconds, 0, 0, 0});
  return index;
}

template <typename Collectives>
int32_t StepWriter::send(const std::string &name, StepOrigin origin,
                         const Collectives &collectives, int32_t after) {
  double seconds = 0;
  for (const cost::Collective &collective : collectives)
    seconds += clock().seconds(collective, degrees);
  return seconds > 0 ? add(name, origin, MachineKind::Comm, seconds, {after})
                     : after;
}

/// Kernels, and behind them collectives. An op without kernels that is never
/// sent still joins what it reads.
int32_t StepWriter::runOp(const cost::Node &node, int32_t layer,
                          const cost::OpCost &cost,
                          std::vector<int32_t> operands) {
  double seconds = 0;
  for (const cost::Kernel &kernel : cost.kernels)
    seconds += clock().seconds(kernel);
  int32_t variable = int32_t(node.variable);
  int32_t made = add(node.name, {Part::Kernels, variable, layer},
                     MachineKind::Compute, seconds, std::move(operands));
  result.gradients[made] = gradientsOf(cost, clock());
  result.graph.ops[made].parameterBytes =
      int64_t(std::ceil(cost.weightBytes + cost.cacheBytes * cacheScale));
  return send(node.name + ".send", {Part::Collectives, variable, layer},
              cost.collectives, made);
}

struct StepWriter::Visitor {
  StepWriter &writer;
  const cost::Context &context;
  int32_t layer;
  std::vector<int32_t> operands = {}; ///< of the op at hand

  void begin(const cost::WalkedOp &) { operands.clear(); }
  int32_t reshard(const cost::WalkedOp &op, unsigned i, int32_t from,
                  const cost::Reshard &steps) {
    std::string name = op.node.name + ".take";
    if (op.incoming.size() > 1)
      name += std::to_string(i);
    operands.push_back(writer.send(
        name, {Part::Operands, int32_t(op.node.variable), layer}, steps, from));
    return operands.back();
  }
  int32_t run(const cost::WalkedOp &op) {
    return writer.runOp(op.node, layer,
                        op.node.op->cost(op.dim, op.incoming, context),
                        operands);
  }
};

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

void StepWriter::writeEmbedding() {
  const cost::Node &embed = model.embed;
  cost::Placement made =
      embed.op->rule(dimOf(embed), {}, outer).results[0].placement;
  residual = runOp(embed, -1, embed.op->cost(dimOf(embed), {}, outer), {});
  residual =
      send(embed.name + ".exit", {Part::Exit, int32_t(embed.variable), -1},
           cost::reshardCollectives(
               made.layout, walk.entering(costs.layers().firstBody()).layout,
               double(outer.rows), made.rowBytes, degrees, made.over),
           residual);
}

/// Reshards and sum where a layer ends.
void StepWriter::leave(const cost::LayerExit &end, Layout to, double rows,
                       int32_t layer) {
  auto ready = walk.leaving();
  cost::LayerExit::Moves moves = end.into(to);
  std::vector<int32_t> moved(ready.begin(), ready.end());
  // What is added where it is moves as one.
  if (moves.sources.size() != moved.size())
    moved.assign(moves.sources.size(),
                 add("layer_exit.sum", {Part::Exit, -1, layer},
                     MachineKind::Compute, 0, moved));
  // The head needs what leaves the last layer.
  bool isLast = layer + 1 == costs.layers().numLayers();
  std::string name = isLast ? model.head.name : "layer_exit";
  for (size_t i = 0; i < moves.sources.size(); ++i)
    moved[i] = send(name + ".take" + std::to_string(i), {Part::Exit, -1, layer},
                    cost::reshardCollectives(moves.sources[i], to, rows,
                                             model.rowBytes, degrees),
                    moved[i]);
  double seconds = 0;
  for (Layout join : moves.joins)
    seconds +=
        clock().seconds(cost::joinKernel(join, rows, model.rowBytes, outer));
  residual = add("layer_exit", {Part::Exit, -1, layer}, MachineKind::Compute,
                 seconds, std::move(moved));
}

void StepWriter::writeHead(const cost::LayerExit &end) {
  const cost::Node &head = model.head;
  cost::Placement incoming{end.outputLayout(), model.rowBytes};
  Span<const cost::Placement> operands(&incoming, 1);
  cost::Rule rule = head.op->rule(dimOf(head), operands, outer);
  leave(end, rule.operands[0].required.layout, rule.operands[0].rows,
        int32_t(costs.layers().numLayers()) - 1);
  cost::OpCost cost = head.op->cost(dimOf(head), operands, outer);
  if (degrees.pp == 1 && model.sharesTable(dimOf(model.embed), dimOf(head)))
    cost.weightBytes = 0;
  residual = runOp(head, -1, cost, {residual});
  if (std::optional<cost::Collective> back = costs.tokenReturn(degrees))
    residual = send("token_return", {Part::TokenReturn, -1, -1},
                    Span<const cost::Collective>(&*back, 1), residual);
}

bool StepWriter::writeLayer(int64_t layer) {
  const cost::LayerKind &kind = costs.layers().kindOfLayer(layer);
  cost::Context context = costs.context(degrees, kind);
  Visitor visitor{*this, context, int32_t(layer)};
  if (!walk.walk(kind.body, context, residual, visitor))
    return false;
  cost::LayerExit end = walk.exit();
  if (layer + 1 == costs.layers().numLayers())
    writeHead(end);
  else
    leave(end, walk.entering(costs.layers().kindOfLayer(layer + 1).body).layout,
          double(outer.rows), int32_t(layer));
  return true;
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

void StepWriter::beginStage(int64_t number) {
  stage = int32_t(number);
  firstOfStage = -1;
  last.fill(-1);
}

/// `next`: the first layer of the next stage.
void StepWriter::writeTransfer(int64_t from, int64_t next) {
  residual = send("stage_transfer", {Part::Transfer, -1, int32_t(next) - 1},
                  transferInto(costs, strategy, clock(), next), residual);
}

bool StepWriter::write() {
  schedule::PlanGraph &graph = result.graph;
  const cost::LayerIndex &layers = costs.layers();
  graph.deviceKinds = {"stage"};
  for (int64_t s = 0; s < degrees.pp; ++s) {
    graph.devices.push_back({0, std::nullopt});
    graph.groups.push_back({"stage " + std::to_string(s), int32_t(s)});
    beginStage(s);
    if (s == 0)
      writeEmbedding();
    int64_t end = layers.firstLayer(s + 1, degrees);
    for (int64_t layer = layers.firstLayer(s, degrees); layer < end; ++layer)
      if (!writeLayer(layer))
        return false;
    if (s + 1 < degrees.pp)
      writeTransfer(s, end);
    graph.ops[firstOfStage].birthBytes =
        int64_t(std::ceil(double(outer.rows) * model.rowBytes));
    graph.ops[firstOfStage].claims = firstOfStage;
    graph.ops.back().frees = {firstOfStage};
    // What frees bytes comes after what they are of, whatever was sent.
    if (firstOfStage + 1 < int32_t(graph.ops.size()))
      graph.edges.push_back({firstOfStage, int32_t(graph.ops.size()) - 1, 0});
  }
  return true;
}

InlineVector<cost::Collective, 2>
ordering::transferInto(const cost::CostModel &costs, const Strategy &strategy,
                       const cost::TimeModel &clock, int64_t next) {
  cost::LayerWalk<int32_t> walk(costs, strategy);
  return clock.transfer(
      walk.entering(costs.layers().kindOfLayer(next).body).layout,
      double(costs.context(strategy.degrees).rows) * costs.model().rowBytes,
      strategy.degrees);
}

ErrorOr<StepGraph> ordering::makeStepGraph(const cost::CostModel &costs,
                                           const Strategy &strategy,
                                           const StepOptions &options) {
  if (std::optional<std::string> error =
          costs.structuralError(strategy.degrees))
    return Error{"the strategy is invalid: " + *error};
  BatchSplit whole = costs.context(strategy.degrees);
  if (options.microBatches) {
    whole.microBatches = options.microBatches;
    whole.microBatch = ceilDiv(whole.groupBatch, whole.microBatches);
  }
  if (whole.microBatches < 1 || whole.microBatches > whole.groupBatch)
    return Error{"a data-parallel rank has " +
                 std::to_string(whole.groupBatch) +
                 " sequences, expected at most as many micro-batches, found " +
                 std::to_string(whole.microBatches)};
  if (options.chunks < 1 || options.chunks > whole.microBatch)
    return Error{"a micro-batch has " + std::to_string(whole.microBatch) +
                 " sequences, expected at most as many chunks, found " +
                 std::to_string(options.chunks)};
  StepGraph result;
  Strategy part =
      options.chunks == 1 && !options.microBatches
          ? strategy
          : withMicroBatch(strategy, ceilDiv(whole.microBatch, options.chunks));
  if (!StepWriter(costs, part, options, whole.groupBatch, result).write())
    return Error{"the strategy is invalid: a dim is illegal in its place"};
  if (std::optional<Error> error = result.graph.check())
    return *error;
  int64_t copies = whole.microBatches * options.chunks;
  if (std::optional<Error> error =
          schedule::checkNumOps(result.graph.ops.size(), copies))
    return *error;
  result.copies = int32_t(copies);
  result.chunks = int32_t(options.chunks);
  return result;
}
