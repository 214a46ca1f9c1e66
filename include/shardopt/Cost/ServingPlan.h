//===- ServingPlan.h - The best way to serve a model ------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_SERVINGPLAN_H
#define SHARDOPT_COST_SERVINGPLAN_H

#include "shardopt/Cost/Context.h"
#include "shardopt/Cost/Serving.h"
#include "shardopt/Support/RequestLoad.h"

#include <functional>
#include <optional>
#include <string>

namespace shardopt::cost {

/// What a cluster shall do.
struct ServingGoal {
  double inputTokens = 1;
  double outputTokens = 1;
  /// Requests in flight over all replicas; 0: as many as are best.
  double concurrency = 0;
  int64_t devices = 8;
  int64_t domainSize = 8;        ///< no replica is larger
  double tpotMs = 0, ttftMs = 0; ///< limits
  /// Requests a second that arrive, in the place of `concurrency`; 0: as many
  /// as can be served.
  double rate = 0;
  ServingTraits traits = {};
  /// Devices of the machine that reads prompts, beside `devices`; 0: `devices`
  /// are of either machine.
  int64_t prefillDevices = 0;

  /// All that there are, at work or not.
  double allDevices() const {
    return static_cast<double>(devices + prefillDevices);
  }
};

/// Another machine, on whose devices prompts may be read.
struct PrefillMachine {
  std::string name;
  const calibrated::CalibratedKernels &kernels;
  int64_t domainSize = 8; ///< no reader is larger
  std::function<bool(const ServingSetup &)> canRun = {}; ///< empty: all
};

/// What `load`, which has no error and has requests, asks of a cluster; limits
/// that it does not say are 50 ms a token, and 2 s to the first.
ServingGoal goalOf(const RequestLoad &load);

/// Tokens of the longest sequence of `load`, which has requests: of a whole
/// one, or in prefill of its prompt.
int64_t longestContext(const RequestLoad &load, Phase phase);
/// Why `load` has no sequence as long as `workload` says; none where it has, or
/// says no lengths.
std::optional<std::string> contextError(const Workload &workload,
                                        const RequestLoad &load);

/// Replicas of one or two kinds, and what they attain together.
struct ServingPlan {
  std::optional<ServingWorkers> readers; ///< only where prompts are read apart
  ServingWorkers decoders;
  double concurrency = 0; ///< over all replicas
  ServingTimes times;
  double tokensPerDevice = 0; ///< a second; devices without work count
  double requestsPerSecond = 0;
  std::string readingMachine = {}; ///< of the readers, where it is another one

  double usedDevices() const;
};

/// The plans with most tokens a second that hold both limits, of all layouts
/// in powers of two, and numbers of requests in flight likewise. At a rate that
/// is given, those on fewest devices, of which the ones of least TPOT.
struct ServingPlans {
  std::optional<ServingPlan> aggregated, disaggregated;

  /// The better of the two; null where none holds the limits.
  const ServingPlan *best() const;
  double rate = 0; ///< that of the goal
};

/// Searches all layouts of `base`, of which the model and its types count, that
/// `canRun` (empty: all). With `prefill` prompts may be read there too, which
/// they are where that is better. An error where a kernel has no constants.
ErrorOr<ServingPlans>
planServing(const calibrated::CalibratedKernels &, const ServingSetup &base,
            const ServingEngine &, const ServingGoal &,
            const std::function<bool(const ServingSetup &)> &canRun = {},
            const PrefillMachine *prefill = nullptr);

/// Both plans side by side, with what a step is made of.
std::string describe(const ServingPlans &plans, const ServingGoal &goal);

} // namespace shardopt::cost

#endif // SHARDOPT_COST_SERVINGPLAN_H
