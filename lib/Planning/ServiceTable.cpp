//===- ServiceTable.cpp - Plans of services as text -----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/ServicePlan.h"

#include "TextTable.h"

#include "shardopt/Cost/Calibrated/CsvLines.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace shardopt;
using cost::threeDigits;

std::string shardopt::givenMachine(const Scenario &scenario) {
  const std::string &given = scenario.options().timing.machine;
  return given.empty() ? scenario.machine().name : given;
}

/// "8 GPUs of h100_sxm and 4 of b200_sxm". Machines of one name have those of
/// their files instead, and one machine that is given twice is named once.
static std::string devicesOf(const ServiceSummary &summary) {
  std::string counted = std::to_string(summary.goal.devices);
  std::string decoding = summary.scenario->machine().name, reading;
  int64_t apart = summary.goal.prefillDevices;
  if (summary.prefillScenario) {
    reading = summary.prefillScenario->machine().name;
    if (reading == decoding) {
      decoding = givenMachine(*summary.scenario);
      reading = givenMachine(*summary.prefillScenario);
    }
  }
  std::string text = counted + " GPUs of " + decoding;
  if (apart > 0)
    text += " and " + std::to_string(apart) + " of " + reading;
  else if (!reading.empty() && reading != decoding)
    text += " or " + reading;
  return text;
}

//===----------------------------------------------------------------------===//
// Lines of a plan
//===----------------------------------------------------------------------===//

static std::string layoutOf(const ServiceRole &role, bool hasExperts) {
  const Degrees &degrees = role.degrees;
  std::string text =
      std::to_string(role.workers) + " x tp " + std::to_string(degrees.tp);
  auto add = [&](const char *name, int64_t value) {
    if (value > 1)
      text += std::string(" ") + name + " " + std::to_string(value);
  };
  add("dp", degrees.dp);
  if (hasExperts && degrees.ep > 1)
    add("ep", degrees.ep);
  else if (hasExperts)
    add("moe_tp", degrees.tp * degrees.dp);
  add("pp", degrees.pp);
  add("cp", degrees.cp);
  if (hasExperts && degrees.tp * degrees.dp > 1)
    text += degrees.gathers() ? ", EP dispatch by all-gather"
                              : ", EP dispatch by all-to-all";
  if (role.overlaps)
    text += " in two overlapped micro-batches";
  if (degrees.hasEplb())
    text += ", EPLB with " + spell(Degree::Eplb, degrees.eplb) +
            " redundant experts a rank";
  return text;
}

static std::string memoryOf(const ServiceRole &role) {
  auto gb = [](double bytes) { return threeDigits(bytes / 1e9); };
  return gb(role.weightBytes) + " weights + " + gb(role.cacheBytes) +
         " caches of " + gb(role.capacityBytes);
}

static std::string shown(const cost::ServingTime &time,
                         const LatencyLimit &limit) {
  std::string text = threeDigits(time.ms) + " (" + threeDigits(time.low) +
                     " - " + threeDigits(time.high) + "), p50 " +
                     threeDigits(time.p50) + ", p90 " + threeDigits(time.p90) +
                     ", p99 " + threeDigits(time.p99);
  if (std::isinf(limit.ms))
    return text;
  text += "; SLO " + limit.describe();
  if (limit.of<double>(time) > limit.ms)
    text += ", missed";
  // An SLO on the mean may leave a tenth of the requests above it.
  else if (limit.percentile < 90 && time.p90 > limit.ms)
    text += ", p90 is above it";
  if (limit.isCrossedBy(time))
    text += ", interval crosses it";
  return text;
}

static void addLine(std::string &out, const std::string &name,
                    const std::string &value) {
  out += "    " + name +
         std::string(name.size() < 22 ? 22 - name.size() : 1, ' ') + value +
         "\n";
}

static std::string stepOf(const ServiceRole &role) {
  auto us = role.stepUs();
  double sum = std::accumulate(us.begin(), us.end(), 0.0);
  std::string shares;
  for (size_t i = 0; i < us.size(); ++i)
    if (us[i] > 0)
      shares += (shares.empty() ? "" : ", ") +
                std::string(cost::stepParts[i].label) + " " +
                std::to_string(std::llround(100 * us[i] / sum));
  return shares;
}

