//===- JointPlan.h - Dims, stages and order together ----------------------===//
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

#ifndef SHARDOPT_PLANNING_ORDERING_JOINTPLAN_H
#define SHARDOPT_PLANNING_ORDERING_JOINTPLAN_H

#include "shardopt/Planning/Ordering/RingOrder.h"
#include "shardopt/Planning/Ordering/StepOrder.h"

#include <limits>

namespace shardopt::ordering {

/// A model in decode with a memory limit, and the strategy that is compared
/// with.
struct JointProblem {
  cost::Model model;
  std::shared_ptr<const cost::TimeModel> time;
  std::optional<double> skew; ///< of the load of experts
  double memoryBytes = 0;     ///< of a device
  Degrees degrees;            ///< stages count, together with dims alone
  /// Empty: the exact optimum of the degrees is compared with, with its cut.
  std::vector<Dim> dims = {};
  /// A device's for values between ops.
  double activationBytes = std::numeric_limits<double>::infinity();
};

struct JointOptions {
  std::vector<int64_t> chunks = {1, 2};
  /// Micro-batches that go round the stages, that are tried: a plan is worth
  /// the turn of its ring. Empty: it is worth a step by itself.
  std::vector<int64_t> inFlight = {};
  int64_t rounds = 64;    ///< of the solver, for the orders that are answers
  int64_t mostMoves = 64; ///< that improve the plan
  double timeLimit = 0; ///< seconds, in which at least one is ordered; 0: none
  const StopToken *stop = nullptr;
};

/// A strategy with an order. Times are nanoseconds.
struct JointChoice {
  Strategy strategy;
  int64_t inFlight = 0; ///< micro-batches of a ring; 0: a step by itself
  int64_t chunks = 1;
  int64_t planned = 0;  ///< the makespan or turn
  double contended = 0; ///< what the event simulator makes of it
  /// One of both: what was ordered.
  std::shared_ptr<const OrderedStep> step = nullptr;
  std::shared_ptr<const OrderedRing> ring = nullptr;

  const schedule::Instance &instance() const {
    return ring ? ring->frame.instance : step->instance;
  }
  /// Of that instance; a turn of a ring.
  schedule::Schedule schedule() const {
    return ring ? schedule::Schedule{instance().placement(), ring->turn.starts}
                : *step->result.schedule;
  }
};

struct JointPlan {
  /// What the strategy takes where a stage does one thing at a time: the time
  /// per token of the cost model, which no ring of as many micro-batches
  /// exceeds, or a step in as many chunks as the sequential plan has.
  double own = 0;
  /// The strategy, ordered: what `--llm-schedule-stages` finds with the same
  /// rounds, chunks and micro-batches.
  JointChoice sequential;
  JointChoice joint; ///< neither planned nor contended slower than that
  /// No dims, cut and order are faster, in nanoseconds: of the chunks and
  /// micro-batches that are tried, what the slowest stage computes at least, as
  /// if nothing were sent.
  double bound = 0;
  int64_t evaluated = 0;  ///< strategies that were ordered
  bool isSettled = false; ///< no single move improves the joint one

  /// Of what was planned, what is not proved.
  double gap() const {
    return joint.planned > 0 ? 1 - bound / double(joint.planned) : 0;
  }
};

/// The micro-batches of rings of `degrees` that are tried unless others are
/// asked for: as many as the cost model has, one less and one more.
std::vector<int64_t> usualInFlight(const cost::CostModel &costs,
                                   const Degrees &degrees);

/// Begins with the strategy and the exact optima for times in which only a part
/// of what is sent counts, from all of it to nothing, and moves the best of
/// them as long as that helps: a layer to the stage next to it, or a dim. Of a
/// model without trellises the strategy begins alone, and layers move alone.
/// Each is offered the order in which the program is written. Errors: degrees
/// that are structurally invalid, a strategy or degrees that do not fit into
/// memory.
ErrorOr<JointPlan> planJointly(const JointProblem &problem,
                               const JointOptions &options);
/// The same with the model, times and memory of `costs`, and `strategy`. An
/// error, too, if they are those of prefill.
ErrorOr<JointPlan> planJointly(std::shared_ptr<const cost::CostModel> costs,
                               std::optional<double> skew,
                               const Strategy &strategy,
                               const JointOptions &options);

} // namespace shardopt::ordering

#endif // SHARDOPT_PLANNING_ORDERING_JOINTPLAN_H
