//===- IdleDevices.h - Throughput of all devices there are ------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_PLANNING_IDLEDEVICES_H
#define SHARDOPT_LIB_PLANNING_IDLEDEVICES_H

#include "shardopt/Cost/Pipeline.h"
#include "shardopt/Search/Simulator.h"

#include <memory>
#include <utility>

namespace shardopt {

/// A simulator that says tokens/s per device used, asked for those per device
/// of `available`: as many workers as fit are busy.
class IdleDevices final : public search::Simulator {
public:
  IdleDevices(std::unique_ptr<const search::Simulator> simulator,
              int64_t available)
      : simulator(std::move(simulator)), available(available) {}

  Evaluation evaluate(const Strategy &strategy) const override {
    Evaluation evaluation = simulator->evaluate(strategy);
    int64_t devices = strategy.degrees.devices();
    auto used = double(cost::replicasOn(available, devices) * devices);
    evaluation.throughput *= used / double(available);
    return evaluation;
  }

private:
  const std::unique_ptr<const search::Simulator> simulator;
  const int64_t available;
};

} // namespace shardopt

#endif // SHARDOPT_LIB_PLANNING_IDLEDEVICES_H
