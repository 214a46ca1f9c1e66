//===- Validate.h - Whether a schedule is one, and what it costs *- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shares nothing with the back-ends but the instance.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SCHEDULE_VALIDATE_H
#define SHARDOPT_SOLVERS_SCHEDULE_VALIDATE_H

#include "shardopt/Solvers/Schedule/Instance.h"

namespace shardopt::schedule {

struct DeviceUse {
  int64_t work = 0;     ///< of its compute machine
  int64_t commWork = 0; ///< of its other machine
  /// Of the compute machine: from its first start to its last end.
  int64_t first = 0, last = 0;
  /// Bytes at the worst time, parameters included.
  int64_t peakMemory = 0;
  int64_t peakTime = 0;

  int64_t ownSpanIdle() const { return last - first - work; }
};

/// What a schedule costs. A device's bubble is the time of the whole schedule
/// in which its compute machine idles.
struct Verdict {
  int64_t makespan = 0;
  std::vector<DeviceUse> devices;

  int64_t bubble(size_t device) const {
    return makespan - devices[device].work;
  }
  /// Of the device that works the most: what the formulas of pipelines give.
  int64_t bubble() const;
  int64_t totalBubble() const;
  /// The longest span of a device from its first start to its last end.
  int64_t ownSpan() const;
  int64_t peakMemory() const;
};

/// Whether every operator stands on a device that can run it, starts once all
/// before it ended and what they send arrived, no machine runs two at once, and
/// no memory is exceeded at any time; otherwise an error that names operators,
/// device and times.
///
/// Bytes live from the start of their operator to the end of the last one that
/// frees them, to the end of all if none does. Operators of no length occupy no
/// machine.
ErrorOr<Verdict> validate(const Instance &instance, const Schedule &schedule);

} // namespace shardopt::schedule

#endif // SHARDOPT_SOLVERS_SCHEDULE_VALIDATE_H
