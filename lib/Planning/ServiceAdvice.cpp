//===- ServiceAdvice.cpp - Sizes of services, and what helps --------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/ServiceAdvice.h"
#include "shardopt/Planning/ServiceSides.h"

#include "shardopt/Support/Json.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace shardopt;
using namespace shardopt::service;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

static constexpr int64_t mostSized = 8192;

static void setDevices(ServiceGoal &goal, const Sides &sides, int64_t devices) {
  goal.devices = devices;
  if (sides.prefill)
    goal.prefillDevices = devices;
}

/// How many GPUs may serve the rate of `goal`, by what fewer do at most.
static int64_t nextSize(const Asked &asked, ServiceGoal goal) {
  int64_t domain = asked.domain(), now = goal.devices;
  double rate = goal.rate;
  goal.rate = 0;
  ServiceSummary any = asked.under(goal);
  if (!any.best())
    return now < domain ? std::min(domain, 2 * now)
                        : (2 * now + domain - 1) / domain * domain;
  double need = double(now) * rate / any.best()->requestsPerSecond;
  auto domains = int64_t(std::ceil(need / double(domain)));
  return std::max({now + 1, std::min(domains * domain, 4 * now),
                   std::min(domain, 2 * now)});
}

/// Whether workers with more GPUs miss the limits, too: those within a few
/// domains do, whatever the rate.
static bool isHopeless(const Asked &asked, ServiceGoal goal,
                       const ServiceShortage &shortage) {
  constexpr int64_t enough = 64;
  if (!shortage.part.empty() ||
      goal.devices < std::max(enough, 2 * asked.domain()))
    return false;
  goal.rate = 0;
  return !asked.under(goal).best();
}

/// Within so many GPUs of each machine nothing that is better is left out: what
/// costs no more than `plan` takes no more of either.
static int64_t enoughFor(const ServicePlan &plan, const ServiceGoal &goal) {
  double least = std::min(goal.price, goal.prefillPrice);
  return int64_t(std::ceil(plan.costUnder(goal) / least - 1e-9));
}

/// `found` among no more GPUs than it takes, so that its throughput is per one
/// of these; where they have no places in their domains, among the least number
/// of whole domains that has.
static ServiceSummary withoutOthers(const Asked &asked, ServiceSummary found,
                                    int64_t devices) {
  ServicePlan plan = *found.best();
  int64_t domain = asked.domain();
  int64_t apart = plan.prefillMachine.empty() ? 0 : plan.prefill->devices();
  int64_t own = plan.usedDevices() - apart;
  for (int64_t domains = 0; domains * domain < devices + domain; ++domains) {
    auto rounded = [&](int64_t used) {
      return domains ? ((used + domain - 1) / domain + domains - 1) * domain
                     : used;
    };
    ServiceGoal least = found.goal;
    least.devices = rounded(own);
    // No GPU of the other machine would be one of either machine.
    least.prefillDevices =
        asked.sides.prefill ? std::max<int64_t>(1, rounded(apart)) : 0;
    ServiceSummary again = asked.under(least);
    if (!again.best() || again.best()->costUnder(least) >
                             plan.costUnder(found.goal) * (1 + 1e-9))
      continue;
    again.sizedWithin = devices;
    return again;
  }
  found.sizedWithin = devices;
  return found;
}

static ServiceSummary sizeWithin(const Asked &asked, int64_t most) {
  ServiceGoal goal = asked.goal();
  int64_t devices = std::min<int64_t>(asked.domain(), most);
  for (;;) {
    setDevices(goal, asked.sides, devices);
    ServiceShortage shortage;
    ServiceSummary found = asked.under(goal, shortage);
    if (!found.best()) {
      if (devices >= most || goal.isStopped() ||
          isHopeless(asked, goal, shortage)) {
        found.sizedWithin = devices;
        return found;
      }
      devices = std::min(most, nextSize(asked, goal));
      continue;
    }
    int64_t enough = std::min(most, enoughFor(*found.best(), goal));
    if (enough > devices) {
      devices = enough;
      continue;
    }
    return withoutOthers(asked, std::move(found), devices);
  }
}

