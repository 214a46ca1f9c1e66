//===- ServicePlan.h - Plans of services ------------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A service is planned with the cost model that phases have: one step decodes
// sequences and computes prompts (StepTimes), an engine adds to it what its
// host takes (ServingEngine), and requests follow from steps (ServiceLoop).
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_PLANNING_SERVICEPLAN_H
#define SHARDOPT_PLANNING_SERVICEPLAN_H

#include "shardopt/Cost/Serving/ServiceLoop.h"
#include "shardopt/Model/RequestLoad.h"
#include "shardopt/Planning/Engines.h"
#include "shardopt/Planning/Planner.h"
#include "shardopt/Planning/ServicePins.h"
#include "shardopt/Support/Stop.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace shardopt {

/// Whether one role of workers both prefills and decodes, or each has its own.
enum class ServiceMode : uint8_t { Aggregated, Disaggregated };
const char *spell(ServiceMode mode);
/// "best" is none.
ErrorOr<std::optional<ServiceMode>> parseServiceMode(const std::string &text);

/// A limit in milliseconds on the mean over requests, or on a percentile.
struct LatencyLimit {
  double ms = 0;
  int percentile = 0; ///< 50, 90 or 99; 0: the mean

  template <typename Number>
  const Number &of(const cost::TimeOf<Number> &time) const {
    return percentile == 50   ? time.p50
           : percentile == 90 ? time.p90
           : percentile == 99 ? time.p99
                              : time.ms;
  }
  /// Whether the limit is within the prediction interval of what it is on: the
  /// same multiples as of the mean.
  bool isCrossedBy(const cost::ServingTime &time) const {
    double scale = time.ms > 0 ? of<double>(time) / time.ms : 0;
    return scale * time.low < ms && ms < scale * time.high;
  }
  /// "25 ms (mean)", "500 ms (p90)".
  std::string describe() const;
};

/// How far a search is, for threads that look on.
class ServiceWatch {
public:
  struct Best {
    double tokensPerDevice = 0, tpotMs = 0;
  };
  void count() { counted.fetch_add(1, std::memory_order_relaxed); }
  /// Loads that were evaluated.
  uint64_t evaluations() const {
    return counted.load(std::memory_order_relaxed);
  }
  void keep(const Best &found) {
    std::lock_guard lock(mutex);
    if (!kept || found.tokensPerDevice > kept->tokensPerDevice)
      kept = found;
  }
  std::optional<Best> best() const {
    std::lock_guard lock(mutex);
    return kept;
  }

private:
  std::atomic<uint64_t> counted = 0;
  mutable std::mutex mutex;
  std::optional<Best> kept;
};

struct ServicePlan;

/// What plans are worth, if that is not what they attain.
class PlanWorth {
public:
  virtual ~PlanWorth() = default;
  /// Requests a second, no more than `plan` attains under the goal.
  virtual double of(const ServicePlan &plan) const = 0;
};

/// What a service is to attain.
struct ServiceGoal {
  cost::ServingLoad load; ///< its concurrency is that over all workers, or 0
  double rate = 0;        ///< requests a second that arrive; 0: as many as can
  LatencyLimit tpot, ttft;
  int64_t devices = 8;
  /// Devices of the machine for prefill in addition to `devices`; 0: `devices`
  /// are of either machine.
  int64_t prefillDevices = 0;
  const StopToken *stop = nullptr; ///< may be null
  ServiceWatch *watch = nullptr;   ///< may be null
  /// Of a device for an hour, on the machine that decodes and on the other one:
  /// at a rate the plan costs least. 1: devices count.
  double price = 1, prefillPrice = 1;
  ServicePins pins;
  bool withinDomains = false; ///< a worker lies inside a domain
  /// What counts are the requests within both limits. Not at a rate.
  bool isGoodput = false;
  /// May be null: plans are worth what they attain. Not at a rate.
  const PlanWorth *worth = nullptr;

  int64_t allDevices() const { return devices + prefillDevices; }
  /// The share of the requests within both limits, at most: of each limit the
  /// slowest are late.
  template <typename Times> double within(const Times &times) const {
    return std::min(times.tpot.within(tpot.ms), times.ttft.within(ttft.ms));
  }
  bool isStopped() const { return stop && stop->requested(); }
};

