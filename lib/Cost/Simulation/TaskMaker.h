//===- TaskMaker.h - Tasks of kernels and collectives ---------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_COST_SIMULATION_TASKMAKER_H
#define SHARDOPT_LIB_COST_SIMULATION_TASKMAKER_H

#include "shardopt/Cost/Simulation/EventSimulation.h"
#include "shardopt/Cost/TimeModel.h"
#include "shardopt/Support/Span.h"

namespace shardopt::simulation {

/// Makes tasks of kernels and collectives on one grid of devices.
class TaskMaker {
public:
  /// `domainSize` devices are joined by the fast links.
  TaskMaker(const cost::TimeModel &time, int64_t domainSize,
            const Degrees &degrees)
      : time(time), domainSize(domainSize), degrees(degrees) {}

  Task task(const cost::Kernel &kernel) const;

  /// The latency is what the collective takes without bytes. It goes over the
  /// network where its group does not fit in a domain.
  Task task(const cost::Collective &collective) const;

  /// `collectives` one after the other, as one task of the first one's kind.
  Task sequence(Span<const cost::Collective> collectives) const;

private:
  Link linkOf(Axis axis) const;

  const cost::TimeModel &time;
  const int64_t domainSize;
  const Degrees &degrees;
};

} // namespace shardopt::simulation

#endif // SHARDOPT_LIB_COST_SIMULATION_TASKMAKER_H
