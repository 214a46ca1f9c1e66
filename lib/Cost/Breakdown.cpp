//===- Breakdown.cpp - Where time and memory of a strategy go -------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Breakdown.h"

#include "shardopt/Cost/LayerWalk.h"
#include "shardopt/Cost/LiveValues.h"

using namespace shardopt;
using namespace shardopt::cost;

namespace {

/// Costs a strategy the plain way: stage by stage, layer by layer, op by op.
class Accountant {
public:
  Accountant(const CostModel &costs, const Strategy &strategy)
      : costs(costs), model(costs.model()), time(costs.time()),
        strategy(strategy), degrees(strategy.degrees),
        outer(costs.context(degrees)), walk(costs, strategy) {}

  /// None if a dim is illegal.
  std::optional<Breakdown> run();

private:
  /// What a walk needs to know of a copy: nothing.
  struct NoHandle {};
  /// Charges the ops of a layer to their rows.
  struct Visitor;

  Dim dimOf(const Node &node) const { return strategy.dims[node.variable]; }
  void addEmbedding();
  bool addLayer(int64_t layer);
  void addHead(const LayerExit &end);
  void addLeave(OpBreakdown &row, const LayerExit &end, Layout to, double rows);
  void addTransfer(unsigned nextBody);
  void endStage();

  OpBreakdown &row(const std::string &op, Layout layout);
  void add(OpBreakdown &row, const OpCost &cost);
  void add(OpBreakdown &row, const Kernel &kernel);
  void add(OpBreakdown &row, const Collective &collective);
  void addReshard(OpBreakdown &row, Layout from, Layout to, double rows,
                  double rowBytes, Axis over = Axis::Tp);

  const CostModel &costs;
  const Model &model;
  const TimeModel &time;
  const Strategy &strategy;
  const Degrees &degrees;
  const Context outer; ///< what embedding and head see
  LayerWalk<NoHandle> walk;

  // The stage at hand.
  int64_t stage = 0;
  size_t firstRow = 0; ///< of the stage, in result.ops

  Breakdown result;
  Pipeline pipeline;
};

} // namespace

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// The row of `op` in this stage, to which one more layer is added.
OpBreakdown &Accountant::row(const std::string &op, Layout layout) {
  for (size_t i = firstRow; i < result.ops.size(); ++i) {
    if (result.ops[i].op == op) {
      ++result.ops[i].layers;
      return result.ops[i];
    }
  }
  OpBreakdown row;
  row.op = op;
  row.stage = stage;
  row.layout = layout;
  result.ops.push_back(row);
  return result.ops.back();
}

void Accountant::add(OpBreakdown &row, const OpCost &cost) {
  for (const Kernel &kernel : cost.kernels)
    add(row, kernel);
  for (const Collective &collective : cost.collectives)
    add(row, collective);
  row.weightBytes += cost.weightBytes;
  row.cacheBytes += cost.cacheBytes;
}

/// Adds `us` to what is said of the trust in a row.
static void addTrusted(OpBreakdown &row, double us, const Trust &trust) {
  row.lowUs += us * trust.low;
  row.highUs += us * trust.high;
  row.usByOrigin[size_t(trust.origin)] += us;
}

void Accountant::add(OpBreakdown &row, const Kernel &kernel) {
  double &part = time.isComputeBound(kernel) ? row.computeUs : row.memoryUs;
  double us = time.seconds(kernel) * 1e6;
  part += us;
  addTrusted(row, us, time.trust(kernel));
}

void Accountant::add(OpBreakdown &row, const Collective &collective) {
  double seconds = time.seconds(collective, degrees);
  if (seconds == 0)
    return;
  row.collectiveUs += seconds * 1e6;
  addTrusted(row, seconds * 1e6, time.trust(collective, degrees));
  row.collectiveBytes += collective.bytes;
  std::string name = spell(collective.kind);
  if (("+" + row.collective + "+").find("+" + name + "+") != std::string::npos)
    return;
  if (!row.collective.empty())
    row.collective += "+";
  row.collective += name;
}