/// Where no engine is asked for, and that whose times plans have which no
/// engine has to run.
inline constexpr Engine usualEngine = Engine::Vllm;
/// The share of the goal that a plan which an engine runs may lose against the
/// optimum over any sharding, and be taken; of a phase or a service.
inline constexpr double runnableLoss = 0.01;

struct ServiceRequest {
  RequestLoad load; ///< with requests
  /// How long requests are, in place of what the load says; empty: as it says.
  std::vector<cost::LengthShare> lengths;
  /// vllm, sglang or trtllm; any: the one that serves best; none: whatever
  /// engines run, timed as on the usual one; empty: what the usual one runs,
  /// unless another sharding gains more than `runnableLoss`.
  std::string engine = "vllm";
  int64_t devices = 0;             ///< available; 0: a domain
  std::optional<ServiceMode> mode; ///< none: the recommended one
  /// Name or file of another machine, on which prompts may be computed; empty:
  /// none.
  std::string prefillMachine;
  /// Devices of it in addition to `devices`; 0: `devices` are of either
  /// machine.
  int64_t prefillDevices = 0;
  const StopToken *stop = nullptr; ///< may be null; a stop is an error
  ServiceWatch *watch = nullptr;   ///< may be null
  double chunkTokens = 0; ///< of prompts in a step at most; 0: the engine's
  std::vector<cost::ServingOption> options; ///< constants of the engine
  double times = 1;       ///< what everything takes, over what the model says
  bool isGoodput = false; ///< requests within both limits count
  /// The best plans of each mode that are told, too; 0: none. Not at a rate.
  size_t candidates = 0;
  /// Dollars of a device for an hour, on either machine; 0: as the machine
  /// says.
  double price = 0, prefillPrice = 0;
  /// Lists of values by pin (ServicePins::parse).
  std::map<std::string, std::string> pins;
  /// How the load of experts is distributed; null: evenly, but for what the
  /// requests say.
  std::shared_ptr<const cost::ExpertShares> expertLoad = nullptr;

  std::optional<std::string> error() const; ///< as RequestLoad::error
};

/// Equal workers, each an engine instance on devices of its own.
struct ServiceRole {
  Degrees degrees; ///< its batch is the sequences of a step, over all groups
  std::vector<Dim> dims = {}; ///< of all ops; empty: those of the engine
  int64_t workers = 1;
  double weightBytes = 0;   ///< of the fullest device
  double cacheBytes = 0;    ///< of the same, of all sequences in flight
  double capacityBytes = 0; ///< of a device for both
  double inFlight = 0;      ///< requests that a worker has room for at a time
  double sequences = 0;     ///< of them in a step, in the mean; prompts: 0
  /// Seconds of a step at this load, and what the engine adds, microseconds.
  cost::StepTerms step = {};
  double hostUs = 0;
  bool overlaps = false; ///< steps work on two micro-batches
  /// Tokens of a group from which they do, of steps that decode and of those
  /// that prefill, where the engine has a threshold; 0: none that was tried.
  double overlapFromDecoded = 0, overlapFromPrompts = 0;
  /// Microseconds of the step by part, in the order of `cost::stepParts`.
  std::array<double, std::size(cost::stepParts)> stepUs() const;

  int64_t devices() const { return workers * degrees.devices(); }
};

/// Dims that no engine gives to the ops of workers.
struct OwnDims {
  /// A dim that is not as Megatron has it.
  struct Changed {
    std::string role, op, dim; ///< "serve", "attn_norm", "tokens"
  };
  std::vector<Changed> changed;
  double gain = 0; ///< over the same workers with Megatron's dims
};

struct ServicePlan {
  std::optional<ServiceRole> prefill; ///< none: `decode` prefills, too
  ServiceRole decode;
  double concurrency = 0; ///< requests in flight over all workers
  cost::ServingTimes times;
  double tokensPerDevice = 0; ///< a second; devices without work count
  double requestsPerSecond = 0;
  double goodput = 0;         ///< of these, those within both limits
  double worth = 0;           ///< in a search, requests a second
  std::string prefillMachine; ///< of `prefill`, where it is another one
  /// Of a plan that was searched, whose workers have dims of their own.
  std::optional<OwnDims> ownDims = {};
  /// Not found, but what has to be beaten.
  bool isBound = false;

