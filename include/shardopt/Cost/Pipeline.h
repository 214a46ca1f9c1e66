//===- Pipeline.h - Metrics of a pipeline -----------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_COST_PIPELINE_H
#define SHARDOPT_COST_PIPELINE_H

#include "shardopt/Model/Context.h"
#include "shardopt/Model/Strategy.h"

#include <limits>

namespace shardopt::cost {

/// What makes a strategy invalid, apart from its structure.
struct Limits {
  int64_t maxDevices = 0; ///< budget; 0: none
  double memoryBytes = 0; ///< usable memory of a device
  /// A device's for values between ops, at each moment (LiveValues.h).
  double activationBytes = std::numeric_limits<double>::infinity();
  double latencySeconds = 0; ///< SLO on TPOT (decode) or TTFT (prefill)
  /// Available devices: throughput is per available device, with as many
  /// workers as fit; 0: per device that a plan takes.
  int64_t available = 0;

  bool limitsActivations() const {
    return activationBytes < std::numeric_limits<double>::infinity();
  }
};

/// Workers of `devices` devices each that fit `available`.
constexpr int64_t replicasOn(int64_t available, int64_t devices) {
  return available / devices;
}

/// Times and bytes of the stages of a pipeline, for one micro-batch.
struct Pipeline {
  double sumSeconds = 0;      ///< of all stages
  double slowestSeconds = 0;  ///< of the slowest stage
  double maxBytes = 0;        ///< on a device of the fullest stage
  double activationBytes = 0; ///< at the fullest moment, if that is limited

  /// Adds `repeats` stages.
  void addStages(int64_t repeats, double seconds, double bytes);
};

/// TPOT (decode) or TTFT (prefill) in seconds. A token passes all stages, and
/// waits where more micro-batches are in flight than the slowest one lets
/// through; a prompt passes them once.
double latencySeconds(const Pipeline &pipeline, const Context &context);

/// Tokens/s per device; prompt tokens in prefill, where micro-batches follow
/// each other as fast as the slowest stage allows.
double throughput(const Pipeline &pipeline, const Context &context,
                  const Limits &limits);

/// All metrics, and the validity of what is structurally valid.
Evaluation judge(const Pipeline &pipeline, const Context &context,
                 const Limits &limits);

} // namespace shardopt::cost

#endif // SHARDOPT_COST_PIPELINE_H
