//===- Timing.cpp - What a machine takes for ops --------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/Timing.h"

#include "shardopt/Cost/Calibrated/Calibrated.h"
#include "shardopt/Support/Choice.h"

using namespace shardopt;

static constexpr const char *defaultMachine = "h100_sxm";

ErrorOr<Timing> Timing::create(const TimingOptions &options) {
  ErrorOr<cost::CommModel> comm =
      parseChoice<cost::CommModel>("comm-model", options.commModel,
                                   {{"fast", cost::CommModel::Fast},
                                    {"direct", cost::CommModel::Direct},
                                    {"ring", cost::CommModel::Ring}});
  if (!comm)
    return comm.error();
  ErrorOr<bool> isSkewed = parseChoice<bool>(
      "imbalance", options.imbalance, {{"model", true}, {"none", false}});
  if (!isSkewed)
    return isSkewed.error();
  ErrorOr<Machine> machine =
      loadMachine(options.machine.empty() ? defaultMachine : options.machine);
  if (!machine)
    return machine.error();

  Timing timing;
  timing.machine = std::move(*machine);
  if (options.source != TimeSource::Roofline) {
    auto time = cost::Calibrated::create(timing.machine, *comm);
    if (!time && options.source == TimeSource::Calibrated)
      return time.error();
    timing.isCalibrated = bool(time);
    if (time)
      timing.time = std::move(*time);
  }
  if (!timing.isCalibrated)
    timing.time = std::make_shared<cost::Roofline>(timing.machine, *comm);
  if (*isSkewed)
    timing.skew = timing.machine.expertSkew;
  return timing;
}
