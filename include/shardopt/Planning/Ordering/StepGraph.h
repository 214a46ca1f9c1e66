//===- StepGraph.h - A step of a strategy as a graph to order ---*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Stages are the devices: all devices of one do the same, and wait for each
// other in its collectives. An op becomes an operator of the compute machine,
// what it and its operands send one of the comm machine, in the order in which
// `Breakdown` adds them up.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_PLANNING_ORDERING_STEPGRAPH_H
#define SHARDOPT_PLANNING_ORDERING_STEPGRAPH_H

#include "shardopt/Cost/CostModel.h"
#include "shardopt/Solvers/Schedule/PlanGraph.h"

namespace shardopt::ordering {

struct StepOptions {
  /// Parts of each micro-batch. The parts take turns, so that one
  /// computes while another sends; each reads all weights.
  int64_t chunks = 1;
  /// Whether ops of a chunk may pass each other where no value forbids it;
  /// otherwise both machines of a stage take them in the order of the program.
  bool reorders = false;
  /// By stage, where stages stand on unlike machines: their times. Empty: those
  /// of the costs.
  std::vector<const cost::TimeModel *> clocks = {};
  /// Micro-batches of a replica's sequences; 0: those of the cost model.
  int64_t microBatches = 0;
  /// Whether the head sees all rows, for the loss of each.
  bool isTraining = false;
};

/// What the backward pass of an operator takes.
struct Gradients {
  double inputSeconds = 0, weightSeconds = 0;
  double keptBytes = 0;  ///< from its forward pass on
  double parameters = 0; ///< of a device
};

/// What an operator of the graph does.
struct StepOrigin {
  enum class Part : uint8_t {
    Operands, ///< reshards in front of an op
    Kernels,
    Collectives, ///< behind them
    Exit,        ///< the end of a layer
    Transfer,    ///< to the next stage
    TokenReturn, ///< from the last stage to the first
  };
  Part part = Part::Kernels;
  int32_t variable = -1; ///< of the op, in `Strategy::dims`; -1: of none
  int32_t layer = -1;    ///< -1: embedding or head
};

/// One step, a micro-batch or a chunk of one. Repeated `copies` times it is
/// the whole batch. Times are nanoseconds.
struct StepGraph {
  schedule::PlanGraph graph;
  std::vector<StepOrigin> origins;  ///< by operator
  std::vector<Gradients> gradients; ///< by operator
  int32_t copies = 1;
  int32_t chunks = 1; ///< of a micro-batch; divides `copies`
};

/// How the residual gets to the stage that begins with layer `next`.
InlineVector<cost::Collective, 2> transferInto(const cost::CostModel &costs,
                                               const Strategy &strategy,
                                               const cost::TimeModel &clock,
                                               int64_t next);

/// The step of `strategy`. Parameters are weights and caches, and the bytes of
/// an operator are the residual of its copy while that is in the stage; memory
/// of devices is not limited. Errors: a strategy that is structurally invalid,
/// a step that is too long or too large.
ErrorOr<StepGraph> makeStepGraph(const cost::CostModel &costs,
                                 const Strategy &strategy,
                                 const StepOptions &options);

} // namespace shardopt::ordering

#endif // SHARDOPT_PLANNING_ORDERING_STEPGRAPH_H
