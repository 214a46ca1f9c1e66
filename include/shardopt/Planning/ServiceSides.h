//===- ServiceSides.h - What a service is planned on ------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_PLANNING_SERVICESIDES_H
#define SHARDOPT_PLANNING_SERVICESIDES_H

#include "shardopt/Planning/ServiceSearch.h"

#include <functional>

namespace shardopt {
struct GivenService;
} // namespace shardopt

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

/// By how much two roles have to be better than one.
inline constexpr double usualTie = 1e-3;

/// The mode that is taken: the one that is `asked` for, else the better.
std::optional<ServiceMode> modeOf(const ServiceSummary &summary,
                                  std::optional<ServiceMode> asked,
                                  double tie = usualTie);

/// Searches under the goal of `summary`, and fills in its plans.
void findPlans(ServiceSummary &summary, const Sides &sides,
               std::optional<ServiceMode> mode, ServiceShortage &shortage,
               double tie = usualTie, const Found &known = {});
/// The same of several goals that differ in their limits alone.
void findPlans(ServiceSummary &summary, ServiceSearcher &searcher,
               std::optional<ServiceMode> mode, ServiceShortage &shortage,
               double tie = usualTie, const Found &known = {});

/// A request that is searched, under its own goal and others.
struct Asked {
  static ErrorOr<Asked> create(std::shared_ptr<const Scenario> scenario,
                               const ServiceRequest &request);

  /// What was asked, with plans under `goal`, and dims of their own if no
  /// engine is asked for; `shortage` learns why there are none.
  ServiceSummary under(const ServiceGoal &goal,
                       ServiceShortage &shortage) const;
  ServiceSummary under(const ServiceGoal &goal) const {
    ServiceShortage shortage;
    return under(goal, shortage);
  }
  const ServiceGoal &goal() const { return summary.goal; }
  int64_t domain() const { return sides.decode->domainSize(); }

  ServiceSummary summary; ///< without plans
  Sides sides;
  std::optional<ServiceMode> mode; ///< that is asked for
  bool isEngineAsked = true;
};

/// Whether the plan of `a` is better than that of `b`, under one goal.
bool isBetterService(const ServiceSummary &a, const ServiceSummary &b);

/// What `on` gives for the engine of `request`, or where that is any the best
/// over all. Where it gives none of them a summary, the error is that of the
/// first.
ErrorOr<ServiceSummary> onEngines(
    ServiceRequest request,
    const std::function<ErrorOr<ServiceSummary>(const ServiceRequest &)> &on);

/// The least of a limit with a plan, to a hundredth, while all else of the goal
/// stands, and the plan; none: there is none, or finding it takes more than
/// `mostEffort` evaluations of loads (0: no matter how many). `leastMs` is the
/// least that was seen, to begin at (0: unknown).
struct NearestLimit {
  double ms = 0;
  ServicePlan plan;
};
std::optional<NearestLimit>
nearestLimit(const Asked &asked, LatencyLimit ServiceGoal::*limit,
             cost::ServingTime cost::ServingTimes::*time, double leastMs = 0,
             int64_t mostEffort = 0);

/// Fills in what the plan of `summary` is compared with: where no engine was
/// asked for, the optimum over any sharding, which takes its place if it gains
/// more than `runnableLoss`; and where its workers span domains, the best plan
/// whose workers do not.
void findOthers(ServiceSummary &summary, const Asked &asked);

/// Fills in `summary`, which is as asked, with the service that is given: what
/// it attains, and what it does not keep.
void judgeService(ServiceSummary &summary, const Sides &sides,
                  const GivenService &given);

/// Gives the workers of the plan of `summary` dims of their own, if no engine
/// has to run it and these serve more by more than a tie: from Megatron's dims,
/// and from those of the least step of a phase, that of one op after the other
/// is changed, as long as one gains. None at a rate, or where the plan is not
/// proved.
void giveDims(ServiceSummary &summary, const Sides &sides);

/// Completes `shortage`, what a search without a plan has learned; with the
/// devices that would do if `seeksDevices`.
ServiceShortage explain(const Asked &asked, ServiceShortage shortage,
                        bool seeksDevices);

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
