//===- ServingReport.cpp - What is said of plans to serve -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CsvLines.h"
#include "shardopt/Cost/ServingPlan.h"

#include <cmath>

using namespace shardopt;
using namespace shardopt::cost;

static std::string count(double number) {
  return std::to_string(static_cast<int64_t>(number));
}

static std::string layoutOf(const ServingWorkers &workers) {
  const ServingSetup &setup = workers.setup;
  std::string text = count(workers.count) + " x tp " + count(setup.tp);
  if (setup.attentionDp > 1)
    text += " dp " + count(setup.attentionDp);
  if (setup.model.experts > 0)
    text += setup.expertEp > 1 ? " ep " + count(setup.expertEp)
                               : " moe_tp " + count(setup.expertTp);
  return text;
}

static std::string shown(const ServingTime &time) {
  return threeDigits(time.ms) + " (" + threeDigits(time.low) + " - " +
         threeDigits(time.high) + "), p50 " + threeDigits(time.p50) + ", p90 " +
         threeDigits(time.p90);
}

static void addLine(std::string &out, const std::string &name,
                    const std::string &value) {
  out += "    " + name +
         std::string(name.size() < 22 ? 22 - name.size() : 1, ' ') + value +
         "\n";
}

static void addPlan(std::string &out, const std::string &title,
                    const std::optional<ServingPlan> &plan, bool isBest,
                    const ServingGoal &goal) {
  out += "  " + title + (isBest ? ", the better\n" : "\n");
  if (!plan) {
    out += "    none holds the limits\n";
    return;
  }
  if (plan->readers)
    addLine(out, "readers",
            layoutOf(*plan->readers) + (plan->readingMachine.empty()
                                            ? ""
                                            : " on " + plan->readingMachine));
  addLine(out, plan->readers ? "decoders" : "replicas",
          layoutOf(plan->decoders));
  addLine(out, "devices",
          count(plan->usedDevices()) + " of " + count(goal.allDevices()));
  addLine(out, "requests in flight", count(std::round(plan->concurrency)));
  addLine(out, "TPOT, ms", shown(plan->times.tpot));
  addLine(out, "TTFT, ms", shown(plan->times.ttft));
  if (plan->readers)
    addLine(out, "cache on its way, ms", threeDigits(plan->times.sentUs / 1e3));
  addLine(out, "tokens/s per device", threeDigits(plan->tokensPerDevice));
  addLine(out, "tokens/s per user", threeDigits(1e3 / plan->times.tpot.ms));
  addLine(out, "requests/s", threeDigits(plan->requestsPerSecond));
  const ServingStep::Terms &step = plan->times.step;
  std::string shares;
  for (const auto &[name, us] : step.named())
    if (us > 0)
      shares += (shares.empty() ? "" : ", ") + std::string(name) + " " +
                count(std::round(100 * us / step.sum()));
  addLine(out, "a step, %", shares);
}

std::string cost::describe(const ServingPlans &plans, const ServingGoal &goal) {
  std::string out;
  const ServingPlan *best = plans.best();
  auto isBest = [&](const std::optional<ServingPlan> &plan) {
    return plan && best == &*plan;
  };
  addPlan(out, "aggregated", plans.aggregated, isBest(plans.aggregated), goal);
  addPlan(out, "disaggregated", plans.disaggregated,
          isBest(plans.disaggregated), goal);
  return out;
}
