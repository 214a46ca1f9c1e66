//===- ScheduleText.h - Schedules in files ----------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SCHEDULE_SCHEDULETEXT_H
#define SHARDOPT_SOLVERS_SCHEDULE_SCHEDULETEXT_H

#include "shardopt/Solvers/Schedule/Instance.h"

namespace shardopt::schedule {

/// [{"id", "microbatch", "device", "machine", "start", "end"}], by time, device
/// and machine.
std::string toJson(const Instance &instance, const Schedule &schedule);

/// The trace-event format of Chrome and Perfetto: a process for each device, a
/// thread for each of its machines, a unit of time as a microsecond.
std::string toChromeTrace(const Instance &instance, const Schedule &schedule);

/// A schedule in a picture, and what is written above it.
struct GanttPanel {
  std::string title;
  const Schedule *schedule;
};

/// An SVG of schedules of one instance below each other, on one scale of time:
/// a row for each machine that works, a box for each operator, coloured by its
/// phase and shaded by its direction, with its micro-batch where there is room.
std::string toGantt(const Instance &instance,
                    const std::vector<GanttPanel> &panels);

/// The best that was found with so much memory.
struct FrontPoint {
  int64_t memory, makespan, bound;
  bool proved;
};

/// [{"memory", "makespan", "bound", "proved"}], in their order.
std::string toJson(const std::vector<FrontPoint> &points);

} // namespace shardopt::schedule

#endif // SHARDOPT_SOLVERS_SCHEDULE_SCHEDULETEXT_H
