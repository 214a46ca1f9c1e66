//===- LayerProgram.cpp - The tasks of one layer of a strategy ------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayerProgram.h"

#include <algorithm>
#include <cassert>

using namespace shardopt;
using namespace shardopt::simulation;
using cost::Layout;

static constexpr Layout allLayouts[] = {Layout::R, Layout::T, Layout::H,
                                        Layout::P};

double LayerProgram::seconds() const {
  double sum = 0;
  for (const Task &task : tasks)
    sum += task.seconds();
  return sum;
}

bool LayerProgram::sendsKernel(size_t i) const {
  const auto [first, second, third] = tasks[i].after;
  return tasks[i].link != Link::None && first >= 0 && second == Task::none &&
         third == Task::none &&
         tasks[static_cast<size_t>(first)].link == Link::None;
}

LayerWalker::LayerWalker(const cost::CostModel &costs, const TaskMaker &maker,
                         const Strategy &strategy)
    : costs(costs), maker(maker), strategy(strategy) {}

cost::Placement LayerWalker::entering(unsigned body) const {
  const cost::Node &first = costs.model().bodies[body].nodes.front();
  const cost::Placement any{Layout::R, costs.model().rowBytes};
  return first.op
      ->rule(dimOf(first), Span<const cost::Placement>(&any, 1),
             costs.context(strategy.degrees))
      .operands[0]
      .required;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// `value` is made by `task`, in one layout.
void LayerWalker::leave(cost::ValueId value, const cost::Placement &placement,
                        int task) {
  values[value].placement = placement;
  values[value].ready.fill(Value::absent);
  values[value].ready[static_cast<size_t>(placement.layout)] = task;
}

template <typename Visit>
bool LayerWalker::walk(unsigned body, const cost::Context &context,
                       Visit visit) {
  const cost::Body &layer = costs.model().bodies[body];
  values.resize(layer.numValues);
  leave(layer.residual, entering(body), LayerProgram::entry);
  for (const cost::Node &node : layer.nodes) {
    InlineVector<cost::Placement, 2> incoming;
    for (cost::ValueId operand : node.operands)
      incoming.push_back(values[operand].placement);
    const cost::Rule rule = node.op->rule(dimOf(node), incoming, context);
    if (!rule.isLegal())
      return false;
    const int last = visit(node, incoming, rule);
    for (size_t i = 0; i < node.results.size(); ++i)
      leave(node.results[i], rule.results[i].placement, last);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

/// Adds `task` behind the task `after`, and returns its number; `after` itself
/// if it takes no time.
int LayerWalker::append(LayerProgram &result, Task task, int after) const {
  if (task.seconds() == 0)
    return after;
  task.after[0] = after;
  result.tasks.push_back(task);
  return static_cast<int>(result.tasks.size()) - 1;
}

/// Brings `value` to the layout that `rule` wants, from the copy that is the
/// cheapest to reshard; the task after which it is there.
int LayerWalker::take(cost::ValueId value, const cost::BodyIndex &index,
                      const cost::OperandRule &rule, LayerProgram &result) {
  Value &taken = values[value];
  auto reshard = [&](Layout from) {
    return cost::reshardCollective(from, rule.required.layout, rule.rows,
                                   taken.placement.rowBytes, strategy.degrees,
                                   rule.required.over);
  };
  Task cheapest;
  double bytes = 0;
  int from = Value::absent;
  for (Layout copy : allLayouts) {
    const int ready = taken.ready[static_cast<size_t>(copy)];
    if (ready == Value::absent)
      continue;
    const std::optional<cost::Collective> collective = reshard(copy);
    const Task task = collective ? maker.task(*collective) : Task();
    if (from != Value::absent && cheapest.seconds() <= task.seconds())
      continue;
    cheapest = task;
    bytes = collective ? collective->bytes : 0;
    from = ready;
  }
  result.collectiveBytes = std::max(result.collectiveBytes, bytes);
  const int last = append(result, cheapest, from);
  const auto to = static_cast<size_t>(rule.required.layout);
  taken.ready[to] = values[index.values[value].root].ready[to] = last;
  return last;
}

/// The share of the bytes of a value that a rank holds.
static double heldShare(Layout layout, int64_t tp) {
  const bool isCut = layout == Layout::T || layout == Layout::H;
  return isCut ? 1 / static_cast<double>(tp) : 1;
}

bool LayerWalker::program(unsigned body, const LayerContext &context,
                          LayerProgram &result) {
  const cost::BodyIndex &index = costs.body(body);
  result.tasks.clear();
  result.firstTasks.clear();
  result.anchor = entering(body).layout;
  result.operandBytes = result.collectiveBytes = 0;

  const bool isLegal = walk(
      body, context.whole,
      [&](const cost::Node &node,
          const InlineVector<cost::Placement, 2> &incoming,
          const cost::Rule &rule) {
        result.firstTasks.push_back(static_cast<unsigned>(result.tasks.size()));
        std::array<int, 3> operands = {Task::none, Task::none, Task::none};
        double bytes = 0;
        for (size_t i = 0; i < incoming.size(); ++i) {
          const cost::OperandRule &operand = rule.operands[i];
          operands[i] = take(node.operands[i], index, operand, result);
          bytes += operand.rows * operand.required.rowBytes *
                   heldShare(operand.required.layout, strategy.degrees.tp);
        }
        result.operandBytes = std::max(result.operandBytes, bytes);

        const cost::OpCost cost =
            node.op->cost(dimOf(node), incoming,
                          context.of(rule.operands[0].required.layout));
        // Kernels and then collectives, each after the one before it.
        int last = operands[0];
        auto follow = [&](const Task &task) {
          const int next = append(result, task, last);
          if (next != last && last == operands[0])
            result.tasks.back().after = operands;
          last = next;
        };
        for (const cost::Kernel &kernel : cost.kernels)
          follow(maker.task(kernel));
        for (const cost::Collective &collective : cost.collectives) {
          follow(maker.task(collective));
          result.collectiveBytes =
              std::max(result.collectiveBytes, collective.bytes);
        }
        return last;
      });
  if (!isLegal)
    return false;
  addEnd(costs.model().bodies[body], static_cast<double>(context.whole.rows),
         result);
  result.isSent.assign(result.tasks.size(), false);
  for (size_t i = 0; i < result.tasks.size(); ++i)
    if (result.sendsKernel(i))
      result.isSent[static_cast<size_t>(result.tasks[i].after[0])] = true;
  return true;
}

/// The sum that ends the layer, in the layout that a layer like it wants.
void LayerWalker::addEnd(const cost::Body &body, double rows,
                         LayerProgram &result) {
  auto layoutOf = [&](cost::ValueId value) {
    return values[value].placement.layout;
  };
  auto made = [&](cost::ValueId value) {
    return values[value].ready[static_cast<size_t>(layoutOf(value))];
  };
  result.end = {layoutOf(body.exitResidual), layoutOf(body.exitMain),
                std::nullopt};
  InlineVector<int, 3> ready = {made(body.exitResidual), made(body.exitMain)};
  if (body.exitShared) {
    result.end.shared = layoutOf(*body.exitShared);
    ready.push_back(made(*body.exitShared));
  }

  result.firstTasks.push_back(static_cast<unsigned>(result.tasks.size()));
  const cost::LayerExit::Moves moves = result.end.into(result.anchor);
  Task end;
  if (moves.join)
    end = maker.task(cost::joinKernel(*moves.join, rows, costs.model().rowBytes,
                                      costs.context(strategy.degrees)));
  for (size_t i = 0; i < ready.size(); ++i) {
    end.after[i] = ready[i];
    if (i >= moves.sources.size())
      continue;
    if (std::optional<cost::Collective> collective =
            cost::reshardCollective(moves.sources[i], result.anchor, rows,
                                    costs.model().rowBytes, strategy.degrees)) {
      end.after[i] = append(result, maker.task(*collective), ready[i]);
      result.collectiveBytes =
          std::max(result.collectiveBytes, collective->bytes);
    }
  }
  result.tasks.push_back(end);
}

double LayerWalker::leaveSeconds(const cost::LayerExit &end, Layout to,
                                 double rows) const {
  const cost::LayerExit::Moves moves = end.into(to);
  double seconds = 0;
  for (Layout from : moves.sources)
    seconds += costs.time().reshard(from, to, rows, costs.model().rowBytes,
                                    strategy.degrees);
  if (moves.join)
    seconds += costs.time().seconds(
        cost::joinKernel(*moves.join, rows, costs.model().rowBytes,
                         costs.context(strategy.degrees)));
  return seconds;
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

double LayerWalker::bytes(unsigned body, const LayerContext &context) {
  double bytes = 0;
  [[maybe_unused]] const bool isLegal =
      walk(body, context.whole,
           [&](const cost::Node &node,
               const InlineVector<cost::Placement, 2> &incoming,
               const cost::Rule &rule) {
             const cost::OpCost cost =
                 node.op->cost(dimOf(node), incoming,
                               context.of(rule.operands[0].required.layout));
             bytes += cost.weightBytes + cost.cacheBytes;
             return LayerProgram::entry;
           });
  assert(isLegal && "bytes of an illegal layer");
  return bytes;
}
