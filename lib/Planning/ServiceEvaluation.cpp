//===- ServiceEvaluation.cpp - What a given service attains ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/ServiceEvaluation.h"
#include "ServiceLoads.h"
#include "shardopt/Planning/ServiceSides.h"

#include "shardopt/Cost/Calibrated/CsvLines.h"

#include <algorithm>
#include <cmath>
#include <tuple>

using namespace shardopt;
using namespace shardopt::service;

//===----------------------------------------------------------------------===//
// Plans of loads
//===----------------------------------------------------------------------===//

/// The fewest tokens from which steps of `mixOf` them work on two
/// micro-batches; 0: none that a step has.
template <typename MixOf>
static double fewestOverlapped(const cost::StepTimes &steps, MixOf mixOf) {
  constexpr double most = 1 << 20;
  double high = 1;
  while (!steps.overlaps(mixOf(high)))
    if ((high *= 2) > most)
      return 0;
  double low = high / 2; // too few
  while (high - low > 1) {
    double middle = std::floor((low + high) / 2);
    (steps.overlaps(mixOf(middle)) ? high : low) = middle;
  }
  return high;
}

static void findThresholds(const WorkerLayout &layout, const ServiceGoal &goal,
                           ServiceRole &role) {
  const cost::StepTimes &steps = *layout.steps;
  if (steps.whenOverlaps() != cost::Overlap::Faster)
    return;
  double drafts = goal.load.traits.drafts;
  role.overlapFromDecoded = fewestOverlapped(steps, [&](double tokens) {
    cost::StepMix mix;
    mix.sequences = tokens / (1 + drafts);
    mix.context = goal.load.context();
    mix.drafts = drafts;
    return mix;
  });
  role.overlapFromPrompts = fewestOverlapped(steps, [&](double tokens) {
    cost::StepMix mix;
    mix.tokens = tokens;
    mix.prompt = goal.load.prompt();
    mix.cached = goal.load.traits.found;
    return mix;
  });
}

/// `admitted` requests of `context` tokens have their caches in a group.
static ServiceRole roleOf(const WorkerLayout &layout, int64_t workers,
                          double admitted, double context,
                          const ServiceGoal &goal) {
  ServiceRole role;
  role.degrees = layout.degrees;
  role.dims = layout.dims;
  role.overlaps = layout.overlaps;
  findThresholds(layout, goal, role);
  role.workers = workers;
  role.capacityBytes = layout.worker.memoryBytes;
  role.inFlight = admitted * layout.worker.groups();
  double fullest = 0;
  for (const cost::StageMemory &stage : layout.steps->memory(context)) {
    double cached = admitted * stage.cache;
    if (stage.weights + cached <= fullest)
      continue;
    fullest = stage.weights + cached;
    role.weightBytes = stage.weights;
    role.cacheBytes = cached;
  }
  return role;
}

static ServiceRole decodeRoleOf(const WorkerLayout &layout, int64_t workers,
                                double admitted,
                                const cost::ServingTimes &times,
                                const ServiceGoal &goal) {
  ServiceRole role =
      roleOf(layout, workers, admitted, goal.load.context(), goal);
  role.degrees.batch =
      std::max<int64_t>(1, std::llround(times.sequences)) * layout.degrees.dp;
  role.sequences = times.sequences * layout.worker.groups();
  role.step = times.step;
  role.hostUs = times.hostUs;
  return role;
}

std::array<double, std::size(cost::stepParts)> ServiceRole::stepUs() const {
  std::array<double, std::size(cost::stepParts)> us = {};
  auto terms = step.all();
  std::transform(terms.begin(), terms.end(), us.begin(),
                 [](double seconds) { return seconds * 1e6; });
  us.back() = hostUs;
  return us;
}

/// Completes `plan`, whose workers attain `rate`.
static ServicePlan withRate(ServicePlan plan, double rate,
                            const ServiceGoal &goal) {
  // At a rate what arrives is served, and not what could be.
  bool isEnough = goal.rate > 0 && rate >= goal.rate * (1 - 1e-9);
  plan.requestsPerSecond = isEnough ? goal.rate : rate;
  plan.tokensPerDevice = plan.requestsPerSecond * goal.load.outputTokens /
                         double(goal.allDevices());
  plan.goodput = plan.requestsPerSecond * goodShare(goal, plan.times);
  return plan;
}

ServicePlan service::planTogether(const WorkerLayout &layout, int64_t workers,
                                  double concurrency,
                                  const cost::ServingTimes &times,
                                  const ServiceGoal &goal) {
  auto count = double(workers);
  ServicePlan plan;
  plan.times = times;
  plan.concurrency = concurrency * count;
  plan.decode = decodeRoleOf(layout, workers, times.admitted, times, goal);
  return withRate(std::move(plan), times.requestsPerS * count, goal);
}

