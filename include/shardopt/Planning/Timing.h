//===- Timing.h - What a machine takes for ops ------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_PLANNING_TIMING_H
#define SHARDOPT_PLANNING_TIMING_H

#include "shardopt/Cost/Roofline.h"
#include "shardopt/Model/Machine/Machine.h"
#include "shardopt/Support/Error.h"

#include <memory>
#include <optional>
#include <string>

namespace shardopt {

/// Whose times: of a roofline, of measured kernels, or of these where the
/// machine has constants.
enum class TimeSource : uint8_t { Roofline, Calibrated, Auto };

/// What times depend on in addition to the ops, as users spell it.
struct TimingOptions {
  std::string machine; ///< name or file; empty: h100_sxm
  std::string commModel = "fast";
  std::string imbalance = "model";
  TimeSource source = TimeSource::Roofline;
};

/// A machine, and the times that it takes.
struct Timing {
  Machine machine;
  std::shared_ptr<const cost::TimeModel> time;
  std::optional<double> skew; ///< of the load of experts; none: even
  bool isCalibrated = false;  ///< times are those of measured kernels

  /// What is wrong is an error that says what would do.
  static ErrorOr<Timing> create(const TimingOptions &options);
};

} // namespace shardopt

#endif // SHARDOPT_PLANNING_TIMING_H
