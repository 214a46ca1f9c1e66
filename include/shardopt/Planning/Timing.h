//===- Timing.h - What a machine takes for ops ------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_PLANNING_TIMING_H
#define SHARDOPT_PLANNING_TIMING_H

#include "shardopt/Cost/Roofline.h"
#include "shardopt/Machine/Machine.h"
#include "shardopt/Support/Error.h"

#include <memory>
#include <optional>
#include <string>

namespace shardopt {

/// What times depend on beside the ops, as users spell it.
struct TimingOptions {
  std::string machine; ///< name or file; empty: h100_sxm
  std::string commModel = "fast";
  std::string imbalance = "model";
  bool isCalibrated = false; ///< times of measured kernels
};

/// A machine, and the times that it takes.
struct Timing {
  Machine machine;
  std::shared_ptr<const cost::TimeModel> time;
  std::optional<double> skew; ///< of the load of experts; none: even

  /// What is wrong is an error that says what would do.
  static ErrorOr<Timing> create(const TimingOptions &options);
};

} // namespace shardopt

#endif // SHARDOPT_PLANNING_TIMING_H
