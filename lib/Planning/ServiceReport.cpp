//===- ServiceReport.cpp - Plans of services as JSON ----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/ServiceFrontier.h"

#include "shardopt/Support/Json.h"

#include <algorithm>
#include <cmath>

using namespace shardopt;

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static void writeTime(json::Writer &json, const std::string &name,
                      const cost::ServingTime &time) {
  json.member(name, time.ms);
  json.key(name + "_range").beginArray();
  json.value(time.low).value(time.high).endArray();
  json.member(name + "_p50", time.p50);
  json.member(name + "_p90", time.p90);
  json.member(name + "_p99", time.p99);
}

/// Microseconds of a step by part, and the key of the largest.
static void writeStep(json::Writer &json, const ServiceRole &role) {
  auto us = role.stepUs();
  json.key("step_us").beginObject();
  for (size_t i = 0; i < us.size(); ++i)
    json.member(cost::stepParts[i].key, us[i]);
  json.endObject();
  size_t most = std::max_element(us.begin(), us.end()) - us.begin();
  json.member("dominating_term", cost::stepParts[most].key);
}

static void writeLayout(json::Writer &json, const ServiceRole &role,
                        size_t layers) {
  for (Degree degree : {Degree::Tp, Degree::Dp, Degree::Ep, Degree::Pp,
                        Degree::Cp, Degree::Exchange})
    if (infoOf(degree).names)
      json.member(spell(degree), spell(degree, role.degrees[degree]));
    else
      json.member(spell(degree), role.degrees[degree]);
  if (role.degrees.tp2 > 1)
    json.member(spell(Degree::Tp2), role.degrees.tp2);
  if (role.degrees.hasEplb())
    json.member(spell(Degree::Eplb), spell(Degree::Eplb, role.degrees.eplb));
  json.key("stages").beginArray();
  const StageCut &given = role.degrees.stages;
  for (int64_t stage :
       (given.isEmpty() ? evenCut(int64_t(layers), role.degrees.pp) : given)
           .layers)
    json.value(stage);
  json.endArray();
}

/// The dim of each op, where no engine gives them.
static void writeDims(json::Writer &json, const ServiceRole &role,
                      const cost::Model &model) {
  if (role.dims.empty())
    return;
  std::vector<std::string> ops = model.opNames();
  json.key("dims").beginObject();
  for (size_t op = 0; op < ops.size(); ++op)
    json.member(ops[op], int64_t(role.dims[op]));
  json.endObject();
}

/// Only where steps work on two micro-batches.
static void writeOverlap(json::Writer &json, const ServiceRole &role) {
  if (!role.overlaps)
    return;
  json.member("overlap", "on");
  if (role.overlapFromDecoded > 0)
    json.member("overlap_decode_tokens", role.overlapFromDecoded);
  if (role.overlapFromPrompts > 0)
    json.member("overlap_prefill_tokens", role.overlapFromPrompts);
}

static void writeRole(json::Writer &json, const char *name,
                      const ServiceRole &role, const Scenario &scenario) {
  json.key(name).beginObject(json::Style::Block);
  json.member("machine", scenario.machine().name);
  json.member("workers", role.workers);
  writeLayout(json, role, scenario.model().numLayers());
  writeDims(json, role, scenario.model());
  writeOverlap(json, role);
  json.member("devices_each", role.degrees.devices());
  json.member("devices", role.devices());
  json.member("in_flight_each", role.inFlight);
  json.member("sequences_each", role.sequences);
  json.key("memory_gb").beginObject();
  json.member("weights", role.weightBytes / 1e9);
  json.member("kv_cache", role.cacheBytes / 1e9);
  json.member("capacity", role.capacityBytes / 1e9);
  json.endObject();
  writeStep(json, role);
  json.endObject();
}