ServicePlan service::planApart(const PairOfRoles &roles, double concurrency,
                               const cost::ServingTimes &times,
                               const cost::ServingEngine &engine,
                               const ServiceGoal &goal) {
  cost::DisaggregatedLoop loop({roles.prefill.worker, 1},
                               {roles.decode.worker, 1}, engine, goal.load);
  ServicePlan plan;
  plan.times = times;
  plan.concurrency = concurrency;
  ServiceRole prefill =
      roleOf(roles.prefill, roles.prefills, 1, goal.load.inputTokens, goal);
  prefill.degrees.batch = roles.prefill.degrees.dp;
  std::tie(prefill.step, prefill.hostUs) = loop.prefillStep();
  plan.prefill = std::move(prefill);
  plan.decode =
      decodeRoleOf(roles.decode, roles.decodes, times.sequences, times, goal);
  return withRate(std::move(plan), times.requestsPerS, goal);
}

//===----------------------------------------------------------------------===//
// Services of users
//===----------------------------------------------------------------------===//

std::optional<std::string> GivenService::error() const {
  constexpr int64_t most = 100000;
  auto errorOf = [](const GivenRole &role,
                    const char *name) -> std::optional<std::string> {
    std::string place = std::string("'") + name + ".";
    if (role.workers < 1 || role.workers > most)
      return place + "workers' is " + std::to_string(role.workers) +
             ", expected a whole number from 1 to " + std::to_string(most);
    for (Degree degree : allDegrees)
      if (int64_t value = role.degrees[degree];
          value < 1 || value > infoOf(degree).most)
        return place + spell(degree) + "' is " + std::to_string(value) +
               ", expected " + wantedOf(degree);
    return std::nullopt;
  };
  if (!(concurrency >= 0 && concurrency <= 1e9))
    return "'concurrency' is " + formatNumber(concurrency) +
           ", expected a number from 0 to 1e9";
  if (auto why = errorOf(decode, prefill ? "decode" : "serve"))
    return why;
  return prefill ? errorOf(*prefill, "prefill") : std::nullopt;
}

GivenService shardopt::givenBy(const ServicePlan &plan) {
  GivenService given;
  auto role = [](const ServiceRole &role) {
    return GivenRole{role.degrees, role.workers, role.dims, role.overlaps};
  };
  given.decode = role(plan.decode);
  if (plan.prefill)
    given.prefill = role(*plan.prefill);
  given.isElsewhere = !plan.prefillMachine.empty();
  given.concurrency = plan.concurrency;
  return given;
}

namespace {
/// Finds out what a service attains, and what it breaks.
class Judging {
public:
  Judging(ServiceSummary &summary, const Sides &sides,
          const GivenService &given)
      : summary(summary), goal(summary.goal), sides(sides), given(given),
        readSide(isElsewhere() ? *sides.prefill : *sides.decode) {}

  void run();
  ErrorOr<std::vector<cost::ServedRequest>>
  replay(const std::vector<cost::TracedRequest> &traced, double concurrency);

private:
  void breach(const char *kind, const char *role, std::string why) {
    summary.breaches->push_back({kind, role, std::move(why)});
  }
  /// Whether prompts are computed on another machine.
  bool isElsewhere() const { return sides.prefill && given.isElsewhere; }
  const char *decodeName() const { return given.prefill ? "decode" : "serve"; }
  std::optional<WorkerLayout> layoutOf(const GivenRole &role, const Side &side,
                                       bool isPrefill);
  /// Finds the layouts of the roles; false where one cannot be.
  bool findLayouts();
  void checkPlaces();
  void checkTransfer();
  void checkLimits(const ServicePlan &plan);
  ServicePlan together() const;
  ServicePlan apart() const;
  /// The load that is given; else the best within the limits, or where all
  /// miss them, that of one request in each worker.
  template <typename Loop>
  double loadOf(const Loop &loop, double workers, double rate) const;

  ServiceSummary &summary;
  const ServiceGoal &goal;
  const Sides &sides;
  const GivenService &given;
  const Side &readSide; ///< of the prefill workers
  std::optional<WorkerLayout> prefill, decode;
};
} // namespace

/// Why `dims` are none that the ops of `model` have; none: they are, or there
/// are none.
static std::optional<std::string> whyNotDims(const cost::Model &model,
                                             const std::vector<Dim> &dims) {
  std::vector<const cost::Node *> nodes = model.nodesByVariable();
  if (!dims.empty() && dims.size() != nodes.size())
    return "there are " + std::to_string(dims.size()) +
           " dims, expected one for each of " + std::to_string(nodes.size()) +
           " ops";
  for (size_t op = 0; op < dims.size(); ++op) {
    auto choices = nodes[op]->op->choices();
    if (std::none_of(choices.begin(), choices.end(),
                     [&](const auto &one) { return one.dim == dims[op]; }))
      return "'" + nodes[op]->name + "' has dim " +
             std::to_string(int(dims[op])) + ", which it cannot have";
  }
  return std::nullopt;
}

