//===- LimitedActivations.h - A black box under one more limit --*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_LIB_PLANNING_LIMITEDACTIVATIONS_H
#define SHARDOPT_LIB_PLANNING_LIMITEDACTIVATIONS_H

#include "shardopt/Cost/LiveValues.h"
#include "shardopt/Search/Simulator.h"

#include <memory>
#include <utility>

namespace shardopt {

/// A simulator that knows nothing of values between ops, which are the
/// program's and have the limit of `costs`.
class LimitedActivations final : public search::Simulator {
public:
  /// Refers to `costs`.
  LimitedActivations(std::unique_ptr<const search::Simulator> simulator,
                     const cost::CostModel &costs)
      : simulator(std::move(simulator)), costs(costs) {}

  Evaluation evaluate(const Strategy &strategy) const override {
    Evaluation evaluation = simulator->evaluate(strategy);
    if (!evaluation.hasMetrics())
      return evaluation;
    double bytes = cost::livePeak(costs, strategy).bytes;
    evaluation.activationsGb = bytes / 1e9;
    if (bytes > costs.limits().activationBytes &&
        evaluation.reason != Reason::Memory) {
      evaluation.valid = false;
      evaluation.reason = Reason::Activations;
    }
    return evaluation;
  }

private:
  const std::unique_ptr<const search::Simulator> simulator;
  const cost::CostModel &costs;
};

} // namespace shardopt

#endif // SHARDOPT_LIB_PLANNING_LIMITEDACTIVATIONS_H
