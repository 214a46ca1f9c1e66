//===- Search.h - What back-ends share --------------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SCHEDULE_SEARCH_H
#define SHARDOPT_SOLVERS_SCHEDULE_SEARCH_H

#include "shardopt/Solvers/Schedule/Bounds.h"
#include "shardopt/Solvers/Schedule/SteadyState.h"
#include "shardopt/Solvers/Schedule/Validate.h"
#include "shardopt/Support/Stop.h"

#include <chrono>
#include <string>

namespace shardopt::schedule {

/// What is made small.
enum class Criterion : uint8_t {
  Makespan, ///< the end of the last operator
  OwnSpan,  ///< the longest span of a device between its first and last one
  Memory    ///< bytes at the worst time of any device, then the makespan
};

/// When to end. A search that its rounds end is the same on every machine.
class Budget {
public:
  /// Seconds from now; 0 for no limit. Rounds are steps of the local search and
  /// of the solvers; 0 for no limit.
  Budget(double seconds, int64_t rounds, const StopToken *stop);

  /// That part of the seconds left, and as many rounds; the same if there is no
  /// limit.
  Budget part(double fraction) const;

  bool isOver() const;
  double secondsLeft() const; ///< 1e9 without a limit
  double seconds() const;     ///< since the start
  int64_t rounds() const { return mostRounds; }
  const StopToken *stopToken() const { return stop; }

private:
  std::chrono::steady_clock::time_point start;
  double limit;
  int64_t mostRounds;
  const StopToken *stop;
};

/// The best schedule so far, validated before it is taken, and what bounds it.
class Incumbent {
public:
  Incumbent(const Instance &instance, Criterion objective);

  /// Takes the schedule if it is valid and better; says who found it.
  bool offer(const Schedule &schedule, const std::string &by);
  /// No schedule has a makespan of less.
  void raiseBound(int64_t makespan);
  /// None has a peak of less.
  void raiseMemoryBound(int64_t bytes);
  /// There is no schedule at all.
  void refuteAll() { impossible = true; }
  bool isImpossible() const { return impossible; }

  /// What repetitions tend to, for the report.
  void setSteadyState(SteadyState state) { steady = std::move(state); }
  const std::optional<SteadyState> &steadyState() const { return steady; }

  const Instance &instance() const { return problem; }
  Criterion objective() const { return aim; }
  bool exists() const { return found.has_value(); }
  const Schedule &schedule() const { return *found; }
  const Verdict &verdict() const { return best; }
  const std::string &finder() const { return by; }
  const Bounds &bounds() const { return limits; }
  /// Of the objective.
  int64_t value() const;
  int64_t bound() const;
  bool isProved() const { return exists() && value() <= bound(); }
  /// Schedules that back-ends offered and that are none: bugs.
  int64_t numRejected() const { return rejected; }
  const std::string &rejection() const { return reason; }

  int64_t valueOf(const Verdict &verdict) const;

private:
  const Instance &problem;
  Criterion aim;
  Bounds limits;
  std::optional<Schedule> found;
  Verdict best;
  std::optional<SteadyState> steady;
  std::string by, reason;
  int64_t rejected = 0;
  int64_t leastBytes = 0; ///< of the worst device
  bool impossible = false;
};

/// A way to find schedules, or to refute that better ones exist.
class Backend {
public:
  virtual ~Backend() = default;
  virtual const char *name() const = 0;
  /// Improves `incumbent` until it is proved, the back-end is at its end or the
  /// budget is.
  virtual void improve(Incumbent &incumbent, const Budget &budget) = 0;
};

} // namespace shardopt::schedule

#endif // SHARDOPT_SOLVERS_SCHEDULE_SEARCH_H
