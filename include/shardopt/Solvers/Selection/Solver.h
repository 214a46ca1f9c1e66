//===- Solver.h - Strategy selection with a certificate ---------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SELECTION_SOLVER_H
#define SHARDOPT_SOLVERS_SELECTION_SOLVER_H

#include "shardopt/Solvers/Selection/OtherMethod.h"
#include "shardopt/Solvers/Selection/Verify.h"
#include "shardopt/Support/Stop.h"

#include <functional>

namespace shardopt::solve {

/// How far a search is.
struct Progress {
  const char *phase;
  double seconds; ///< since the start
  int64_t rounds;
  std::optional<Int128> cost, bound;
  /// The cost has infinite ones in it, which may yet be avoided.
  bool isForbidden = false;
};

struct SolverOptions {
  MethodMaker otherMethod = {}; ///< if any
  /// Seconds, from `secondsBefore` before the call; 0 for none.
  double timeLimit = 60;
  /// What the time limit counts that was spent before.
  double secondsBefore = 0;
  /// Rounds after which to stop whatever the time; 0 for none. A run that the
  /// rounds end, and not the time, is the same on every machine.
  int64_t rounds = 0;
  /// Searches that run in parallel and share what they find. They belong
  /// to the problem that is solved, unlike threads.
  int workers = 2;
  int threads = 2;
  uint64_t seed = 1;
  /// Stops once (cost - bound) / cost is at most this.
  double gap = 0;
  /// Parts to leave out, to see what they are worth.
  bool withoutReductions = false;
  bool withoutMessages = false;
  bool withoutNeighbourhoods = false;
  bool withoutFixing = false;
  bool withoutTree = false;
  bool withoutTightening = false;
  bool withoutRestarts = false;

  const StopToken *stop = nullptr;
  /// Called from the thread of the caller, after each round.
  std::function<void(const Progress &)> onProgress;
  /// The same for each better solution; all of them fit.
  std::function<void(const Solution &, Int128 cost)> onSolution;
};

struct PhaseTime {
  const char *name;
  double seconds;
};

struct SolverResult {
  /// The best solution found, which fits; none if nothing fits.
  std::optional<Solution> solution;
  Int128 cost = 0;
  /// No solution that fits costs less.
  std::optional<Int128> bound;
  /// Whether the solution is known to be the best, or known not to exist.
  bool proved = false;
  std::optional<Shortage> shortage; ///< why nothing fits
  /// What ended the search: "proved", "gap", "rounds", "time", "signal", or
  /// "exhausted": nothing more can be done, as costs were rounded to be summed,
  /// or parts of the search were left out.
  const char *stopped = "";
  int64_t rounds = 0;

  size_t numNodes = 0, numEdges = 0, numStrategies = 0, numTimes = 0;
  std::vector<std::pair<const char *, size_t>> reductions;
  std::vector<PhaseTime> phases;

  double gap() const;
};

/// Solves a problem that was checked. Two runs with the same problem, seed,
/// workers and rounds give the same result at any number of threads.
SolverResult solve(const Problem &problem, const SolverOptions &options);

} // namespace shardopt::solve

#endif // SHARDOPT_SOLVERS_SELECTION_SOLVER_H
