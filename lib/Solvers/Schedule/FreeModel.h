//===- FreeModel.h - Steps of operators whose device is free ----*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_SOLVERS_SCHEDULE_FREEMODEL_H
#define SHARDOPT_LIB_SOLVERS_SCHEDULE_FREEMODEL_H

#include "shardopt/Solvers/Schedule/StepModel.h"

namespace shardopt::schedule {

/// The variables for schedules of at most `makespan` with any placement: steps
/// as in `StepModel`, and one for each group and device. Where operators run on
/// a device only if their group is there, and bytes between two groups take no
/// time if they are on the same.
class FreeModel {
public:
  FreeModel(const Instance &instance, int64_t makespan);

  /// Whether the model says all that a schedule has to fulfil: bytes that are
  /// born and freed under a limit are not part of it.
  static bool covers(const Instance &instance);

  bool isRefuted() const { return grid.isRefuted(); }
  int64_t numSteps() const { return grid.numSteps() + numPlaces(); }
  int64_t size() const;
  bool build(StepSink &sink, const Budget *budget) const;

  template <typename IsTrue> Schedule read(IsTrue isTrue) const {
    Schedule schedule;
    for (int32_t g = 0; g < numGroups(); ++g) {
      int32_t device = 0;
      while (device + 1 < instance.numDevices() && !isTrue(placeOf(g, device)))
        ++device;
      schedule.devices.push_back(device);
    }
    for (int32_t op = 0; op < instance.numOps(); ++op)
      schedule.starts.push_back(grid.startOf(op, isTrue) * spacing);
    return schedule;
  }

  int64_t unit() const { return spacing; }
  /// The greatest common divisor of all times and transfers that can occur.
  static int64_t unitOf(const Instance &instance);

private:
  int32_t numGroups() const { return int32_t(instance.graph().groups.size()); }
  int64_t numPlaces() const {
    return int64_t(numGroups()) * instance.numDevices();
  }
  /// `group` is on `device`.
  Step placeOf(int32_t group, int32_t device) const {
    return Step(grid.numSteps() + int64_t(group) * instance.numDevices() +
                device);
  }
  /// In units; -1 where it cannot run.
  int64_t timeOf(int32_t i, int32_t device) const {
    int64_t time = instance.graph().time(i, device);
    return time < 0 ? -1 : time / spacing;
  }
  void buildPlaces(StepSink &sink) const;
  void breakSymmetry(StepSink &sink) const;
  void buildEdges(StepSink &sink, const std::function<bool()> &goesOn) const;
  void addPrecedence(StepSink &sink, int32_t from, int32_t to, Step isLocal,
                     int64_t transfer) const;
  void buildMachine(StepSink &sink, int32_t machine, int64_t time) const;

  const Instance &instance;
  int64_t spacing, horizon;
  StepGrid grid;
};

} // namespace shardopt::schedule

#endif // SHARDOPT_LIB_SOLVERS_SCHEDULE_FREEMODEL_H
