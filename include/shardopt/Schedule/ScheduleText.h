//===- ScheduleText.h - Schedules in files ----------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SCHEDULE_SCHEDULETEXT_H
#define SHARDOPT_SCHEDULE_SCHEDULETEXT_H

#include "shardopt/Schedule/Instance.h"

namespace shardopt::schedule {

/// [{"id", "microbatch", "device", "machine", "start", "end"}], by time, device
/// and machine.
std::string toJson(const Instance &instance, const Schedule &schedule);

} // namespace shardopt::schedule

#endif // SHARDOPT_SCHEDULE_SCHEDULETEXT_H
