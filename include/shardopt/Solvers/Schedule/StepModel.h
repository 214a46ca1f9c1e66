//===- StepModel.h - "Has it started by then?" as variables -----*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A variable for each operator and time, true if the operator has started by
// then. An edge is that a step implies another one; a machine, that of its
// operators at most one has started and not ended; memory, that what has
// started and was not freed fits. The same model is the order encoding of a
// satisfiability solver and the sparse rows of a mixed-integer one: both are
// sinks of it.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SCHEDULE_STEPMODEL_H
#define SHARDOPT_SOLVERS_SCHEDULE_STEPMODEL_H

#include "shardopt/Solvers/Schedule/Search.h"

#include <algorithm>
#include <functional>
#include <optional>

namespace shardopt::schedule {

/// A step: a variable of at least 0, or one of two that are known.
using Step = int32_t;
constexpr Step neverStep = -1;  ///< false
constexpr Step alwaysStep = -2; ///< true

/// Between two steps, where the second implies the first: an operator runs,
/// or its bytes live, if only the first is true.
struct Between {
  Step from, until;
};

/// The repetitions of an operator, in order: a later one begins no sooner than
/// one before and, for bytes, dies no sooner.
struct Stream {
  std::vector<Between> repetitions;
  int64_t weight = 1;
};

/// What takes a model. Streams without repetitions do not come.
class StepSink {
public:
  virtual ~StepSink() = default;
  /// A variable that is no step of an operator.
  virtual Step newStep() = 0;
  virtual void implies(Step a, Step b) = 0;
  /// Some step of `some` is true, or one of `unless` false.
  virtual void anyOf(const std::vector<Step> &some,
                     const std::vector<Step> &unless) = 0;
  /// At most one repetition of all streams at once. Within a stream that is so
  /// by itself.
  virtual void exclusive(const std::vector<Stream> &streams) = 0;
  /// The weights of the repetitions at once are at most `limit`, less than all.
  virtual void capacity(const std::vector<Stream> &streams, int64_t limit) = 0;
};

/// The steps of operators: a variable for each time of a window, in units.
class StepGrid {
public:
  /// Adds an operator that may start in [first, last].
  void add(int64_t first, int64_t last);
  /// Whether some window is empty.
  bool isRefuted() const { return refuted; }
  int64_t numSteps() const { return count; }

  /// `op` has started by `time`.
  Step at(int32_t op, int64_t time) const {
    if (time < firstTime[op])
      return neverStep;
    if (time >= lastTime[op])
      return alwaysStep;
    return firstStep[op] + Step(time - firstTime[op]);
  }
  /// A start implies all later ones.
  void addStart(StepSink &sink, int32_t op) const;
  /// `to` starts at least `distance` after `from`.
  void addPrecedence(StepSink &sink, int32_t from, int32_t to,
                     int64_t distance) const;

  /// `op`, which takes `length`, runs at `time`; none if it cannot.
  std::optional<Between> runOf(int32_t op, int64_t length, int64_t time) const;
  /// The bytes of `birth` live at `time`: it has started, and not all of
  /// `freers`, which take so long each, have ended (without freers: for
  /// ever); none if they cannot.
  struct Freer {
    int32_t op;
    int64_t length;
  };
  std::optional<Between> lifeOf(StepSink &sink, int32_t birth,
                                const std::vector<Freer> &freers,
                                int64_t time) const;

