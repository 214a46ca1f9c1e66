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
/// The mode that is asked for; pins of roles ask for one, too. None: the
/// better.
ErrorOr<std::optional<ServiceMode>> askedMode(const ServiceRequest &request);
/// The model of `scenario` on another machine.
ErrorOr<std::shared_ptr<const Scenario>> onMachine(const Scenario &scenario,
                                                   const std::string &machine);

/// Searches under the goal of `summary`, and fills in its plans.
void findPlans(ServiceSummary &summary, const Sides &sides,
               std::optional<ServiceMode> mode, ServiceShortage &shortage);

/// The first of `pins` that no worker has which the engine runs and which fits,
/// with what would be valid, for services of `mode` (none: either); none where
/// pins are not what rules all services out.
std::optional<std::string>
whyPinsFail(const ServiceSummary &summary, const Sides &sides,
            std::optional<ServiceMode> mode,
            const std::map<std::string, std::string> &pins);

/// "72.5 GB", of 1e9 bytes.
std::string gigabytes(double bytes);

} // namespace shardopt::service

#endif // SHARDOPT_PLANNING_SERVICESIDES_H
