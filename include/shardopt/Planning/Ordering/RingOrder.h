//===- RingOrder.h - Decoding without an end --------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step of decode is followed by the next one. How many micro-batches go round
// the stages, and in how many chunks that overlap within a stage, is chosen for
// the time of a turn of that ring (`Schedule/RingTurn.h`), which is the time
// per output token. More of them hide more of what is sent and keep all stages
// at work; but each has fewer sequences, and reads all weights for them.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_PLANNING_ORDERING_RINGORDER_H
#define SHARDOPT_PLANNING_ORDERING_RINGORDER_H

#include "shardopt/Planning/Ordering/StepGraph.h"
#include "shardopt/Solvers/Schedule/RingTurn.h"
#include "shardopt/Solvers/Schedule/Solver.h"

namespace shardopt::ordering {

struct RingOptions {
  schedule::SolverOptions solver;
  std::vector<int64_t> inFlight = {1}; ///< micro-batches, that are tried
  std::vector<int64_t> chunks = {1};   ///< of each of them, that are tried
  bool reorders = false;               ///< `StepOptions::reorders`
  /// Leaves out, unordered, what cannot be better by its bound than another
  /// one. The choice is the same.
  bool prunes = true;
  /// Leaves out what has a longer turn by its bound, so that nothing may be
  /// left.
  std::optional<double> atMost = {};
};

/// A turn of the ring. Times are nanoseconds.
struct OrderedRing {
  schedule::RingFrame frame;
  schedule::RingTurn turn = {};
  StepGraph step = {}; ///< of a group: a chunk of a micro-batch
  int64_t inFlight = 1;
  std::string finder = {};
  bool isStaggered = false; ///< as `makeRingFrame`
  int64_t bound = 0;        ///< no order of these groups has a shorter turn
  /// The turn where nothing overlaps within a stage. With as many micro-batches
  /// as stages, in one chunk each, it is what the cost model says.
  int64_t serial = 0;
  /// Where groups keep their order and collectives run during kernels.
  int64_t programOrder = 0;
  int64_t replayed = 0;  ///< the turn as the event simulator has it
  double contended = 0;  ///< the same with kernels slowed by collectives
  double throughput = 0; ///< tokens/s for each device

  int32_t groups() const { return step.copies; }
  bool isProved() const { return turn.period <= bound; }
  double gap() const {
    return double(turn.period - bound) / double(turn.period);
  }
};

/// Turns of `strategy`, which is one of decode, in the order of `inFlight`, and
/// for each in that of `chunks`. Those that ask for more groups than a replica
/// has sequences, or than can be ordered, are left out; an error if that leaves
/// none. The seconds and rounds of the solver are for each; once a stop is
/// asked for, those that are left are not ordered.
ErrorOr<std::vector<OrderedRing>> orderRings(const cost::CostModel &costs,
                                             const Strategy &strategy,
                                             const RingOptions &options);

/// The one of the shortest turn, the first of several.
size_t fastest(const std::vector<OrderedRing> &rings);

} // namespace shardopt::ordering

#endif // SHARDOPT_PLANNING_ORDERING_RINGORDER_H
