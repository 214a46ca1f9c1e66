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

double LayerProgram::seconds() const {
  double sum = 0;
  for (const Task &task : tasks)
    sum += task.seconds();
  return sum;
}

bool LayerProgram::sendsKernel(size_t i) const {
  auto [first, second, third] = tasks[i].after;
  return tasks[i].link != Link::None && first >= 0 && second == Task::none &&
         third == Task::none && tasks[size_t(first)].link == Link::None;
}

LayerWalker::LayerWalker(const cost::CostModel &costs, const TaskMaker &maker,
                         const Strategy &strategy)
    : costs(costs), maker(maker), strategy(strategy), walk(costs, strategy) {}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

/// Adds `task` to `result` behind the task `after`, and returns its number;
/// `after` itself if it takes no time.
static int append(LayerProgram &result, Task task, int after) {
  if (task.seconds() == 0)
    return after;
  task.after[0] = after;
  result.tasks.push_back(task);
  return int(result.tasks.size()) - 1;
}

/// Adds `steps`, one after the other, in the same way.
static int append(LayerProgram &result, const TaskMaker &maker,
                  const cost::Reshard &steps, int after) {
  for (const cost::Collective &step : steps) {
    result.collectiveBytes = std::max(result.collectiveBytes, step.bytes);
    after = append(result, maker.task(step), after);
  }
  return after;
}

/// The share of the bytes of a value that a rank holds.
static double heldShare(const cost::Placement &placement,
                        const cost::Context &context) {
  switch (placement.layout) {
  case Layout::R:
  case Layout::P:
    return 1;
  case Layout::T:
  case Layout::H:
  case Layout::TH:
    return 1 / context.ranks(placement.over);
  case Layout::TR:
  case Layout::TP:
    return 1 / context.ranks(Axis::Q);
  }
  return 1;
}

namespace {

/// Writes the tasks of the ops of a layer. The handle of a copy is the task
/// after which it is there.
struct ProgramWriter {
  const TaskMaker &maker;
  const LayerContext &context;
  LayerProgram &result;
  std::array<int, 3> operands = {}; ///< of the op at hand, when they are there
  double operandBytes = 0;          ///< of the op at hand

  void begin(const cost::WalkedOp &) {
    result.firstTasks.push_back(unsigned(result.tasks.size()));
    operands.fill(Task::none);
    operandBytes = 0;
  }

  int reshard(const cost::WalkedOp &op, unsigned i, int from,
              const cost::Reshard &steps) {
    const cost::OperandRule &operand = op.rule.operands[i];
    operands[i] = append(result, maker, steps, from);
    operandBytes += operand.rows * operand.required.rowBytes *
                    heldShare(operand.required, context.whole);
    return operands[i];
  }

  /// Kernels and then collectives, each after the one before it.
  int run(const cost::WalkedOp &op) {
    result.operandBytes = std::max(result.operandBytes, operandBytes);
    cost::OpCost cost = op.node.op->cost(
        op.dim, op.incoming, context.of(op.rule.operands[0].required.layout));
    int last = operands[0];
    auto follow = [&](const Task &task) {
      int next = append(result, task, last);
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
  }
};

} // namespace

bool LayerWalker::program(unsigned body, const LayerContext &context,
                          LayerProgram &result) {
  result.tasks.clear();
  result.firstTasks.clear();
  result.anchor = entering(body).layout;
  result.operandBytes = result.collectiveBytes = 0;
  ProgramWriter writer{maker, context, result};
  if (!walk.walk(body, context.whole, LayerProgram::entry, writer))
    return false;
  addEnd(double(context.whole.rows), result);
  result.isSent.assign(result.tasks.size(), false);
  for (size_t i = 0; i < result.tasks.size(); ++i)
    if (result.sendsKernel(i))
      result.isSent[size_t(result.tasks[i].after[0])] = true;
  return true;
}

/// The sum that ends the layer, in the layout that a layer like it wants.
void LayerWalker::addEnd(double rows, LayerProgram &result) {
  result.end = walk.exit();
  auto ready = walk.leaving();
  result.firstTasks.push_back(unsigned(result.tasks.size()));
  cost::LayerExit::Moves moves = result.end.into(result.anchor);
  std::vector<int> moved(ready.begin(), ready.end());
  for (size_t i = 0; i < moves.sources.size(); ++i)
    moved[i] = append(result, maker,
                      cost::reshardCollectives(moves.sources[i], result.anchor,
                                               rows, costs.model().rowBytes,
                                               strategy.degrees),
                      moved[i]);
  std::vector<Task> joins;
  for (Layout join : moves.joins)
    joins.push_back(maker.task(cost::joinKernel(
        join, rows, costs.model().rowBytes, costs.context(strategy.degrees))));
  // A task waits for a few others at most: sums of a few end in one task each.
  Task end;
  size_t waits = 0;
  auto next = [&](const Task &task) {
    result.tasks.push_back(end);
    end = task;
    end.after[0] = int(result.tasks.size()) - 1;
    waits = 1;
  };
  if (!joins.empty())
    end = joins.front();
  for (int before : moved) {
    if (waits == end.after.size())
      next(Task());
    end.after[waits++] = before;
  }
  for (size_t i = 1; i < joins.size(); ++i)
    next(joins[i]);
  result.tasks.push_back(end);
}

double LayerWalker::leaveSeconds(const cost::LayerExit &end, Layout to,
                                 double rows) const {
  cost::LayerExit::Moves moves = end.into(to);
  double seconds = 0;
  for (Layout from : moves.sources)
    seconds += costs.time().reshard(from, to, rows, costs.model().rowBytes,
                                    strategy.degrees);
  for (Layout join : moves.joins)
    seconds += costs.time().seconds(cost::joinKernel(
        join, rows, costs.model().rowBytes, costs.context(strategy.degrees)));
  return seconds;
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

namespace {

/// Adds up what a device holds of the ops of a layer.
struct ByteCounter {
  const LayerContext &context;
  double bytes = 0;

  void begin(const cost::WalkedOp &) {}
  int reshard(const cost::WalkedOp &, unsigned, int from,
              const cost::Reshard &) {
    return from;
  }
  int run(const cost::WalkedOp &op) {
    cost::OpCost cost = op.node.op->cost(
        op.dim, op.incoming, context.of(op.rule.operands[0].required.layout));
    bytes += cost.weightBytes + cost.cacheBytes;
    return LayerProgram::entry;
  }
};

} // namespace

double LayerWalker::bytes(unsigned body, const LayerContext &context) {
  ByteCounter counter{context};
  [[maybe_unused]] const bool isLegal =
      walk.walk(body, context.whole, LayerProgram::entry, counter);
  assert(isLegal && "bytes of an illegal layer");
  return counter.bytes;
}