static void addRole(std::string &out, const char *name, const ServiceRole &role,
                    const std::string &machine, bool hasExperts) {
  addLine(out, name,
          layoutOf(role, hasExperts) +
              (machine.empty() ? "" : " on " + machine));
  addLine(out, "  memory, GB", memoryOf(role));
}

static void addPlan(std::string &out, const ServicePlan &plan,
                    const ServiceSummary &summary) {
  const ServiceGoal &goal = summary.goal;
  bool hasExperts = summary.scenario->hasExperts();
  if (plan.prefill)
    addRole(out, "prefill workers", *plan.prefill, plan.prefillMachine,
            hasExperts);
  addRole(out, plan.prefill ? "decode workers" : "workers", plan.decode, "",
          hasExperts);
  addLine(out, "GPUs",
          std::to_string(plan.usedDevices()) + " of " +
              std::to_string(goal.allDevices()));
  addLine(out, "requests in flight",
          std::to_string(std::llround(plan.concurrency)));
  addLine(out, "TPOT, ms", shown(plan.times.tpot, goal.tpot));
  addLine(out, "TTFT, ms", shown(plan.times.ttft, goal.ttft));
  if (plan.prefill)
    addLine(out, "KV transfer, ms", threeDigits(plan.times.sentUs / 1e3));
  std::string each = threeDigits(plan.tokensPerDevice);
  if (plan.usedDevices() < goal.allDevices())
    each +=
        " (" + threeDigits(plan.tokensPerUsedDevice(goal)) + " per GPU in use)";
  addLine(out, "tokens/s per GPU", each);
  addLine(out, "tokens/s per user", threeDigits(1e3 / plan.times.tpot.ms));
  addLine(out, "requests/s", threeDigits(plan.requestsPerSecond));
  if (summary.hasPrice) {
    addLine(out, "$/h, $/Mtoken",
            threeDigits(plan.costUnder(goal)) + ", " +
                threeDigits(plan.costOfTokens(goal)));
  }
  addLine(out, "decode step, %", stepOf(plan.decode));
  if (plan.prefill)
    addLine(out, "prefill step, %", stepOf(*plan.prefill));
}

std::string shardopt::otherMode(const ServiceSummary &summary) {
  const ServicePlan *best = summary.best();
  if (!best)
    return "";
  bool isTogether = summary.mode == ServiceMode::Aggregated;
  const std::optional<ServicePlan> &other =
      isTogether ? summary.disaggregated : summary.aggregated;
  if (!other)
    return summary.isOtherSought ? "none meets the limits" : "none is better";
  auto percent = [](double value, double than) {
    double more = 100 * (value / than - 1);
    return threeDigits(std::abs(more)) + " % " + (more < 0 ? "less" : "more");
  };
  if (summary.goal.rate > 0)
    return std::to_string(other->usedDevices()) + " GPUs in place of " +
           std::to_string(best->usedDevices()) + ", TPOT " +
           threeDigits(other->times.tpot.ms) + " ms";
  return threeDigits(other->tokensPerDevice) + " tokens/s per GPU, " +
         percent(other->tokensPerDevice, best->tokensPerDevice);
}

/// "serve: attn_norm tokens, embed replicated", of dims that are not
/// Megatron's.
static std::string changesOf(const OwnDims &dims) {
  std::string text, role;
  for (const OwnDims::Changed &one : dims.changed) {
    if (one.role == role)
      text += ", ";
    else
      text += (text.empty() ? "" : "; ") + one.role + ": ";
    text += one.op + " " + one.dim;
    role = one.role;
  }
  return text;
}

std::string shardopt::freeOptimum(const ServiceSummary &summary) {
  const ServicePlan *best = summary.best();
  if (!best)
    return "";
  auto percent = [](double share) { return fixed(100 * share, 2) + " %"; };
  std::string usual = spell(usualEngine);
  std::string text;
  if (summary.runnable)
    text = "the plan, which gains " +
           percent(gainOf(*best, *summary.runnable, summary.goal)) +
           " over the best that " + usual + " runs (engine " + usual + ")";
  else if (summary.free)
    text = "a sharding that " + usual + " does not run gains " +
           percent(gainOf(*summary.free, *best, summary.goal)) +
           " (engine none)";
  const auto &own = (summary.free ? *summary.free : *best).ownDims;
  if (own)
    text += (text.empty() ? "" : "; ") +
            std::string("dims that no engine has gain its workers ") +
            percent(own->gain) + " (" + changesOf(*own) + ")";
  return text;
}