/// A layout with room for a request; else it breaks what is told.
std::optional<WorkerLayout>
Judging::layoutOf(const GivenRole &role, const Side &side, bool isPrefill) {
  const char *name = isPrefill ? "prefill" : decodeName();
  if (auto why = whyNotDims(side.costs().model(), role.dims)) {
    breach("structure", name, *why);
    return std::nullopt;
  }
  EngineFacts facts(side.costs().model());
  facts.isPrefill = isPrefill;
  std::optional<std::string> whole =
      role.overlaps ? whyNotOverlap(summary.engine, role.degrees, facts)
                    : std::nullopt;
  if (whole)
    breach("engine", name, "overlap is on, and " + *whole + ": expected off");
  ErrorOr<WorkerLayout> layout =
      side.layout(summary.engine, role.degrees,
                  isPrefill ? cost::Phase::Prefill : cost::Phase::Decode,
                  role.dims, role.overlaps && !whole);
  if (!layout) {
    breach("structure", name, layout.error().message);
    return std::nullopt;
  }
  if (auto why =
          whyNotRun(summary.engine, Strategy{role.degrees, role.dims}, facts))
    breach("engine", name,
           "'" + std::string(spell(summary.engine)) +
               "' cannot run it: " + *why);
  double context =
      isPrefill ? goal.load.longestInput() : goal.load.longestContext();
  if (layout->worker.room(context) > 0)
    return std::move(*layout);
  breach("memory", name,
         "weights and the cache of one request take " +
             gigabytes(layout->leastBytes(context)) +
             " of a device, which has " +
             gigabytes(layout->worker.memoryBytes));
  return std::nullopt;
}

void Judging::checkPlaces() {
  int64_t ofDecode = given.decode.degrees.devices();
  int64_t ofPrefill = given.prefill ? given.prefill->degrees.devices() : 1;
  int64_t prefills = given.prefill ? given.prefill->workers : 0;
  auto check = [&](const char *role, int64_t taken, int64_t all, bool hasPlaces,
                   int64_t domain) {
    if (taken > all)
      breach("devices", role,
             std::to_string(taken) + " devices are taken, and there are " +
                 std::to_string(all));
    else if (!hasPlaces)
      breach("devices", role,
             "the workers have no places on " + std::to_string(all) +
                 " devices in NVLink domains of " + std::to_string(domain) +
                 ": a worker smaller than a domain must lie in one");
  };
  int64_t domain = sides.decode->domainSize();
  if (given.prefill && isElsewhere() && goal.prefillDevices > 0) {
    check("prefill", prefills * ofPrefill, goal.prefillDevices,
          havePlaces(prefills, ofPrefill, 0, 1, goal.prefillDevices,
                     readSide.domainSize()),
          readSide.domainSize());
    check(
        "decode", given.decode.workers * ofDecode, goal.devices,
        havePlaces(given.decode.workers, ofDecode, 0, 1, goal.devices, domain),
        domain);
    return;
  }
  check("", given.decode.workers * ofDecode + prefills * ofPrefill,
        goal.devices,
        havePlaces(prefills, ofPrefill, given.decode.workers, ofDecode,
                   goal.devices, domain),
        domain);
}

void Judging::checkTransfer() {
  if (!given.prefill)
    return;
  EngineFacts facts(sides.decode->costs().model());
  if (auto why = whyNoTransfer(summary.engine, given.prefill->degrees,
                               given.decode.degrees, facts))
    breach("transfer", "",
           "'" + std::string(spell(summary.engine)) +
               "' sends no caches between these workers: " + *why);
}

void Judging::checkLimits(const ServicePlan &plan) {
  auto check = [&](const char *kind, const char *name,
                   const LatencyLimit &limit, const cost::ServingTime &time) {
    double found = limit.of<double>(time);
    if (found > limit.ms)
      breach(kind, "",
             std::string(name) + " is " + cost::threeDigits(found) +
                 " ms, and the limit " + limit.describe());
  };
  if (!goal.isGoodput) {
    check("tpot", "TPOT", goal.tpot, plan.times.tpot);
    check("ttft", "TTFT", goal.ttft, plan.times.ttft);
  }
  if (plan.requestsPerSecond < goal.rate)
    breach("rate", "",
           cost::threeDigits(plan.requestsPerSecond) + " of " +
               formatNumber(goal.rate) + " requests a second are served");
}