/// What the service is to attain, and attains.
static void writeSlos(json::Writer &json, const ServicePlan &plan,
                      const ServiceGoal &goal) {
  json.key("slos").beginArray(json::Style::Block);
  auto write = [&](const char *name, const char *statistic, double target,
                   double attained, bool isMet, bool isCrossed) {
    json.beginObject();
    json.member("name", name);
    json.member("statistic", statistic);
    json.member("target", target);
    json.member("attained", attained);
    json.member("met", isMet);
    json.member("interval_crosses", isCrossed);
    json.endObject();
  };
  auto writeTime = [&](const char *name, const LatencyLimit &limit,
                       const cost::ServingTime &time) {
    std::string statistic =
        limit.percentile ? "p" + std::to_string(limit.percentile) : "mean";
    double attained = limit.of<double>(time);
    if (std::isfinite(limit.ms))
      write(name, statistic.c_str(), limit.ms, attained, attained <= limit.ms,
            limit.isCrossedBy(time));
  };
  writeTime("tpot_ms", goal.tpot, plan.times.tpot);
  writeTime("ttft_ms", goal.ttft, plan.times.ttft);
  if (goal.rate > 0)
    write("requests_per_s", "mean", goal.rate, plan.requestsPerSecond,
          plan.requestsPerSecond >= goal.rate, /*isCrossed=*/false);
  json.endArray();
}

static void writeMembers(json::Writer &json, const ServicePlan &plan,
                         const ServiceSummary &summary) {
  if (plan.prefill)
    writeRole(json, "prefill", *plan.prefill,
              plan.prefillMachine.empty() ? *summary.scenario
                                          : *summary.prefillScenario);
  writeRole(json, plan.prefill ? "decode" : "serve", plan.decode,
            *summary.scenario);
  if (plan.prefill && summary.prefillScenario)
    json.member("prefill_elsewhere", !plan.prefillMachine.empty());
  json.member("devices", plan.usedDevices());
  json.member("concurrency", plan.concurrency);
  json.member("sequences", plan.times.sequences);
  writeTime(json, "tpot_ms", plan.times.tpot);
  writeTime(json, "ttft_ms", plan.times.ttft);
  if (plan.prefill) {
    json.member("kv_transfer_ms", plan.times.sentUs / 1e3);
    json.member("prefill_busy", plan.times.busy);
  }
  writeSlos(json, plan, summary.goal);
  json.member("tokens_per_s_per_device", plan.tokensPerDevice);
  json.member("tokens_per_s_per_used_device",
              plan.tokensPerUsedDevice(summary.goal));
  json.member("tokens_per_s_per_user", 1e3 / plan.times.tpot.ms);
  json.member("requests_per_s", plan.requestsPerSecond);
  if (summary.goal.isGoodput)
    json.member("goodput_requests_per_s", plan.goodput);
  if (summary.hasPrice) {
    json.member("dollars_per_hour", plan.costUnder(summary.goal));
    json.member("dollars_per_mtoken", plan.costOfTokens(summary.goal));
  }
}

static void writePlan(json::Writer &json, ServiceMode mode,
                      const std::optional<ServicePlan> &plan,
                      const ServiceSummary &summary) {
  json.key(spell(mode));
  if (!plan) {
    json.null();
    return;
  }
  json.beginObject(json::Style::Block);
  writeMembers(json, *plan, summary);
  json.endObject();
}

static void writeCounts(json::Writer &json, const ServiceProof &proof) {
  json.member("layouts", proof.layouts);
  json.member("pairs", proof.pairs);
  json.member("pruned_pairs", proof.prunedPairs);
  json.member("evaluations", proof.evaluations);
  json.member("intervals", proof.intervals);
}