void Accountant::addReshard(OpBreakdown &row, Layout from, Layout to,
                            double rows, double rowBytes, Axis over) {
  for (const Collective &step :
       reshardCollectives(from, to, rows, rowBytes, degrees, over))
    add(row, step);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void Accountant::addEmbedding() {
  const Node &embed = model.embed;
  Placement made = embed.op->rule(dimOf(embed), {}, outer).results[0].placement;
  OpBreakdown &embedRow = row(embed.name, made.layout);
  add(embedRow, embed.op->cost(dimOf(embed), {}, outer));
  addReshard(embedRow, made.layout,
             walk.entering(costs.layers().firstBody()).layout,
             double(outer.rows), made.rowBytes, made.over);
}

struct Accountant::Visitor {
  Accountant &accountant;
  const Context &context;
  OpBreakdown *row = nullptr; ///< of the op at hand

  void begin(const WalkedOp &op) {
    row = &accountant.row(op.node.name, op.rule.results[0].placement.layout);
    accountant.add(*row, op.node.op->cost(op.dim, op.incoming, context));
  }
  NoHandle reshard(const WalkedOp &, unsigned, NoHandle, const Reshard &steps) {
    for (const Collective &step : steps)
      accountant.add(*row, step);
    return {};
  }
  NoHandle run(const WalkedOp &) { return {}; }
};

/// Reshards and sum where a layer ends.
void Accountant::addLeave(OpBreakdown &row, const LayerExit &end, Layout to,
                          double rows) {
  LayerExit::Moves moves = end.into(to);
  for (Layout from : moves.sources)
    addReshard(row, from, to, rows, model.rowBytes);
  for (Layout join : moves.joins)
    add(row, joinKernel(join, rows, model.rowBytes, outer));
}

bool Accountant::addLayer(int64_t layer) {
  const LayerKind &kind = costs.layers().kindOfLayer(layer);
  Context context = costs.context(degrees, kind);
  Visitor visitor{*this, context};
  if (!walk.walk(kind.body, context, {}, visitor))
    return false;
  LayerExit end = walk.exit();
  if (layer + 1 == costs.layers().numLayers()) {
    addHead(end);
    return true;
  }
  Layout to = walk.entering(costs.layers().kindOfLayer(layer + 1).body).layout;
  addLeave(row("layer_exit", to), end, to, double(outer.rows));
  return true;
}

void Accountant::addHead(const LayerExit &end) {
  const Node &head = model.head;
  Placement incoming{end.outputLayout(), model.rowBytes};
  Span<const Placement> operands(&incoming, 1);
  Rule rule = head.op->rule(dimOf(head), operands, outer);
  OpBreakdown &headRow = row(head.name, rule.results[0].placement.layout);
  addLeave(headRow, end, rule.operands[0].required.layout,
           rule.operands[0].rows);
  OpCost cost = head.op->cost(dimOf(head), operands, outer);
  add(headRow, cost);
  if (degrees.pp == 1 && model.sharesTable(dimOf(model.embed), dimOf(head)))
    headRow.weightBytes -= cost.weightBytes;
  if (std::optional<Collective> back = costs.tokenReturn(degrees))
    add(row("token_return", Layout::R), *back);
}

void Accountant::addTransfer(unsigned nextBody) {
  Layout layout = walk.entering(nextBody).layout;
  OpBreakdown &transferRow = row("stage_transfer", layout);
  for (const Collective &collective :
       time.transfer(layout, double(outer.rows) * model.rowBytes, degrees))
    add(transferRow, collective);
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

void Accountant::endStage() {
  double us = 0, weightBytes = 0, cacheBytes = 0;
  for (size_t i = firstRow; i < result.ops.size(); ++i) {
    us += result.ops[i].us();
    weightBytes += result.ops[i].weightBytes;
    cacheBytes += result.ops[i].cacheBytes;
  }
  result.stageMs.push_back(us / 1e3);
  if (weightBytes + cacheBytes > pipeline.maxBytes) {
    result.fullestStage = stage;
    result.memory = {weightBytes / 1e9, cacheBytes / 1e9};
  }
  pipeline.addStages(1, us / 1e6, weightBytes + cacheBytes);
  firstRow = result.ops.size();
}

/// Sums what is said of the trust in all rows.
static void sumTrust(Breakdown &result) {
  double us = 0, low = 0, high = 0;
  for (const OpBreakdown &op : result.ops) {
    us += op.us();
    low += op.lowUs;
    high += op.highUs;
    for (size_t i = 0; i < numTimeOrigins; ++i)
      result.byOrigin[i] += op.usByOrigin[i];
  }
  if (us <= 0)
    return;
  result.low = low / us;
  result.high = high / us;
  for (double &share : result.byOrigin)
    share /= us;
}

std::optional<Breakdown> Accountant::run() {
  const LayerIndex &layers = costs.layers();
  for (stage = 0; stage < degrees.pp; ++stage) {
    if (stage == 0)
      addEmbedding();
    int64_t end = layers.firstLayer(stage + 1, degrees);
    for (int64_t layer = layers.firstLayer(stage, degrees); layer < end;
         ++layer)
      if (!addLayer(layer))
        return std::nullopt;
    if (stage + 1 < degrees.pp)
      addTransfer(layers.kindOfLayer(end).body);
    endStage();
  }
  sumTrust(result);
  if (costs.limits().limitsActivations())
    pipeline.activationBytes = livePeak(costs, strategy).bytes;
  result.evaluation = judge(pipeline, outer, costs.limits());
  return std::move(result);
}

Breakdown cost::breakdown(const CostModel &costs, const Strategy &strategy) {
  if (!costs.fits(strategy.degrees))
    return Breakdown();
  std::optional<Breakdown> found = Accountant(costs, strategy).run();
  return found ? std::move(*found) : Breakdown();
}
