//===- StepOrder.h - The order in which stages work -------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_PLANNING_ORDERING_STEPORDER_H
#define SHARDOPT_PLANNING_ORDERING_STEPORDER_H

#include "shardopt/Planning/Ordering/StepGraph.h"
#include "shardopt/Solvers/Schedule/Baselines.h"
#include "shardopt/Solvers/Schedule/Solver.h"

namespace shardopt::ordering {

struct OrderOptions {
  schedule::SolverOptions solver;
  std::vector<int64_t> chunks = {1}; ///< that are tried
  bool reorders = false;             ///< `StepOptions::reorders`
};

/// A step with its order. Times are nanoseconds.
struct OrderedStep {
  StepGraph step; ///< its graph is that of `instance`
  schedule::Instance instance;
  /// The schedule starts every operator as early as its order permits.
  schedule::SolverResult result;
  /// The makespan where nothing overlaps within a stage: micro-batches one
  /// after the other, kernels and collectives too.
  int64_t serial = 0;
  /// That of the same order, where a collective runs during the kernels that do
  /// not wait for it.
  int64_t programOrder = 0;
  int64_t replayed = 0; ///< the makespan as the event simulator has it
  double contended = 0; ///< the same with kernels slowed by collectives

  /// Operators in the order in which each machine of each stage takes them.
  std::vector<std::vector<int32_t>> orders() const;
};

/// Orders the step of `strategy` once for each number of chunks, the first of
/// which is that of the first of `chunks`. Those that exceed the sequences of a
/// micro-batch are left out; an error if that leaves none. The seconds and
/// rounds of the solver are for each.
ErrorOr<std::vector<OrderedStep>> orderStep(const cost::CostModel &costs,
                                            const Strategy &strategy,
                                            const OrderOptions &options);

/// What an order is compared with: "serial", which does one thing at a time and
/// is no schedule of the instance, and "program_order".
std::vector<schedule::Baseline>
stepBaselines(const schedule::Instance &instance);

/// The one of the least makespan, the first of several.
size_t fastest(const std::vector<OrderedStep> &steps);

} // namespace shardopt::ordering

#endif // SHARDOPT_PLANNING_ORDERING_STEPORDER_H
