//===- LiveValues.cpp - Values between ops, as they live ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/LiveValues.h"

#include "shardopt/Cost/LayerWalk.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::cost;

LiveValues::LiveValues(const CostModel &costs, unsigned bodyNumber,
                       const Context &context)
    : body(costs.model().bodies[bodyNumber]), index(costs.body(bodyNumber)),
      context(context), last(body.numValues), rows(body.numValues),
      places(body.numValues), sizes(body.numValues), liveAt(body.nodes.size()) {
  size_t numOps = body.nodes.size();
  std::vector<size_t> made(body.numValues);
  for (size_t op = 0; op < numOps; ++op) {
    for (ValueId value : body.nodes[op].operands)
      last[value] = op;
    for (ValueId value : body.nodes[op].results)
      made[value] = last[value] = op;
  }
  for (const auto *leaving : {&body.exitResiduals, &body.exitOutputs})
    for (ValueId value : *leaving)
      last[value] = numOps;
  for (size_t op = 0; op < numOps; ++op)
    for (ValueId value = 0; value < body.numValues; ++value) {
      bool isThere = made[value] < op || value == body.residual;
      if (isThere && op <= last[value] && op >= ownFrom(value))
        liveAt[op].push_back(value);
    }
  findPlaces(costs.model().rowBytes);
  findSizes();
}

/// Adds what `node` makes of all placements of its operands behind `incoming`.
void LiveValues::addOp(const Node &node, std::vector<Placement> &incoming) {
  if (incoming.size() < node.operands.size()) {
    for (Layout layout : allLayouts)
      if (auto &place = placement(node.operands[incoming.size()], layout)) {
        incoming.push_back(*place);
        addOp(node, incoming);
        incoming.pop_back();
      }
    return;
  }
  for (const DimChoice &choice : node.op->choices()) {
    Rule rule = node.op->rule(choice.dim, incoming, context);
    if (!rule.isLegal())
      continue;
    for (size_t i = 0; i < node.operands.size(); ++i) {
      double &most = rows[node.operands[i]];
      most = std::max(most, rule.operands[i].rows);
    }
    for (size_t i = 0; i < node.results.size(); ++i) {
      const Placement &made = rule.results[i].placement;
      places[node.results[i]][size_t(made.layout)] = made;
    }
  }
}

void LiveValues::findPlaces(double residualBytes) {
  const Node &first = body.nodes.front();
  Placement any{Layout::R, residualBytes};
  for (const DimChoice &choice : first.op->choices()) {
    Rule rule = first.op->rule(choice.dim, {&any, 1}, context);
    if (!rule.isLegal())
      continue;
    const Placement &found = rule.operands[0].required;
    places[body.residual][size_t(found.layout)] = found;
  }
  std::vector<Placement> incoming;
  for (const Node &node : body.nodes)
    addOp(node, incoming);
}

/// A copy in a layout in which no op leaves the value is as those that it is
/// made of.
void LiveValues::findSizes() {
  for (ValueId value = 0; value < body.numValues; ++value) {
    for (Layout layout : allLayouts) {
      double &size = sizes[value][size_t(layout)];
      if (const std::optional<Placement> &made = placement(value, layout)) {
        size = copied(value, *made);
        continue;
      }
      for (const std::optional<Placement> &other : places[value])
        if (other)
          size = std::max(
              size, copied(value, {layout, other->rowBytes, other->over}));
    }
  }
}

double LiveValues::bytes(ValueId value, LayoutSet layouts) const {
  double sum = 0;
  for (Layout layout : allLayouts)
    if (layouts & bit(layout))
      sum += bytes(value, layout);
  return sum;
}