/// ", 3.7 % less", of another one than the best.
static std::string lessThan(const EngineOutcome &outcome,
                            const EngineOutcome &best) {
  if (&outcome == &best)
    return "";
  double share = outcome.plan->tokensPerDevice / best.plan->tokensPerDevice;
  return ", " + threeDigits(100 * (1 - share)) + " % less";
}

/// "vllm 187 tokens/s per GPU; sglang 3.7 % less; trtllm: no plan on …".
static std::string enginesLine(const ServiceSummary &summary) {
  std::string text;
  const EngineOutcome &best = summary.engines.front();
  for (const EngineOutcome &outcome : summary.engines) {
    text += (text.empty() ? "" : "; ") + std::string(spell(outcome.engine));
    if (!outcome.plan)
      text += ": " + outcome.why;
    else if (summary.goal.rate > 0)
      text += " " + formatNumber(outcome.cost) +
              (summary.hasPrice ? " $/h" : " GPUs") + ", TPOT " +
              threeDigits(outcome.plan->times.tpot.ms) + " ms";
    else
      text += " " + threeDigits(outcome.plan->tokensPerDevice) +
              " tokens/s per GPU" + lessThan(outcome, best);
  }
  return text;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static std::string counted(int64_t count, const char *what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

static std::string searchLine(const ServiceSummary &summary) {
  const ServiceProof &proof = summary.proof;
  bool hasOwnDims = summary.best() && summary.best()->ownDims;
  return "  search    " + counted(proof.layouts, "layout") + ", " +
         counted(proof.pairs, "pair") + " of roles (" +
         std::to_string(proof.prunedPairs) + " ruled out by a bound), " +
         counted(proof.evaluations, "load") + " evaluated, " +
         counted(proof.intervals, "interval") + " bounded: " +
         (proof.gap > 0 ? "not proved, the optimum is at most " +
                              formatNumber(100 * proof.gap) + " % higher"
          : hasOwnDims  ? "optimal but for its dims"
                        : "optimal") +
         "\n";
}

static std::string breachLines(const std::vector<ServiceBreach> &breaches) {
  if (breaches.empty())
    return "  given     all limits are met\n";
  std::string text;
  for (const ServiceBreach &breach : breaches)
    text += "  breaks    " + (breach.role.empty() ? "" : breach.role + ": ") +
            breach.why + "\n";
  return text;
}

std::string shardopt::serviceTable(const ServiceSummary &summary) {
  std::string text = "  service   ";
  if (!summary.scenario->modelName().empty())
    text += summary.scenario->modelName() + ", ";
  text += (summary.engine ? "" : "engine ") +
          std::string(spell(summary.engine)) + " on " + devicesOf(summary) +
          "\n  requests  ";
  const char *separator = "";
  for (const RequestFieldInfo &info : requestFields)
    if (const std::optional<double> &value = summary.load[info.field]) {
      text +=
          separator + std::string(info.name) + " " + spell(info.field, *value);
      separator = ", ";
    }
  text += "\n";
  text +=
      summary.breaches ? breachLines(*summary.breaches) : searchLine(summary);
  if (summary.sizedWithin > 0 && summary.best())
    text += "  size      " + std::to_string(summary.best()->usedDevices()) +
            " GPUs; fewer do not meet the SLOs at this rate\n";
  if (!summary.engines.empty())
    text += "  engines   " + enginesLine(summary) + "\n";
  const ServicePlan *best = summary.best();
  if (!best)
    return text +
           (summary.breaches ? "" : "  plan      none meets the limits\n");
  text += std::string("\n  ") + spell(*summary.mode) +
          (summary.breaches ? "\n" : ", recommended\n");
  addPlan(text, *best, summary);
  if (summary.spansDomains)
    addLine(text, "workers in a domain",
            summary.inDomains
                ? threeDigits(summary.inDomains->tokensPerDevice) +
                      " tokens/s per GPU"
                : "none meets the limits");
  if (std::string free = freeOptimum(summary); !free.empty())
    addLine(text, "optimum", free);
  if (!summary.breaches)
    addLine(text,
            spell(summary.mode == ServiceMode::Aggregated
                      ? ServiceMode::Disaggregated
                      : ServiceMode::Aggregated),
            otherMode(summary));
  return text;
}
