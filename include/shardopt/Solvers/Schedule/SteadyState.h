//===- SteadyState.h - A repetition every so often, for ever ----*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SCHEDULE_STEADYSTATE_H
#define SHARDOPT_SOLVERS_SCHEDULE_STEADYSTATE_H

#include "shardopt/Solvers/Schedule/Instance.h"

namespace shardopt::schedule {

class Budget;

/// A modulo schedule: repetition c starts operator i at starts[i] + c * period,
/// for ever. What machines and memory see repeats with the period.
struct SteadyState {
  int64_t period = 0;
  int64_t latency = 0; ///< from the first start of a repetition to its end
  /// No period is less (`leastPeriod`, or what a ring takes).
  int64_t leastPeriod = 0;
  std::vector<int64_t> starts; ///< of operators of the graph
  std::vector<int64_t> peaks;  ///< bytes, of devices

  bool isLeast() const { return period <= leastPeriod; }
};

/// A ring: a repetition (a token of a group of requests) begins anew once it
/// has ended and what it sends back has arrived, after `groups` periods.
struct Ring {
  int32_t groups = 1;
  int64_t returnTime = 0;
};

/// The modulo schedule with the least period that is found from the bound
/// upwards, of all operators in their placement; asks CaDiCaL with the
/// variables of `StepGrid`. Nothing if the budget is over, in a build without
/// CaDiCaL, where groups are free, and where nothing frees some bytes of a
/// device with a limit. Only the graph of `instance` is read.
std::optional<SteadyState> planSteadyState(const Instance &instance,
                                           const std::optional<Ring> &ring,
                                           const Budget &budget);

/// The repetitions of `instance` as `steady` has them.
Schedule unroll(const Instance &instance, const SteadyState &steady);

} // namespace shardopt::schedule

#endif // SHARDOPT_SOLVERS_SCHEDULE_STEADYSTATE_H