  int64_t usedDevices() const {
    return decode.devices() + (prefill ? prefill->devices() : 0);
  }
  /// An hour of the devices that have work.
  double costUnder(const ServiceGoal &goal) const {
    double ofPrefill = prefillMachine.empty() ? goal.price : goal.prefillPrice;
    return goal.price * double(decode.devices()) +
           (prefill ? ofPrefill * double(prefill->devices()) : 0);
  }
  /// Of a million tokens of answers.
  double costOfTokens(const ServiceGoal &goal) const {
    return costUnder(goal) * 1e6 /
           (3600 * requestsPerSecond * goal.load.outputTokens);
  }
  /// Tokens a second per device that has work.
  double tokensPerUsedDevice(const ServiceGoal &goal) const {
    return requestsPerSecond * goal.load.outputTokens / double(usedDevices());
  }
  ServiceMode mode() const {
    return prefill ? ServiceMode::Disaggregated : ServiceMode::Aggregated;
  }
};

/// How a plan was proved: every layout, number of workers and number of
/// requests in flight was evaluated, or has a bound that is no better.
struct ServiceProof {
  int64_t layouts = 0;     ///< of workers, over all roles
  int64_t pairs = 0;       ///< layouts of two roles, with numbers of workers
  int64_t prunedPairs = 0; ///< of these, by a bound on their rate
  int64_t evaluations = 0; ///< of single loads
  int64_t intervals = 0;   ///< of loads, that were bounded
  /// By what share a load that was left out may be better; 0: by none.
  double gap = 0;

  ServiceProof &operator+=(const ServiceProof &other);
};

/// Something that a service which is given does not keep.
struct ServiceBreach {
  /// "structure", "engine", "transfer", "devices", "memory", "tpot", "ttft" or
  /// "rate".
  std::string kind;
  std::string role; ///< "serve", "prefill" or "decode"; empty: of the service
  std::string why;  ///< a phrase with what was found and what would do
};

/// Why there is no plan, and what would do.
struct ServiceShortage {
  /// What rules out the layouts that get furthest: "engine", "memory", "tpot",
  /// "ttft", "limits" where either or only both would have to give way, or
  /// "rate".
  std::string part;
  double leastTpotMs = 0, leastTtftMs = 0; ///< that layouts attain; 0: none has
  /// A limit with which there is a plan, to a hundredth the least, while the
  /// other one stands; 0: unknown, or there is none.
  double nearestTpotMs = 0, nearestTtftMs = 0;
  double mostRequestsPerSecond = 0; ///< within the limits
  double leastBytes = 0; ///< of a device, for weights and one request
  double capacityBytes = 0;
  int64_t fewestDevices = 0; ///< with which there is a plan; 0: unknown
  std::string example;       ///< why the engine runs no layout
};

/// What an engine attains where several are compared.
struct EngineOutcome {
  Engine engine = usualEngine;
  std::optional<ServicePlan> plan;
  std::string why; ///< there is no plan
  double cost = 0; ///< at a rate
};

/// What a number of requests, of the engine or of all times may be.
struct ServiceBand {
  std::string name;
  double low = 0, high = 0;
};

/// What a plan loses against the optimum of each scenario, the numbers as asked
/// and all corners of the bands.
struct ServiceRobustness {
  struct Scenario {
    std::vector<double> values; ///< by band; empty: as asked
    /// Requests a second of the optimum, of the plan, and of the optimum for
    /// the numbers as asked.
    double optimum = 0, attained = 0, usual = 0;
  };
  std::vector<ServiceBand> bands;
  std::vector<Scenario> scenarios; ///< the one as asked first

  /// The least share of the optimum, over scenarios.
  double worst() const { return worstOf(&Scenario::attained); }
  /// That of the optimum for the numbers as asked.
  double worstOfUsual() const { return worstOf(&Scenario::usual); }

private:
  double worstOf(double Scenario::*rate) const {
    double worst = 1;
    for (const Scenario &one : scenarios)
      worst = std::min(worst, one.*rate / one.optimum);
    return worst;
  }
};

