//===- SatProgram.h - Steps decided by CaDiCaL ------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_SOLVERS_SCHEDULE_SATPROGRAM_H
#define SHARDOPT_LIB_SOLVERS_SCHEDULE_SATPROGRAM_H

#include "Deciding.h"

namespace shardopt::schedule {

/// Gives a sink what steps have to fulfil; false if the budget ended it.
using BuildSteps = std::function<bool(StepSink &sink)>;

struct SatOutcome {
  Answer answer = Answer::Unknown;
  std::vector<char> values; ///< of steps, if there is a solution

  bool isTrue(Step step) const { return values[step]; }
};

/// Looks for values of the steps 0, …, `numSteps` - 1 with at most so many
/// conflicts.
SatOutcome solveBySat(int64_t numSteps, const BuildSteps &build,
                      int64_t conflicts, const Budget &budget);

} // namespace shardopt::schedule

#endif // SHARDOPT_LIB_SOLVERS_SCHEDULE_SATPROGRAM_H