/// How the recommended plan was proved; its objective is its own bound. Dims of
/// its own have none.
static void writeProof(json::Writer &json, const ServiceSummary &summary) {
  const ServiceProof &proof = summary.proof;
  // Of modes that are as good as equal the simpler is recommended; one that is
  // asked for has a bound of its own.
  std::optional<double> bound;
  for (const auto *plan : {&summary.aggregated, &summary.disaggregated}) {
    if (!*plan || (summary.asked && (*plan)->mode() != *summary.asked))
      continue;
    bound =
        summary.goal.isGoodput
            ? std::max(bound.value_or(0), (*plan)->goodput * (1 + proof.gap))
        : summary.goal.rate > 0
            ? std::min(bound.value_or(1e18),
                       (*plan)->costUnder(summary.goal) / (1 + proof.gap))
            : std::max(bound.value_or(0),
                       (*plan)->tokensPerDevice * (1 + proof.gap));
  }
  bool hasRate = summary.goal.rate > 0,
       hasOwnDims = summary.best() && summary.best()->ownDims;
  if (hasOwnDims)
    bound.reset();
  if (summary.robustness)
    bound = summary.robustness->worst() * (1 + proof.gap);
  json.key("certificate").beginObject();
  json.member("optimal", proof.gap <= 0 && !hasOwnDims);
  json.member("objective", summary.robustness       ? "worst_share_of_optimum"
                           : summary.goal.isGoodput ? "goodput_requests_per_s"
                           : !hasRate               ? "tokens_per_s_per_device"
                           : summary.hasPrice       ? "dollars_per_hour"
                                                    : "devices");
  json.key("bound");
  if (bound)
    json.value(*bound);
  else
    json.null();
  json.key("gap");
  if (hasOwnDims)
    json.null();
  else
    json.value(proof.gap);
  writeCounts(json, proof);
  json.endObject();
}

static void writeBreaches(json::Writer &json,
                          const std::vector<ServiceBreach> &breaches) {
  json.key("breaks").beginArray(json::Style::Block);
  for (const ServiceBreach &breach : breaches) {
    json.beginObject();
    json.member("kind", breach.kind);
    json.member("role", breach.role);
    json.member("why", breach.why);
    json.endObject();
  }
  json.endArray();
}

/// The size that was found; `within` so many GPUs nothing takes fewer.
static void writeSize(json::Writer &json, const ServiceSummary &summary) {
  const ServicePlan *best = summary.best();
  json.key("size").beginObject();
  json.member("within_devices", summary.sizedWithin);
  json.member("machines_swapped", summary.isTurned);
  json.key("devices");
  if (best)
    json.value(best->usedDevices());
  else
    json.null();
  json.endObject();
}

/// The mode of a plan and what it attains; null: there is none.
static void writeOutcome(json::Writer &json, const ServicePlan *plan) {
  json.key("mode");
  if (!plan) {
    json.null();
    return;
  }
  json.value(spell(plan->mode()));
  json.member("devices", plan->usedDevices());
  json.member("tokens_per_s_per_device", plan->tokensPerDevice);
  json.member("requests_per_s", plan->requestsPerSecond);
  json.member("tpot_ms", plan->times.tpot.ms);
  json.member("ttft_ms", plan->times.ttft.ms);
}

static void writeEngines(json::Writer &json,
                         const std::vector<EngineOutcome> &engines) {
  json.key("engines").beginArray(json::Style::Block);
  for (const EngineOutcome &outcome : engines) {
    json.beginObject();
    json.member("engine", spell(outcome.engine));
    json.member("engine_version", engineVersion(outcome.engine));
    writeOutcome(json, outcome.plan ? &*outcome.plan : nullptr);
    if (!outcome.plan)
      json.member("why", outcome.why);
    else if (outcome.cost > 0)
      json.member("cost", outcome.cost);
    json.endObject();
  }
  json.endArray();
}