struct ServiceSummary {
  std::shared_ptr<const Scenario> scenario;
  /// The same on the machine that may compute prompts; null: there is no other.
  std::shared_ptr<const Scenario> prefillScenario;
  RequestLoad load;
  std::vector<cost::LengthShare> lengths; ///< as in the request
  Runner engine = usualEngine;
  ServiceGoal goal;
  double chunkTokens = 0;                   ///< of prompts in a step at most
  std::vector<cost::ServingOption> options; ///< as in the request
  bool hasPrice = false;                    ///< the goal's are dollars
  std::optional<ServicePlan> aggregated, disaggregated;
  std::optional<ServiceMode> mode; ///< that is recommended; none: no plan
  ServiceProof proof;
  std::optional<ServiceShortage> shortage; ///< where there is no plan
  /// Of a size that was searched: the fewest devices that suffice.
  int64_t sizedWithin = 0;
  /// Its machines are those of the request the other way round.
  bool isTurned = false;
  std::vector<EngineOutcome>
      engines;        ///< where any is asked for, the best first
  size_t variant = 0; ///< of those that were searched
  /// Where workers of the plan span domains, the best plan whose workers do
  /// not, if one meets the limits.
  bool spansDomains = false;
  std::optional<ServicePlan> inDomains;
  /// Where no engine was asked for: the optimum over any sharding, if it gains
  /// more than a tie; where it is the plan, the best of the usual engine.
  std::optional<ServicePlan> free, runnable;
  /// Of a service that was given and not searched: what it does not keep.
  std::optional<std::vector<ServiceBreach>> breaches;
  /// The best plans of both modes, the best first, if they are asked for.
  std::vector<ServicePlan> candidates;
  /// Of a plan for bands of what is not known.
  std::optional<ServiceRobustness> robustness;

  std::optional<ServiceMode> asked; ///< the mode that was asked for
  /// Whether the best plan of the mode that is not recommended was sought, and
  /// not only whether one is better.
  bool isOtherSought = true;

  /// The recommended plan; null where none meets the limits.
  const ServicePlan *best() const;
  /// Whose times the plans have.
  Engine clock() const { return engine.value_or(usualEngine); }
};

/// The optimum over all layouts that the engine runs, numbers of workers, and
/// requests in flight, for the program and the machine of `scenario`: of the
/// tokens a second per device, or at a rate of the devices and then the TPOT.
ErrorOr<ServiceSummary> planService(std::shared_ptr<const Scenario> scenario,
                                    const ServiceRequest &request);

/// The plan of the largest least share of the optimum over the corners of
/// `bands` and the numbers as asked, whose workers are the same in all and
/// whose load is the best in each. Not at a rate; an error where a scenario has
/// no plan.
ErrorOr<ServiceSummary> planRobust(std::shared_ptr<const Scenario> scenario,
                                   const ServiceRequest &request,
                                   const std::vector<ServiceBand> &bands);

/// One of several models and requests for the same devices and limits: types
/// of weights and caches, chunk budgets, numbers of drafts.
struct ServiceVariant {
  std::shared_ptr<const Scenario> scenario;
  ServiceRequest request;
};

/// The optimum over all variants. The first one counts where others are
/// no more than a thousandth better. What one attains bounds the search of the
/// next. Those that cannot be are left out; an error where none can.
ErrorOr<ServiceSummary>
planVariants(const std::vector<ServiceVariant> &variants);

/// Why `summary` has no plan, as a sentence.
std::string whyNoService(const ServiceSummary &summary);

/// The workers that run the phase of the scenario's program; there is a plan.
const ServiceRole &workersOf(const ServiceSummary &summary);
/// Whether they are on the machine that may compute prompts.
bool isOnPrefillMachine(const ServiceSummary &summary);
/// The machine as the user names it.
std::string givenMachine(const Scenario &scenario);
/// Of the workers that run the phase of the program.
const Scenario &scenarioOf(const ServiceSummary &summary);

/// The plan of the phase of these workers, at the degrees and the batch of the
/// service.
ErrorOr<PlanSummary> planWorkers(const ServiceSummary &summary,
                                 PlanRequest request);

/// What `plan` gains over `other`: tokens/s per device, or at a rate cost, as a
/// share.
double gainOf(const ServicePlan &plan, const ServicePlan &other,
              const ServiceGoal &goal);

/// What another sharding gains, or what the plan of an engine loses, in a
/// phrase; empty where the plan is both.
std::string freeOptimum(const ServiceSummary &summary);

/// What the mode that is not recommended would be, in a phrase; empty where
/// there is no plan.
std::string otherMode(const ServiceSummary &summary);

std::string serviceTable(const ServiceSummary &summary);
std::string serviceJson(const ServiceSummary &summary);

} // namespace shardopt

#endif // SHARDOPT_PLANNING_SERVICEPLAN_H
