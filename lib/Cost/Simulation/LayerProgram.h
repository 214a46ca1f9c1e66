//===- LayerProgram.h - The tasks of one layer of a strategy ----*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_COST_SIMULATION_LAYERPROGRAM_H
#define SHARDOPT_LIB_COST_SIMULATION_LAYERPROGRAM_H

#include "TaskMaker.h"
#include "shardopt/Cost/LayerWalk.h"

#include <vector>

namespace shardopt::simulation {

/// What the ops of a layer see. Sequences of different length make the slowest
/// rank: of those that hold whole rows, or of those that hold a share of them
/// (layout T).
struct LayerContext {
  cost::Context whole, cut;

  const cost::Context &of(cost::Layout layout) const {
    return layout == cost::Layout::T ? cut : whole;
  }
};

/// The tasks of one layer for one micro-batch or a chunk of it.
struct LayerProgram {
  /// In Task::after: the last task of the layer before.
  static constexpr int entry = -2;

  /// In program order; `after` counts from the layer's first task. The last
  /// one, which may take no time, ends the layer.
  std::vector<Task> tasks;
  std::vector<unsigned> firstTasks; ///< by op, and of the end of the layer
  /// By task: a kernel whose result a collective sends as it is.
  std::vector<bool> isSent;
  cost::Layout anchor = cost::Layout::R; ///< of the residual that enters
  cost::LayerExit end;                   ///< of the sum that leaves
  double operandBytes = 0; ///< most that one op reads of activations, a device
  double collectiveBytes = 0; ///< of the largest collective

  size_t numOps() const { return firstTasks.size(); }
  /// Of all tasks, one after the other.
  double seconds() const;
  /// Whether task number `i` is a collective that sends what one kernel of the
  /// layer makes.
  bool sendsKernel(size_t i) const;
};

/// Walks the dims of a strategy through layers, as the cost model does.
class LayerWalker {
public:
  LayerWalker(const cost::CostModel &costs, const TaskMaker &maker,
              const Strategy &strategy);

  /// Writes the tasks of a layer of `body`, followed by one like it; false if
  /// a dim is illegal.
  bool program(unsigned body, const LayerContext &context,
               LayerProgram &result);

  /// Bytes of weights and cache of a layer of `body`, whose dims are legal, on
  /// a device. `context` sees all micro-batches of the fullest ranks.
  double bytes(unsigned body, const LayerContext &context);

  /// The residual as the first op of `body` takes it.
  cost::Placement entering(unsigned body) const { return walk.entering(body); }

  /// Seconds to add up what leaves a layer and bring it to layout `to`.
  double leaveSeconds(const cost::LayerExit &end, cost::Layout to,
                      double rows) const;

  Dim dimOf(const cost::Node &node) const { return walk.dimOf(node); }

private:
  void addEnd(double rows, LayerProgram &result);

  const cost::CostModel &costs;
  const TaskMaker &maker;
  const Strategy &strategy;
  cost::LayerWalk<int> walk;
};

} // namespace shardopt::simulation

#endif // SHARDOPT_LIB_COST_SIMULATION_LAYERPROGRAM_H