/// The size with the machines the other way round; none: there is no other
/// machine.
static ErrorOr<std::optional<ServiceSummary>>
sizeTurned(const Scenario &scenario, const ServiceRequest &request) {
  if (request.prefillMachine.empty())
    return std::optional<ServiceSummary>();
  ServiceRequest turned = request;
  turned.prefillMachine = givenMachine(scenario);
  turned.prefillDevices = 0;
  std::swap(turned.price, turned.prefillPrice);
  auto other = onMachine(scenario, request.prefillMachine);
  if (!other)
    return other.error();
  ErrorOr<Asked> asked = Asked::create(std::move(*other), turned);
  if (!asked)
    return asked.error();
  ServiceSummary found = sizeWithin(*asked, request.devices);
  found.isTurned = true;
  return std::optional(std::move(found));
}

static bool costsLess(const ServiceSummary &a, const ServiceSummary &b) {
  return a.best() && (!b.best() || a.best()->costUnder(a.goal) <
                                       b.best()->costUnder(b.goal));
}

static ErrorOr<ServiceSummary>
sizeOn(const std::shared_ptr<const Scenario> &scenario,
       const ServiceRequest &request) {
  ErrorOr<Asked> asked = Asked::create(scenario, request);
  if (!asked)
    return asked.error();
  ServiceSummary best = sizeWithin(*asked, request.devices);
  auto turned = sizeTurned(*scenario, request);
  if (!turned)
    return turned.error();
  if (*turned && costsLess(**turned, best))
    best = std::move(**turned);
  if (request.stop && request.stop->requested())
    return Error{"stopped before the size was found"};
  if (best.best())
    return best;
  if (auto why = whyPinsFail(best, asked->sides, asked->mode, request.pins))
    return Error{*why};
  ServiceShortage shortage;
  asked->summary.goal = best.goal;
  asked->under(best.goal, shortage);
  best.shortage = explain(*asked, std::move(shortage), false);
  return best;
}

ErrorOr<ServiceSummary>
shardopt::sizeService(std::shared_ptr<const Scenario> scenario,
                      const ServiceRequest &request) {
  if (!request.load[RequestField::Rate])
    return Error{"'rate' is missing: a size is that for a number of requests a "
                 "second"};
  ServiceRequest open = request;
  open.devices = request.devices ? request.devices : mostSized;
  return onEngines(
      open, [&](const ServiceRequest &one) { return sizeOn(scenario, one); });
}

//===----------------------------------------------------------------------===//
// What helps
//===----------------------------------------------------------------------===//

namespace {
class Adviser {
public:
  Adviser(const Asked &asked, ServiceAdvice &advice)
      : asked(asked), goal(asked.goal()), advice(advice) {}

  void improve(const ServicePlan &plan);
  void rescue();

private:
  /// Whether `plan` is enough better than `than` to be told.
  bool isMore(const ServicePlan &plan, const ServicePlan &than) const {
    constexpr double least = 1e-3;
    return goal.rate > 0
        ? plan.costUnder(goal)<than.costUnder(goal) : plan.requestsPerSecond>(
              1 + least) *
              than.requestsPerSecond;
  }
  void add(const char *what, std::string name, double value,
           const ServicePlan &plan) {
    advice.options.push_back({what, std::move(name), value, plan});
  }
  void relax(const char *what, LatencyLimit ServiceGoal::*limit,
             cost::ServingTime cost::ServingTimes::*time);
  void nearest(const char *what, LatencyLimit ServiceGoal::*limit,
               cost::ServingTime cost::ServingTimes::*time);
  void moreDevices(const ServicePlan *plan);
  void otherMachines();
  void otherEngines();

  const Asked &asked;
  const ServiceGoal &goal;
  ServiceAdvice &advice;
};
} // namespace

