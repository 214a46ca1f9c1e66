//===- ServicePlan.h - From requests to replicas and strategies -*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A service is planned in two steps: which replicas there are, as predicted
// serving runs say (Cost/ServingPlan.h), and which dims the ops of a replica
// have, which the search over strategies finds for its degrees.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_PLANNING_SERVICEPLAN_H
#define SHARDOPT_PLANNING_SERVICEPLAN_H

#include "shardopt/Cost/ServingPlan.h"
#include "shardopt/Planning/Planner.h"

#include <memory>
#include <string>

namespace shardopt {

/// Whether prompts are read by the replicas that decode.
enum class ServiceMode : uint8_t { Aggregated, Disaggregated };
/// "aggregated" or "disaggregated".
const char *spell(ServiceMode mode);
/// The same, or none for "best".
ErrorOr<std::optional<ServiceMode>> parseServiceMode(const std::string &text);

/// What is asked of a service, beside its model and machine.
struct ServiceRequest {
  RequestLoad load; ///< with requests
  std::string engine = "vllm";
  int64_t devices = 0;             ///< that there are; 0: a domain
  std::optional<ServiceMode> mode; ///< none: the better one
  /// Name or file of another machine, on which prompts may be read; empty:
  /// none.
  std::string prefillMachine;
  /// Devices of it beside `devices`; 0: `devices` are of either machine.
  int64_t prefillDevices = 0;

  std::optional<std::string> error() const; ///< as RequestLoad::error
};

/// The replicas of a service.
struct ServiceSummary {
  std::shared_ptr<const Scenario> scenario;
  /// The same on the machine that may read prompts; null: there is no other.
  std::shared_ptr<const Scenario> prefillScenario;
  RequestLoad load;
  Engine engine = Engine::Vllm;
  cost::ServingGoal goal;
  cost::ServingPlans plans;
  std::optional<ServiceMode> mode; ///< that is taken; none: no plan

  /// The plan that is taken; null where none holds the limits.
  const cost::ServingPlan *best() const;
};

/// Plans the replicas of `scenario`'s model on its machine, in layouts that the
/// engine and the compiler both run. A machine without constants, and a model
/// or a load that cannot be predicted, are errors; that nothing holds the
/// limits is none.
ErrorOr<ServiceSummary> planService(std::shared_ptr<const Scenario> scenario,
                                    const ServiceRequest &request);

/// Why `summary`, which takes no plan, has none.
std::string whyNoService(const ServiceSummary &summary);

/// The degrees of `workers`, with `batch` sequences over a replica.
Degrees degreesOf(const cost::ServingWorkers &workers, int64_t batch);

/// The workers of `summary`, which has a plan, that run the scenario's phase:
/// those that read prompts in prefill, and those that decode.
const cost::ServingWorkers &workersOf(const ServiceSummary &summary);
/// Whether these workers are on the machine that may read prompts.
bool isOnPrefillMachine(const ServiceSummary &summary);
/// What the user called the machine of `scenario`: a name or a file.
std::string givenMachine(const Scenario &scenario);
/// The scenario on the machine of these workers.
const Scenario &scenarioOf(const ServiceSummary &summary);

/// Sequences over a replica of `summary`, which has a plan: those that one
/// which decodes has at a time; prompts, one in each group of attention.
int64_t batchOf(const ServiceSummary &summary, bool isReading);

/// Finds the best dims of these workers as the engine has them, with the
/// sequences that they decode at a time, or less where the cost model finds no
/// room for them. `request` says how to search; its space is replaced.
ErrorOr<PlanSummary> planWorkers(const ServiceSummary &summary,
                                 PlanRequest request);

/// Both plans, and which is taken, as a table.
std::string serviceTable(const ServiceSummary &summary);
/// The same as JSON, schema 1 (docs/Serving.md), with a line break at its end.
std::string serviceJson(const ServiceSummary &summary);

} // namespace shardopt

#endif // SHARDOPT_PLANNING_SERVICEPLAN_H