/// Bytes of `value` while `node` runs, whose readers share copies.
double LiveValues::shared(ValueId value, const Node &node,
                          const LayerState &before,
                          Span<const OperandRule> takes) const {
  LayoutSet copies = withoutNeedless(before.copies(value));
  LayoutSet all = copies;
  for (size_t i = 0; i < node.operands.size(); ++i) {
    ValueId taken = node.operands[i];
    if (taken != value && index.values[taken].root != value)
      continue;
    Layout to = takes[i].required.layout;
    if (!(copies & bit(Layout::R)))
      all |= bit(to);
    if (takes[i].copy == OperandRule::Copy::Required)
      copies = withoutNeedless(copies | bit(to));
    else if (takes[i].copy == OperandRule::Copy::Whole)
      all |= bit(Layout::R);
  }
  return bytes(value, LayoutSet(all | copies));
}

/// The same where a copy is its reader's alone.
double LiveValues::unshared(ValueId value, const Node &node,
                            const LayerState &before,
                            Span<const OperandRule> takes) const {
  Layout layout = before.layout(value);
  double sum = bytes(value, layout);
  for (size_t i = 0; i < node.operands.size(); ++i)
    if (const Placement &to = takes[i].required;
        node.operands[i] == value && layout != Layout::R && layout != to.layout)
      sum += copied(value, to);
  return sum;
}

double LiveValues::held(size_t op, const LayerState &before,
                        Span<const OperandRule> takes,
                        Span<const ResultRule> leaves) const {
  const Node &node = body.nodes[op];
  double sum = 0;
  for (ValueId value : liveAt[op])
    if (op == 0) // as it finds the residual
      sum += bytes(value, before.layout(value));
    else
      sum += index.values[value].fansOut ? shared(value, node, before, takes)
                                         : unshared(value, node, before, takes);
  for (size_t i = 0; i < node.results.size(); ++i)
    if (op >= ownFrom(node.results[i]))
      sum += bytes(node.results[i], leaves[i].placement.layout);
  return sum;
}

namespace {

struct NoHandle {};

/// Follows the state of a layer along a walk.
class MomentWriter {
public:
  MomentWriter(const CostModel &costs, unsigned body, const Context &context,
               std::vector<LiveMoment> &out)
      : live(costs, body, context), body(costs.model().bodies[body]),
        state(costs.body(body)), out(out) {}

  // Of a `LayerWalk`:
  void begin(const WalkedOp &op) {
    size_t number = size_t(&op.node - body.nodes.data());
    if (number == 0)
      state.leave(body.residual, op.incoming[0]);
    const auto &takes = op.rule.operands;
    const auto &leaves = op.rule.results;
    out.push_back({op.node.name, live.held(number, state, takes, leaves)});
    for (size_t i = 0; i < op.node.operands.size(); ++i)
      state.take(op.node.operands[i], takes[i]);
    for (size_t i = 0; i < op.node.results.size(); ++i)
      state.leave(op.node.results[i], leaves[i].placement);
  }
  NoHandle reshard(const WalkedOp &, unsigned, NoHandle, const Reshard &) {
    return {};
  }
  NoHandle run(const WalkedOp &) { return {}; }

private:
  const LiveValues live;
  const Body &body;
  LayerState state;
  std::vector<LiveMoment> &out;
};

} // namespace

std::vector<LiveMoment> cost::liveMoments(const CostModel &costs,
                                          const Strategy &strategy) {
  std::vector<LiveMoment> moments;
  if (!costs.fits(strategy.degrees))
    return moments;
  LayerWalk<NoHandle> walk(costs, strategy);
  for (unsigned body = 0; body < costs.model().bodies.size(); ++body) {
    Context context = costs.contextOfBody(strategy.degrees, body);
    MomentWriter writer(costs, body, context, moments);
    if (!walk.walk(body, context, {}, writer))
      return {};
  }
  return moments;
}

LiveMoment cost::livePeak(const CostModel &costs, const Strategy &strategy) {
  LiveMoment peak;
  for (LiveMoment &moment : liveMoments(costs, strategy))
    if (peak.op.empty() || moment.bytes > peak.bytes)
      peak = std::move(moment);
  return peak;
}
