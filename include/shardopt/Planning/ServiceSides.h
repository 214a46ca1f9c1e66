//===- ServiceSides.h - What a service is planned on ------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_PLANNING_SERVICESIDES_H
#define SHARDOPT_PLANNING_SERVICESIDES_H

#include "shardopt/Planning/ServiceSearch.h"

namespace shardopt::service {

/// What services are searched on, and evaluated.
struct Sides {
  std::unique_ptr<const Side> decode;
  std::unique_ptr<const Side> prefill; ///< null: there is no other machine
  cost::ServingEngine engine;
};

/// What is asked, without an answer; what is wrong with it is an error.
ErrorOr<ServiceSummary> summaryOf(std::shared_ptr<const Scenario> scenario,
                                  const ServiceRequest &request);
ErrorOr<Sides> sidesOf(const ServiceSummary &summary);

/// "72.5 GB", of 1e9 bytes.
std::string gigabytes(double bytes);

} // namespace shardopt::service

#endif // SHARDOPT_PLANNING_SERVICESIDES_H
