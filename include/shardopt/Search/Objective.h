//===- Objective.h - What a search optimises --------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SEARCH_OBJECTIVE_H
#define SHARDOPT_SEARCH_OBJECTIVE_H

#include "shardopt/Model/Strategy.h"
#include "shardopt/Support/Goal.h"

namespace shardopt::search {

using shardopt::Goal;

/// Orders evaluations: valid ones before invalid ones, valid ones by the goal,
/// invalid ones by how far they exceed the limits.
///
/// The limits only serve to measure violations; whether a strategy is valid is
/// the simulator's to say. A limit of 0 is unknown, and an evaluation that
/// exceeds an unknown limit has the violation 1.
struct Objective {
  Goal goal = Goal::Throughput;
  double sloMs = 0;            ///< TPOT or TTFT
  double memoryCapacityGb = 0; ///< units of 1e9 bytes a device
  double activationsGb = 0;    ///< of values between ops, the same

  /// A strict weak order: whether `a` is better than `b`.
  bool better(const Evaluation &a, const Evaluation &b) const;

  /// The metric of the goal: tokens/s per device, or milliseconds.
  double value(const Evaluation &evaluation) const;

  /// The logarithm of the metric, signed so that more is better: finite, of a
  /// metric of 0 that of the least double. Only valid evaluations have one.
  double score(const Evaluation &evaluation) const;

  /// 0 if valid; the sum of max(0, log(value/limit)) of memory, activations and
  /// latency if a limit is exceeded; a constant above any of these if
  /// structural or failed.
  double violation(const Evaluation &evaluation) const;
};

/// Whether the value `a` of the goal is strictly better than `b`.
bool isBetterValue(Goal goal, double a, double b);

} // namespace shardopt::search

#endif // SHARDOPT_SEARCH_OBJECTIVE_H
