//===- ServiceSearch.h - The best service -----------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_PLANNING_SERVICESEARCH_H
#define SHARDOPT_PLANNING_SERVICESEARCH_H

#include "shardopt/Cost/Serving/EngineClock.h"
#include "shardopt/Planning/ServicePlan.h"

#include <map>
#include <vector>

namespace shardopt::service {

/// A layout of one worker.
struct WorkerLayout {
  Degrees degrees;
  std::vector<Dim> dims; ///< of all ops; empty: as the engine has them
  std::unique_ptr<const cost::StepTimes> steps;
  cost::ServingWorker worker;
  bool overlaps = false; ///< steps work on two micro-batches

  int64_t devices() const { return degrees.devices(); }
  /// Bytes of a device for weights and one request.
  double leastBytes(double context) const;
};

/// A machine, and the layouts of workers on it.
class Side {
public:
  static ErrorOr<std::unique_ptr<const Side>>
  create(const Scenario &scenario, const cost::ServingEngine &engine,
         const cost::ServingTraits &traits);

  /// Those that `runner` runs on at most `most` devices, and which leave room
  /// for a request of `context` tokens; if `mayOverlap`, on two micro-batches,
  /// too. `shortage` learns why others do not.
  std::vector<WorkerLayout> layouts(Runner runner, int64_t most, double context,
                                    cost::Phase phase,
                                    ServiceShortage &shortage,
                                    bool mayOverlap = false) const;

  /// The one with `degrees`, whatever `runner` makes of them, and with whatever
  /// room; an error where the model has none with these. `dims` are those of
  /// all ops; empty: as `runner` has them.
  ErrorOr<WorkerLayout> layout(Runner runner, const Degrees &degrees,
                               cost::Phase phase,
                               const std::vector<Dim> &dims = {},
                               bool overlaps = false) const;
  /// The same of degrees that the model has; its steps may be illegal.
  WorkerLayout layout(const Degrees &degrees, std::vector<Dim> dims,
                      bool overlaps = false) const;

  /// Megatron's dims of the ops.
  std::vector<Dim> usualDims(const Degrees &degrees) const {
    return engineDims(std::nullopt, degrees, EngineFacts(model.model()));
  }
  /// Those with which a step of `workload` takes least, exactly, with `each`
  /// sequences in a group; none where the model is too large for that.
  std::optional<std::vector<Dim>> leastDims(Degrees degrees,
                                            const cost::Workload &workload,
                                            int64_t each) const;

  const std::string &name() const { return machineName; }
  int64_t domainSize() const { return domain; }
  const cost::CostModel &costs() const { return model; }

private:
  std::shared_ptr<const cost::LayerTimes> layersOf(const Degrees &degrees,
                                                   std::vector<Dim> dims) const;
  /// What `runner` runs of `degrees`, and of them with EPLB, where that takes a
  /// hundredth off the load of the fullest rank.
  std::vector<Degrees> withEplb(Runner runner, const Degrees &degrees,
                                const EngineFacts &facts) const;
  WorkerLayout made(const Degrees &degrees,
                    std::shared_ptr<const cost::LayerTimes> layers,
                    bool overlaps) const;
  Side(const Scenario &scenario, std::shared_ptr<const cost::EngineClock> clock,
       const cost::ServingEngine &engine, const cost::ServingTraits &traits);

  std::string machineName;
  std::shared_ptr<const cost::EngineClock> clock;
  cost::CostModel model;
  std::optional<double> skew;
  double reach, spread, memoryBytes, networkBytesPerS;
  cost::DraftHead drafter;
  cost::Overlap overlap; ///< where micro-batches do
  std::shared_ptr<cost::ExpertPlacements> placements; ///< null: loads are even
  int64_t domain;
};

/// Whether `first` workers of `firstSize` devices and `second` of `secondSize`
/// have a place on `devices` in domains of `domain`: a worker that is smaller
/// than a domain lies in one, a larger one takes whole domains.
bool havePlaces(int64_t first, int64_t firstSize, int64_t second,
                int64_t secondSize, int64_t devices, int64_t domain);

/// Workers of one role that prefill and decode, with `concurrency` requests in
/// flight in each. The rate is what they attain, or that of the goal.
ServicePlan planTogether(const WorkerLayout &layout, int64_t workers,
                         double concurrency, const cost::ServingTimes &times,
                         const ServiceGoal &goal);

/// Layouts of two roles, and how many workers each has.
struct PairOfRoles {
  const WorkerLayout &prefill, &decode;
  int64_t prefills, decodes;
};
/// The same of two roles, with `concurrency` requests in flight over all.
ServicePlan planApart(const PairOfRoles &roles, double concurrency,
                      const cost::ServingTimes &times,
                      const cost::ServingEngine &engine,
                      const ServiceGoal &goal);

/// The number of requests in flight within the limits that attains most, or
/// the least that attains `rate` where it is above 0; none: no load does.
std::optional<double> bestLoad(const cost::AggregatedLoop &loop,
                               const ServiceGoal &goal, double rate);
std::optional<double> bestLoad(const cost::DisaggregatedLoop &loop,
                               const ServiceGoal &goal, double rate);

/// The best plans of both modes, or of `only` one; `prefill` is null where
/// prompts are computed on `decode`'s machine alone.
struct Found {
  std::optional<ServicePlan> aggregated, disaggregated;
};
/// Searches that differ in their limits alone: they share layouts, and what is
/// known of their steps.
class ServiceSearcher {
public:
  /// All outlive it.
  ServiceSearcher(const Side &decode, const Side *prefill,
                  const cost::ServingEngine &engine, Runner runner,
                  const ServiceGoal &goal);
  ~ServiceSearcher();

  /// Under `goal`, which is the one given before but for its limits. Plans that
  /// are no better than those `known` are not told.
  Found find(const ServiceGoal &goal, ServiceProof &proof,
             ServiceShortage &shortage,
             std::optional<ServiceMode> only = std::nullopt,
             const Found &known = {});

  /// Requests a second that the workers of `plan` attain under `goal`, whatever
  /// the load; 0 where it is not above `atLeast`, or a worker is none of the
  /// search.
  double attained(const ServicePlan &plan, const ServiceGoal &goal,
                  double atLeast, ServiceProof &proof);

private:
  struct Space;

  void addPrefill();

  const Side &decodeSide;
  const Side *prefillSide;
  const cost::ServingEngine &engine;
  const Runner runner;
  const ServiceGoal goal;
  std::unique_ptr<Space> space;
};

/// One of them.
Found search(const Side &decode, const Side *prefill,
             const cost::ServingEngine &engine, Runner runner,
             const ServiceGoal &goal, ServiceProof &proof,
             ServiceShortage &shortage,
             std::optional<ServiceMode> only = std::nullopt,
             const Found &known = {});

} // namespace shardopt::service

#endif // SHARDOPT_PLANNING_SERVICESEARCH_H
