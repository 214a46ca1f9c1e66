//===- LayerWalk.h - A strategy's way through a layer -----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the dims of a strategy make of a layer, op by op: which placements each
// op finds, which copy of an operand it has resharded, and what it leaves.
// Whoever costs or simulates a layer visits this walk; `Trellis` does the same
// for all strategies at once, and is compared with it.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_LAYERWALK_H
#define SHARDOPT_COST_LAYERWALK_H

#include "shardopt/Cost/Copies.h"
#include "shardopt/Cost/CostModel.h"
#include "shardopt/Cost/LayerExit.h"

#include <array>
#include <optional>

namespace shardopt::cost {

/// An op with its dim, where the walk has come to.
struct WalkedOp {
  const Node &node;
  Dim dim;
  /// As their ops left the operands.
  InlineVector<Placement, maxOperands> incoming;
  Rule rule; ///< legal
};

/// Walks the dims of a strategy through layers. A `Handle` is what the visitor
/// knows of one copy of a value: the task after which it is there, or nothing.
///
/// A visitor has, in the order in which they are called for an op:
///
///     void begin(const WalkedOp &);
///     // Operand `i` is brought from a copy to where the rule wants it.
///     Handle reshard(const WalkedOp &, unsigned i, const Handle &from,
///                    const Reshard &);
///     Handle run(const WalkedOp &);
template <typename Handle> class LayerWalk {
public:
  LayerWalk(const CostModel &costs, const Strategy &strategy)
      : costs(costs), strategy(strategy) {}

  Dim dimOf(const Node &node) const { return strategy.dims[node.variable]; }

  /// The residual as the first op of `body` takes it.
  Placement entering(unsigned body) const {
    const Node &first = costs.model().bodies[body].nodes.front();
    Placement any{Layout::R, costs.model().rowBytes};
    return first.op
        ->rule(dimOf(first), Span<const Placement>(&any, 1),
               costs.context(strategy.degrees))
        .operands[0]
        .required;
  }

  /// Walks through a layer of `body`, whose ops see `context` and whose
  /// residual is there as `entry`; false if a dim is illegal.
  template <typename Visitor>
  bool walk(unsigned body, const Context &context, const Handle &entry,
            Visitor &visitor);

  // Of the layer walked last:

  /// How the values are placed that leave it.
  LayerExit exit() const;
  /// Their handles: of the residuals, then of the outputs.
  InlineVector<Handle, Body::maxSummands> leaving() const;

private:
  struct Copy {
    Layout layout = Layout::R;
    Handle handle = {};
  };
  struct Value {
    Placement placement;
    std::array<std::optional<Handle>, numLayouts> copies; ///< by layout

    const Handle &made() const { return *copies[size_t(placement.layout)]; }
  };

  void leave(ValueId value, const Placement &placement, const Handle &handle) {
    values[value].placement = placement;
    values[value].copies.fill(std::nullopt);
    values[value].copies[size_t(placement.layout)] = handle;
  }
  template <typename Visitor>
  void take(const WalkedOp &op, unsigned operand, Visitor &visitor);
  /// Keeps a copy of operand `operand` in `layout`.
  void keep(const WalkedOp &op, unsigned operand, Layout layout,
            const Handle &copy);

  const CostModel &costs;
  const Strategy &strategy;
  const Body *layer = nullptr;
  const BodyIndex *index = nullptr;
  std::vector<Value> values;
};

template <typename Handle>
template <typename Visitor>
bool LayerWalk<Handle>::walk(unsigned body, const Context &context,
                             const Handle &entry, Visitor &visitor) {
  layer = &costs.model().bodies[body];
  index = &costs.body(body);
  values.resize(layer->numValues);
  leave(layer->residual, entering(body), entry);
  for (const Node &node : layer->nodes) {
    WalkedOp op{node, dimOf(node), {}, {}};
    for (ValueId operand : node.operands)
      op.incoming.push_back(values[operand].placement);
    op.rule = node.op->rule(op.dim, op.incoming, context);
    if (!op.rule.isLegal())
      return false;
    visitor.begin(op);
    for (unsigned i = 0; i < op.incoming.size(); ++i)
      take(op, i, visitor);
    Handle made = visitor.run(op);
    for (unsigned i = 0; i < op.incoming.size(); ++i)
      if (op.rule.operands[i].copy == OperandRule::Copy::Whole)
        keep(op, i, Layout::R, made);
    for (size_t i = 0; i < node.results.size(); ++i)
      leave(node.results[i], op.rule.results[i].placement, made);
  }
  return true;
}

/// The copy is one of the value's root as well, while copies of the root are
/// not its own.
template <typename Handle>
void LayerWalk<Handle>::keep(const WalkedOp &op, unsigned operand,
                             Layout layout, const Handle &copy) {
  ValueId value = op.node.operands[operand];
  values[value].copies[size_t(layout)] =
      values[index->values[value].root].copies[size_t(layout)] = copy;
}

template <typename Handle>
template <typename Visitor>
void LayerWalk<Handle>::take(const WalkedOp &op, unsigned operand,
                             Visitor &visitor) {
  const OperandRule &rule = op.rule.operands[operand];
  Layout to = rule.required.layout;
  double rowBytes = op.incoming[operand].rowBytes;
  const Value &value = values[op.node.operands[operand]];
  InlineVector<Copy, numLayouts> copies;
  for (unsigned layout = 0; layout < numLayouts; ++layout)
    if (const std::optional<Handle> &copy = value.copies[layout])
      copies.push_back({Layout(layout), *copy});
  const Copy &from =
      cheapestCopy(copies, {to, rule.rows, rowBytes, rule.required.over},
                   costs.time(), strategy.degrees);
  Handle made =
      visitor.reshard(op, operand, from.handle,
                      reshardCollectives(from.layout, to, rule.rows, rowBytes,
                                         strategy.degrees, rule.required.over));
  if (rule.copy == OperandRule::Copy::Required)
    keep(op, operand, to, made);
}

template <typename Handle> LayerExit LayerWalk<Handle>::exit() const {
  return makeExit(
      *layer, [this](ValueId value) { return values[value].placement.layout; });
}

template <typename Handle>
InlineVector<Handle, Body::maxSummands> LayerWalk<Handle>::leaving() const {
  InlineVector<Handle, Body::maxSummands> handles;
  for (ValueId value : layer->exitResiduals)
    handles.push_back(values[value].made());
  for (ValueId value : layer->exitOutputs)
    handles.push_back(values[value].made());
  return handles;
}

} // namespace shardopt::cost

#endif // SHARDOPT_COST_LAYERWALK_H
