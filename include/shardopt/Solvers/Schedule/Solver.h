//===- Solver.h - A schedule and its distance from the best -----*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SCHEDULE_SOLVER_H
#define SHARDOPT_SOLVERS_SCHEDULE_SOLVER_H

#include "shardopt/Solvers/Schedule/Search.h"

namespace shardopt::schedule {

struct SolverOptions {
  Criterion objective = Criterion::Makespan;
  /// One of backendNames().
  std::string backend = "portfolio";
  double timeLimit = 60; ///< seconds; 0 for none
  int64_t rounds = 0;    ///< of the searches that have no end; 0 for no limit
  int threads = 1;
  uint64_t seed = 1;
  const StopToken *stop = nullptr;
  /// Schedules that the portfolio and the local search begin with, and where
  /// they come from.
  std::vector<std::pair<std::string, Schedule>> known;
};

struct PhaseTime {
  std::string name;
  double seconds;
};

struct SolverResult {
  std::optional<Schedule> schedule; ///< valid
  Verdict verdict;                  ///< of the schedule
  Bounds bounds;                    ///< of the makespan
  int64_t value = 0, bound = 0;     ///< of the objective
  bool proved = false;              ///< that no schedule is better
  std::string finder;               ///< the back-end that found the schedule
  /// "proved", "rounds", "time", "signal", or "exhausted": no back-end knew
  /// more to try.
  std::string stopped;
  std::vector<PhaseTime> phases;
  std::optional<SteadyState> steady; ///< where the back-end for it ran
  std::optional<Error> shortage;     ///< why there is no schedule
  std::optional<Error> mistake;      ///< a back-end offered what is no schedule

  /// (value - bound) / value
  double gap() const;
};

/// The names of back-ends of this build, "portfolio" first.
std::vector<std::string> backendNames();

/// What a back-end that is known but not built needs; empty for all others.
std::string missingLibrary(const std::string &backend);

/// Two runs that their rounds end give the same schedule at any number of
/// threads.
SolverResult solve(const Instance &instance, const SolverOptions &options);

} // namespace shardopt::schedule

#endif // SHARDOPT_SOLVERS_SCHEDULE_SOLVER_H