template <typename Loop>
double Judging::loadOf(const Loop &loop, double workers, double rate) const {
  if (given.concurrency > 0)
    return given.concurrency / workers;
  if (goal.load.concurrency > 0)
    return goal.load.concurrency / workers;
  std::optional<double> best;
  if (rate > 0)
    best = bestLoad(loop, goal, rate);
  if (!best)
    best = bestLoad(loop, goal, 0);
  return best.value_or(1);
}

ServicePlan Judging::together() const {
  auto workers = double(given.decode.workers);
  cost::AggregatedLoop loop(decode->worker, sides.engine, goal.load);
  double each = loadOf(loop, workers, goal.rate / workers);
  return planTogether(*decode, given.decode.workers, each, loop.at(each), goal);
}

ServicePlan Judging::apart() const {
  PairOfRoles roles{*prefill, *decode, given.prefill->workers,
                    given.decode.workers};
  cost::DisaggregatedLoop loop({prefill->worker, double(roles.prefills)},
                               {decode->worker, double(roles.decodes)},
                               sides.engine, goal.load);
  double all = loadOf(loop, 1, goal.rate);
  ServicePlan plan = planApart(roles, all, loop.at(all), sides.engine, goal);
  if (isElsewhere())
    plan.prefillMachine = readSide.name();
  return plan;
}

bool Judging::findLayouts() {
  if (given.prefill)
    prefill = layoutOf(*given.prefill, readSide, /*isPrefill=*/true);
  decode = layoutOf(given.decode, *sides.decode, /*isPrefill=*/false);
  return decode && (!given.prefill || prefill);
}

void Judging::run() {
  bool areLayouts = findLayouts();
  checkTransfer();
  checkPlaces();
  if (!areLayouts)
    return;
  ServicePlan plan = prefill ? apart() : together();
  checkLimits(plan);
  summary.mode = plan.mode();
  (prefill ? summary.disaggregated : summary.aggregated) = std::move(plan);
}

ErrorOr<std::vector<cost::ServedRequest>>
Judging::replay(const std::vector<cost::TracedRequest> &traced,
                double concurrency) {
  if (!findLayouts())
    return Error{*whyNotKept(summary)};
  cost::ReplayOptions options{goal.load.traits, concurrency, goal.stop};
  cost::ServingPool decodes{decode->worker, double(given.decode.workers)};
  if (!prefill)
    return cost::replayAggregated(decodes, sides.engine, traced, options);
  return cost::replayDisaggregated(
      {prefill->worker, double(given.prefill->workers)}, decodes, sides.engine,
      traced, options);
}

void service::judgeService(ServiceSummary &summary, const Sides &sides,
                           const GivenService &given) {
  summary.breaches.emplace();
  summary.mode.reset();
  Judging(summary, sides, given).run();
}

namespace {
/// What a given service is evaluated with.
struct Prepared {
  ServiceSummary summary; ///< as asked, without an answer
  Sides sides;
};
} // namespace

static ErrorOr<Prepared> prepare(std::shared_ptr<const Scenario> scenario,
                                 const ServiceRequest &request,
                                 const GivenService &given) {
  if (std::optional<std::string> why = given.error())
    return Error{*why};
  ErrorOr<ServiceSummary> summary = summaryOf(std::move(scenario), request);
  if (!summary)
    return summary.error();
  ErrorOr<Sides> sides = sidesOf(*summary);
  if (!sides)
    return sides.error();
  return Prepared{std::move(*summary), std::move(*sides)};
}

ErrorOr<ServiceSummary>
shardopt::evaluateService(std::shared_ptr<const Scenario> scenario,
                          const ServiceRequest &request,
                          const GivenService &given) {
  ErrorOr<Prepared> made = prepare(std::move(scenario), request, given);
  if (!made)
    return made.error();
  judgeService(made->summary, made->sides, given);
  return std::move(made->summary);
}

ErrorOr<std::vector<cost::ServedRequest>> shardopt::replayService(
    std::shared_ptr<const Scenario> scenario, const ServiceRequest &request,
    const GivenService &given, const std::vector<cost::TracedRequest> &traced,
    double concurrency) {
  ErrorOr<Prepared> made = prepare(std::move(scenario), request, given);
  if (!made)
    return made.error();
  made->summary.breaches.emplace();
  return Judging(made->summary, made->sides, given).replay(traced, concurrency);
}

std::optional<std::string> shardopt::whyNotKept(const ServiceSummary &summary) {
  if (!summary.breaches || summary.breaches->empty())
    return std::nullopt;
  std::string text;
  for (const ServiceBreach &breach : *summary.breaches)
    text += (text.empty() ? "" : "; ") +
            (breach.role.empty() ? "" : breach.role + ": ") + breach.why;
  return text;
}