static void writeShortage(json::Writer &json, const ServiceSummary &summary) {
  const ServiceShortage &shortage = *summary.shortage;
  json.key("infeasible").beginObject();
  json.member("binding", shortage.part);
  json.member("why", whyNoService(summary));
  json.member("least_tpot_ms", shortage.leastTpotMs);
  json.member("least_ttft_ms", shortage.leastTtftMs);
  json.member("nearest_tpot_ms", shortage.nearestTpotMs);
  json.member("nearest_ttft_ms", shortage.nearestTtftMs);
  json.member("most_requests_per_s", shortage.mostRequestsPerSecond);
  json.member("least_gb", shortage.leastBytes / 1e9);
  json.member("capacity_gb", shortage.capacityBytes / 1e9);
  json.member("fewest_devices", shortage.fewestDevices);
  json.endObject();
}

/// Which measured runs the numbers of the recommended plan come from, or what
/// of it nobody compared.
static std::string sourceOf(const ServiceSummary &summary) {
  const cost::Model &model = summary.scenario->model();
  const std::string &name = model.architecture;
  std::vector<std::string> why;
  if (!cost::isMeasured(name, model.rowBytes))
    why.push_back("model " + summary.scenario->modelName());
  if (summary.mode == ServiceMode::Disaggregated)
    why.emplace_back("mode disaggregated");
  auto isFitted = [&](const Scenario &scenario) {
    return scenario.machine().calibration->engines.count(
               spell(summary.clock())) > 0;
  };
  for (const auto &scenario : {summary.scenario, summary.prefillScenario})
    if (scenario && !scenario->machine().calibration->like.empty() &&
        !isFitted(*scenario))
      why.push_back("machine " + scenario->machine().name + " like " +
                    scenario->machine().calibration->like);
  if (why.empty() && isFitted(*summary.scenario))
    return "fitted to " + summary.scenario->machine().calibration->data;
  if (why.empty())
    return "fitted to measured runs of " + name;
  std::string text;
  for (const std::string &one : why)
    text += (text.empty() ? "extrapolated: " : ", ") + one;
  return text;
}

/// The best plan whose workers lie inside domains, where those of the plan do
/// not.
static void writeInDomains(json::Writer &json, const ServiceSummary &summary) {
  json.key("inside_nvlink_domain").beginObject();
  json.member("domain_devices", summary.scenario->machine().domainSize);
  writeOutcome(json, summary.inDomains ? &*summary.inDomains : nullptr);
  json.endObject();
}

/// The optimum over any sharding where the plan is that of an engine, or the
/// other way round.
static void writeFree(json::Writer &json, const ServiceSummary &summary) {
  const ServicePlan &best = *summary.best();
  if (summary.free) {
    json.key("free_optimum").beginObject();
    writeOutcome(json, &*summary.free);
    json.member("gain", gainOf(*summary.free, best, summary.goal));
    json.endObject();
  } else if (summary.runnable) {
    json.key("runnable").beginObject();
    json.member("engine", spell(usualEngine));
    writeOutcome(json, &*summary.runnable);
    json.member("gain", gainOf(best, *summary.runnable, summary.goal));
    json.endObject();
  }
  const std::optional<OwnDims> &own =
      (summary.free ? *summary.free : best).ownDims;
  if (!own)
    return;
  json.key("own_dims").beginObject();
  json.member("gain", own->gain);
  json.key("dims").beginArray();
  for (const OwnDims::Changed &one : own->changed) {
    json.beginObject();
    json.member("role", one.role);
    json.member("op", one.op);
    json.member("dim", one.dim);
    json.endObject();
  }
  json.endArray();
  json.endObject();
}