  /// The variables of `op`: one for each time of its window.
  std::pair<Step, Step> stepsOf(int32_t op) const {
    return {firstStep[op],
            firstStep[op] +
                Step(std::max<int64_t>(0, lastTime[op] - firstTime[op]))};
  }
  /// The start of a solution: `isTrue(step)` for each variable.
  template <typename IsTrue> int64_t startOf(int32_t op, IsTrue isTrue) const {
    int64_t time = firstTime[op];
    while (time < lastTime[op] && !isTrue(at(op, time)))
      ++time;
    return time;
  }

private:
  std::vector<int64_t> firstTime, lastTime;
  std::vector<Step> firstStep;
  int64_t count = 0;
  bool refuted = false;
};

/// The greatest common divisor of all times and transfers, at least 1.
int64_t unitOf(const Instance &instance, const std::vector<int32_t> &devices);

/// The variables for schedules of at most `makespan` and a given placement.
///
/// Or for steady states (`SteadyState.h`): with a `turn`, a repetition that
/// lasts at most `makespan` begins every `turn`, for ever. As many are under
/// way as it has turns, so that a machine or memory sees the one repetition
/// that has variables at all times that are the same modulo `turn`:
/// those are the repetitions of a stream.
class StepModel {
public:
  /// Every group has a device in `devices`, and steps are `spacing` apart. With
  /// `unitOf`, solutions are the schedules. With more, all times are rounded
  /// down: what has no solution has no schedule either, for any schedule is one
  /// once its starts are rounded down too, but not the other way round.
  ///
  /// `turn`, of an instance of one repetition, is a multiple of `spacing`.
  StepModel(const Instance &instance, const std::vector<int32_t> &devices,
            int64_t makespan, int64_t spacing,
            std::optional<int64_t> turn = std::nullopt);
  /// With `unitOf`.
  StepModel(const Instance &instance, const std::vector<int32_t> &devices,
            int64_t makespan);

  int64_t unit() const { return spacing; }
  /// Whether windows are empty, so that no such schedule exists.
  bool isRefuted() const { return grid.isRefuted(); }
  int64_t numSteps() const { return grid.numSteps(); }
  /// For each step, the first of those that are one where each operator of the
  /// graph starts as its `image` does, whose window is the same.
  std::vector<Step> stepsWithImage(const std::vector<int32_t> &image) const;
  /// Variables and terms, about: what a sink will have to hold.
  int64_t size() const;

  /// Whether it came to the end before the budget (null: none) was over.
  bool build(StepSink &sink, const Budget *budget = nullptr) const;

  /// The schedule of a solution: `isTrue(step)` for each variable. Of times
  /// that are rounded, that in which operators come in the order of their
  /// starts; nothing if memory is against it.
  template <typename IsTrue> std::optional<Schedule> read(IsTrue isTrue) const {
    Schedule schedule{devices, {}};
    for (int32_t op = 0; op < instance.numOps(); ++op)
      schedule.starts.push_back(grid.startOf(op, isTrue) * spacing);
    return isRounded ? withOwnTimes(schedule) : std::optional(schedule);
  }

private:
  /// Each is asked whether to go on.
  using GoesOn = std::function<bool()>;
  void buildEdges(StepSink &sink, const GoesOn &goesOn) const;
  void buildMachines(StepSink &sink, const GoesOn &goesOn) const;
  void buildMemory(StepSink &sink, const GoesOn &goesOn) const;
  /// What machines and memory see: times, or those of a turn.
  int64_t numMoments() const { return std::min(horizon, turn); }
  /// Calls `take` with the first operator of each repetition and its time at
  /// `moment`, those that began first coming first.
  template <typename Take>
  void forRepetitionsAt(int64_t moment, Take take) const {
    for (int64_t time = moment + horizon / turn * turn; time >= 0; time -= turn)
      for (int32_t first = 0; first < instance.numOps();
           first += instance.period())
        take(first, time);
  }
  std::optional<Schedule> withOwnTimes(const Schedule &rounded) const;

  const Instance &instance;
  std::vector<int32_t> devices; ///< of groups
  int64_t spacing = 1;
  bool isRounded = false;
  int64_t horizon = 0;        ///< in units
  int64_t turn = 1;           ///< in units; beyond the horizon if there is none
  std::vector<int64_t> times; ///< of operators of the graph, in units
  StepGrid grid;
};

} // namespace shardopt::schedule

#endif // SHARDOPT_SOLVERS_SCHEDULE_STEPMODEL_H
