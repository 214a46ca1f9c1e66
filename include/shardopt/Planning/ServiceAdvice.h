//===- ServiceAdvice.h - Sizes of services, and what helps ------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_PLANNING_SERVICEADVICE_H
#define SHARDOPT_PLANNING_SERVICEADVICE_H

#include "shardopt/Planning/ServicePlan.h"

namespace shardopt {

/// The service of fewest GPUs, or of least cost where prices are given, that
/// serves the rate of `request`; its `devices` are the most, 0: as many as it
/// takes, up to 8192. The plan is the optimum over all sizes. Two machines take
/// either role, whichever costs less. Where even 64 GPUs, or two domains, miss
/// the limits at any rate, no more are tried. An error where no rate is given.
ErrorOr<ServiceSummary> sizeService(std::shared_ptr<const Scenario> scenario,
                                    const ServiceRequest &request);

/// A change of what was asked, and what it gives.
struct ServiceOption {
  /// "tpot_ms", "ttft_ms", "rate", "devices", "machine" or "engine".
  std::string what;
  std::string name; ///< of a machine or an engine
  double value = 0; ///< of the others
  ServicePlan plan;
};

struct ServiceAdvice {
  ServiceSummary summary; ///< of what was asked
  /// What keeps the plan from more: "tpot_ms", "ttft_ms", or "memory"; or why
  /// there is none, as in ServiceShortage.
  std::string binding;
  /// Where there is a plan: limits a tenth looser, the next number of GPUs that
  /// serves more, other machines. Where there is none: for each thing alone the
  /// nearest value with a plan.
  std::vector<ServiceOption> options;
};

/// Plans again under each change alone.
ErrorOr<ServiceAdvice> adviseService(std::shared_ptr<const Scenario> scenario,
                                     const ServiceRequest &request);

std::string adviceJson(const ServiceAdvice &advice);

} // namespace shardopt

#endif // SHARDOPT_PLANNING_SERVICEADVICE_H