/// A limit that is a tenth looser.
void Adviser::relax(const char *what, LatencyLimit ServiceGoal::*limit,
                    cost::ServingTime cost::ServingTimes::*) {
  ServiceGoal looser = goal;
  (looser.*limit).ms *= 1.1;
  if (!std::isfinite((looser.*limit).ms))
    return;
  ServiceSummary found = asked.under(looser);
  if (found.best())
    add(what, "", (looser.*limit).ms, *found.best());
}

std::optional<NearestLimit>
service::nearestLimit(const Asked &asked, LatencyLimit ServiceGoal::*limit,
                      cost::ServingTime cost::ServingTimes::*time,
                      double leastMs, int64_t mostEffort) {
  const ServiceGoal &goal = asked.goal();
  ServiceGoal looser = goal;
  double low = (goal.*limit).ms;
  std::optional<NearestLimit> best;
  ServiceProof effort;
  auto isMet = [&](double ms) {
    (looser.*limit).ms = ms;
    ServiceSummary found = asked.under(looser);
    effort += found.proof;
    const ServicePlan *plan = found.best();
    // What attains a rate exactly is between whole numbers of requests in
    // flight, which more is attained with; of goodput a mean may be late.
    if (plan)
      best = {goal.rate > 0 || goal.isGoodput
                  ? ms
                  : (goal.*limit).of<double>(plan->times.*time),
              *plan};
    return plan != nullptr;
  };
  auto isOver = [&] {
    return goal.isStopped() ||
           (mostEffort > 0 &&
            effort.evaluations + effort.intervals > mostEffort);
  };
  // Searches far beyond what is met take longest.
  constexpr double mostMs = 1e7, step = 4;
  double first = leastMs > low ? 1.01 * leastMs : step * low;
  for (double next = first; !isMet(next); next *= step) {
    low = next;
    if (next > mostMs || isOver())
      return std::nullopt;
  }
  while (best->ms > 1.01 * low && !isOver()) {
    double middle = std::sqrt(low * best->ms);
    if (!isMet(middle))
      low = middle;
  }
  if (isOver() && best->ms > 1.01 * low)
    return std::nullopt;
  return best;
}

/// The least value of a limit with a plan, the others as they are.
void Adviser::nearest(const char *what, LatencyLimit ServiceGoal::*limit,
                      cost::ServingTime cost::ServingTimes::*time) {
  if (auto found = nearestLimit(asked, limit, time))
    add(what, "", found->ms, found->plan);
}

/// The next number of GPUs that serves more, or the fewest that serves at all.
void Adviser::moreDevices(const ServicePlan *plan) {
  auto at = [&](int64_t devices) {
    ServiceGoal larger = goal;
    larger.devices = devices;
    return asked.under(larger);
  };
  auto isEnough = [&](const ServiceSummary &found) {
    return found.best() && (!plan || isMore(*found.best(), *plan));
  };
  // More GPUs serve no less: the least number by halving.
  constexpr int64_t mostTimes = 8;
  int64_t low = goal.devices, high = low;
  std::optional<ServiceSummary> best;
  int64_t most = plan ? low + 2 * asked.domain()
                      : mostTimes * std::max(low, asked.domain());
  for (int64_t step = 1; !best && high < most; step *= 2) {
    high = std::min(most, low + step);
    ServiceSummary found = at(high);
    if (isEnough(found))
      best = std::move(found);
    else
      low = high;
  }
  if (!best)
    return;
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    ServiceSummary found = at(middle);
    if (isEnough(found)) {
      best = std::move(found);
      high = middle;
    } else {
      low = middle;
    }
  }
  add("devices", "", double(high), *best->best());
}

void Adviser::otherMachines() {
  for (const std::string &name : knownMachines()) {
    if (name == asked.summary.scenario->machine().name)
      continue;
    auto scenario = onMachine(*asked.summary.scenario, name);
    if (!scenario || !(*scenario)->machine().calibration)
      continue;
    ServiceSummary moved = asked.summary;
    moved.scenario = std::move(*scenario);
    ErrorOr<Sides> sides = sidesOf(moved);
    if (!sides)
      continue;
    ServiceShortage shortage;
    findPlans(moved, *sides, asked.mode, shortage);
    if (moved.best())
      add("machine", name, 0, *moved.best());
  }
}