/// What was asked, of what.
static void writeAsked(json::Writer &json, const ServiceSummary &summary) {
  json.member("schema", 4);
  json.member("model", summary.scenario->modelName());
  json.member("machine", summary.scenario->machine().name);
  json.member("engine", spell(summary.engine));
  json.member("engine_version", engineVersion(summary.clock()));
  json.member("chunk_tokens", summary.chunkTokens);
  json.member("devices", summary.goal.devices);
  if (summary.prefillScenario) {
    json.member("prefill_machine", summary.prefillScenario->machine().name);
    json.member("prefill_devices", summary.goal.prefillDevices);
  }
  json.key("requests").beginObject();
  for (const RequestFieldInfo &info : requestFields)
    if (const std::optional<double> &value = summary.load[info.field])
      json.member(info.name, *value);
  json.endObject();
  if (!summary.lengths.empty()) {
    json.key("lengths").beginArray();
    for (const auto &[input, output, share] : summary.lengths) {
      json.beginArray();
      json.value(input).value(output).value(share);
      json.endArray();
    }
    json.endArray();
  }
  json.member("source", sourceOf(summary));
}

/// Requests a second in each scenario, and the least share of the optimum.
static void writeRobustness(json::Writer &json,
                            const ServiceRobustness &robustness) {
  json.key("robust").beginObject(json::Style::Block);
  json.key("bands").beginObject();
  for (const ServiceBand &band : robustness.bands) {
    json.key(band.name).beginArray();
    json.value(band.low).value(band.high);
    json.endArray();
  }
  json.endObject();
  json.member("worst_share_of_optimum", robustness.worst());
  json.member("worst_share_of_usual_plan", robustness.worstOfUsual());
  json.key("scenarios").beginArray(json::Style::Block);
  for (const auto &[values, optimum, attained, usual] : robustness.scenarios) {
    json.beginObject();
    json.key("values").beginObject();
    for (size_t i = 0; i < values.size(); ++i)
      json.member(robustness.bands[i].name, values[i]);
    json.endObject();
    json.member("optimum_requests_per_s", optimum);
    json.member("plan_requests_per_s", attained);
    json.member("usual_plan_requests_per_s", usual);
    json.endObject();
  }
  json.endArray();
  json.endObject();
}

static void writeSummary(json::Writer &json, const ServiceSummary &summary) {
  json.beginObject(json::Style::Block);
  writeAsked(json, summary);
  json.key("mode");
  if (summary.mode)
    json.value(spell(*summary.mode));
  else
    json.null();
  if (summary.sizedWithin > 0)
    writeSize(json, summary);
  if (!summary.engines.empty())
    writeEngines(json, summary.engines);
  if (summary.breaches) {
    writeBreaches(json, *summary.breaches);
  } else {
    writeProof(json, summary);
    json.member("other_mode", otherMode(summary));
  }
  if (std::string free = freeOptimum(summary); !free.empty()) {
    writeFree(json, summary);
    json.member("optimum", free);
  }
  if (summary.spansDomains)
    writeInDomains(json, summary);
  if (summary.robustness)
    writeRobustness(json, *summary.robustness);
  if (!summary.candidates.empty()) {
    json.key("candidates").beginArray(json::Style::Block);
    for (const ServicePlan &plan : summary.candidates) {
      json.beginObject(json::Style::Block);
      json.member("mode", spell(plan.mode()));
      writeMembers(json, plan, summary);
      json.endObject();
    }
    json.endArray();
  }
  if (summary.shortage)
    writeShortage(json, summary);
  writePlan(json, ServiceMode::Aggregated, summary.aggregated, summary);
  writePlan(json, ServiceMode::Disaggregated, summary.disaggregated, summary);
  json.endObject();
}

std::string shardopt::serviceJson(const ServiceSummary &summary) {
  std::string text;
  json::Writer json(text);
  writeSummary(json, summary);
  return text + "\n";
}

std::string shardopt::frontierJson(const ServiceFrontier &frontier) {
  std::string text;
  json::Writer json(text);
  json.beginObject(json::Style::Block);
  json.key("points").beginArray(json::Style::Block);
  for (const ServiceSummary &point : frontier.points)
    writeSummary(json, point);
  json.endArray();
  json.key("variants").beginArray();
  for (const ServiceSummary &point : frontier.points)
    json.value(int64_t(point.variant));
  json.endArray();
  json.endObject();
  return text + "\n";
}
