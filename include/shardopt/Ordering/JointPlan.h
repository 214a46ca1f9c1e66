//===- JointPlan.h - Dims, stages and order together -------------*- C++
//-*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dims, a cut into stages and an order of ops are usually chosen one after the
// other: the dims that are best where nothing overlaps, the cut that balances
// them, the order that hides most of what they send. But an order hides what
// dims made, so that dims that send more and compute less may be better behind
// it. Here all three are chosen for what the event simulator says of the whole.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_ORDERING_JOINTPLAN_H
#define SHARDOPT_ORDERING_JOINTPLAN_H

#include "shardopt/Ordering/StepOrder.h"

namespace shardopt::ordering {

/// A model in decode with a memory limit, and degrees; what stages these have
/// is not looked at.
struct JointProblem {
  cost::Model model;
  std::shared_ptr<const cost::TimeModel> time;
  std::optional<double> skew; ///< of the load of experts
  double memoryBytes = 0;     ///< of a device
  Degrees degrees;
};

struct JointOptions {
  std::vector<int64_t> chunks = {1, 2};
  /// Micro-batches that go round the stages, that are tried: a plan is worth
  /// the turn of its ring. Empty: it is worth a step by itself.
  std::vector<int64_t> inFlight = {};
  int64_t rounds = 8;     ///< of the solver, for each order
  int64_t mostMoves = 64; ///< that improve the plan
  double timeLimit = 0; ///< seconds, in which at least one is ordered; 0: none
  const StopToken *stop = nullptr;
};

struct JointChoice {
  Strategy strategy;
  int64_t inFlight = 0; ///< micro-batches of a ring; 0: a step by itself
  int64_t chunks = 1;
  int64_t planned = 0;  ///< the makespan or turn, nanoseconds
  double contended = 0; ///< what the event simulator makes of it
};

struct JointPlan {
  JointChoice sequential; ///< one after the other
  JointChoice joint;      ///< never slower
  /// No dims, cut and order are faster, in nanoseconds: of the chunks and
  /// micro-batches that are tried, what the slowest stage computes at least, as
  /// if nothing were sent.
  double bound = 0;
  int64_t evaluated = 0;  ///< plans that were ordered
  bool isSettled = false; ///< no single move improves the joint one
};

/// Begins with the exact optima for times in which only a part of what is sent
/// counts, from all of it to nothing, and moves the best of them as long as
/// that helps: a layer to the stage beside it, or a dim. Errors: degrees that
/// are structurally invalid, or nothing that fits into memory.
ErrorOr<JointPlan> planJointly(const JointProblem &problem,
                               const JointOptions &options);

} // namespace shardopt::ordering

#endif // SHARDOPT_ORDERING_JOINTPLAN_H