void Adviser::otherEngines() {
  for (Engine engine : allEngines) {
    if (asked.summary.engine == engine)
      continue;
    ServiceSummary other = asked.summary;
    other.engine = engine;
    ErrorOr<Sides> sides = sidesOf(other);
    if (!sides)
      continue;
    ServiceShortage shortage;
    findPlans(other, *sides, asked.mode, shortage);
    if (other.best())
      add("engine", spell(engine), 0, *other.best());
  }
}

void Adviser::improve(const ServicePlan &plan) {
  relax("tpot_ms", &ServiceGoal::tpot, &cost::ServingTimes::tpot);
  relax("ttft_ms", &ServiceGoal::ttft, &cost::ServingTimes::ttft);
  advice.binding = "memory";
  const ServicePlan *best = &plan;
  for (const ServiceOption &option : advice.options)
    if (isMore(option.plan, *best)) {
      best = &option.plan;
      advice.binding = option.what;
    }
  moreDevices(&plan);
  otherMachines();
  otherEngines();
}

void Adviser::rescue() {
  nearest("tpot_ms", &ServiceGoal::tpot, &cost::ServingTimes::tpot);
  nearest("ttft_ms", &ServiceGoal::ttft, &cost::ServingTimes::ttft);
  if (goal.rate > 0) {
    ServiceGoal any = goal;
    any.rate = 0;
    ServiceSummary found = asked.under(any);
    if (found.best())
      add("rate", "", found.best()->requestsPerSecond, *found.best());
  }
  moreDevices(nullptr);
  otherMachines();
  otherEngines();
}

ErrorOr<ServiceAdvice>
shardopt::adviseService(std::shared_ptr<const Scenario> scenario,
                        const ServiceRequest &request) {
  ErrorOr<ServiceSummary> summary = planService(scenario, request);
  if (!summary)
    return summary.error();
  ServiceRequest same = request;
  same.engine = spell(summary->engine); // the best of any
  ErrorOr<Asked> asked = Asked::create(std::move(scenario), same);
  if (!asked)
    return asked.error();
  ServiceAdvice advice;
  advice.summary = std::move(*summary);
  Adviser adviser(*asked, advice);
  if (const ServicePlan *plan = advice.summary.best()) {
    adviser.improve(*plan);
  } else {
    advice.binding = advice.summary.shortage->part;
    adviser.rescue();
  }
  return advice;
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

std::string shardopt::adviceJson(const ServiceAdvice &advice) {
  std::string text;
  json::Writer json(text);
  const ServicePlan *plan = advice.summary.best();
  json.beginObject(json::Style::Block);
  json.member("schema", 1);
  json.member("feasible", plan != nullptr);
  json.member("binding", advice.binding);
  if (!plan)
    json.member("why", whyNoService(advice.summary));
  json.key("options").beginArray(json::Style::Block);
  for (const ServiceOption &option : advice.options) {
    const ServicePlan &found = option.plan;
    json.beginObject();
    json.member("what", option.what);
    if (option.name.empty())
      json.member("value", option.value);
    else
      json.member("value", option.name);
    json.member("mode", spell(found.mode()));
    json.member("devices", found.usedDevices());
    json.member("tokens_per_s_per_device", found.tokensPerDevice);
    json.member("requests_per_s", found.requestsPerSecond);
    json.member("tpot_ms", found.times.tpot.ms);
    json.member("ttft_ms", found.times.ttft.ms);
    json.key("requests_per_s_ratio");
    if (plan)
      json.value(found.requestsPerSecond / plan->requestsPerSecond);
    else
      json.null();
    json.endObject();
  }
  json.endArray();
  json.endObject();
  return text + "\n";
}
