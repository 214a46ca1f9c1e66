//===- Replay.h - A planned order, event by event ---------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_PLANNING_ORDERING_REPLAY_H
#define SHARDOPT_PLANNING_ORDERING_REPLAY_H

#include "shardopt/Solvers/Schedule/RingTurn.h"

namespace shardopt::ordering {

/// What becomes of the orders of a schedule.
struct Replay {
  double makespan = 0;
  std::vector<double> ends; ///< of operators
};

/// Runs the operators of `schedule` in the event simulator, which knows nothing
/// of its times: each machine takes its operators in the planned order, and
/// each waits for those before it. `interference` is what a kernel loses during
/// a transfer; without it, the makespan is that of the schedule if no operator
/// starts later than it could. Bytes on edges take no time.
Replay replay(const schedule::Instance &instance,
              const schedule::Schedule &schedule, double interference);

/// Runs the orders of `turn` again and again, from standstill. The makespan is
/// that of a turn once they have settled: between the ends of two of them, and
/// the ends are those of the last one, from its start on. Without
/// `interference` a turn starts a period after the one before, and all is as it
/// was planned; with it, as soon as it can, and several turns are averaged.
Replay replayTurn(const schedule::RingFrame &frame,
                  const schedule::RingTurn &turn, double interference);

/// What a kernel loses during a transfer, as in the procedural simulator.
constexpr double kernelInterference = 0.15;

} // namespace shardopt::ordering

#endif // SHARDOPT_PLANNING_ORDERING_REPLAY_H
