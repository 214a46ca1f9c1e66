//===- ServiceReport.cpp - Plans of services as text and JSON -------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/ServicePlan.h"

#include "shardopt/Cost/CsvLines.h"
#include "shardopt/Support/Json.h"

#include <algorithm>
#include <cmath>

using namespace shardopt;
using cost::threeDigits;

std::string shardopt::givenMachine(const Scenario &scenario) {
  const std::string &given = scenario.options().timing.machine;
  return given.empty() ? scenario.machine().name : given;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// "8 devices of h100_sxm and 4 of b200_sxm". Machines of one name have those
/// of their files instead, and one machine that is given twice is named once.
static std::string devicesOf(const ServiceSummary &summary) {
  const std::string counted = std::to_string(summary.goal.devices);
  std::string decoding = summary.scenario->machine().name, reading;
  const int64_t apart = summary.goal.prefillDevices;
  if (summary.prefillScenario) {
    reading = summary.prefillScenario->machine().name;
    if (reading == decoding) {
      decoding = givenMachine(*summary.scenario);
      reading = givenMachine(*summary.prefillScenario);
    }
  }
  std::string text = counted + " devices of " + decoding;
  if (apart > 0)
    text += " and " + std::to_string(apart) + " of " + reading;
  else if (!reading.empty() && reading != decoding)
    text += " or " + reading;
  return text;
}

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
    text += degrees.gathers() ? ", experts by all-gather"
                              : ", experts by all-to-all";
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
  text += "; limit " + limit.describe();
  // A limit on the mean may leave a tenth of the requests above it.
  if (limit.percentile < 90 && time.p90 > limit.ms)
    text += ", p90 is above it";
  return text;
}

static void addLine(std::string &out, const std::string &name,
                    const std::string &value) {
  out += "    " + name +
         std::string(name.size() < 22 ? 22 - name.size() : 1, ' ') + value +
         "\n";
}

/// Microseconds of a step that decodes, by part, with what the host adds.
static std::vector<std::pair<const char *, double>>
stepOf(const cost::ServingTimes &times) {
  std::vector<std::pair<const char *, double>> parts;
  for (const auto &[name, seconds] : times.step.named())
    parts.emplace_back(name, seconds * 1e6);
  parts.emplace_back("launch", times.hostUs);
  return parts;
}

static void addRole(std::string &out, const char *name, const ServiceRole &role,
                    const std::string &machine, bool hasExperts) {
  addLine(out, name,
          layoutOf(role, hasExperts) +
              (machine.empty() ? "" : " on " + machine));
  addLine(out, "  memory, GB", memoryOf(role));
}

static void addPlan(std::string &out, ServiceMode mode,
                    const std::optional<ServicePlan> &plan,
                    const ServiceSummary &summary) {
  const ServiceGoal &goal = summary.goal;
  out += std::string("  ") + spell(mode) +
         (summary.mode == mode ? ", recommended\n" : "\n");
  if (!plan) {
    out += "    none meets the limits\n";
    return;
  }
  const bool hasExperts = summary.scenario->hasExperts();
  if (plan->prefill)
    addRole(out, "prefill workers", *plan->prefill, plan->prefillMachine,
            hasExperts);
  addRole(out, plan->prefill ? "decode workers" : "workers", plan->decode, "",
          hasExperts);
  addLine(out, "devices",
          std::to_string(plan->usedDevices()) + " of " +
              std::to_string(goal.allDevices()));
  addLine(out, "requests in flight",
          std::to_string(std::llround(plan->concurrency)));
  addLine(out, "TPOT, ms", shown(plan->times.tpot, goal.tpot));
  addLine(out, "TTFT, ms", shown(plan->times.ttft, goal.ttft));
  if (plan->prefill)
    addLine(out, "KV transfer, ms", threeDigits(plan->times.sentUs / 1e3));
  addLine(out, "tokens/s per device", threeDigits(plan->tokensPerDevice));
  addLine(out, "tokens/s per user", threeDigits(1e3 / plan->times.tpot.ms));
  addLine(out, "requests/s", threeDigits(plan->requestsPerSecond));
  double sum = 0;
  for (const auto &[name, us] : stepOf(plan->times))
    sum += us;
  std::string shares;
  for (const auto &[name, us] : stepOf(plan->times))
    if (us > 0)
      shares += (shares.empty() ? "" : ", ") + std::string(name) + " " +
                std::to_string(std::llround(100 * us / sum));
  addLine(out, "step time, %", shares);
}

std::string shardopt::serviceTable(const ServiceSummary &summary) {
  std::string text = "  service   ";
  if (!summary.scenario->modelName().empty())
    text += summary.scenario->modelName() + ", ";
  text += std::string(spell(summary.engine)) + " on " + devicesOf(summary) +
          "\n  requests  ";
  const char *separator = "";
  for (const RequestFieldInfo &info : requestFields)
    if (const std::optional<double> &value = summary.load[info.field]) {
      text +=
          separator + std::string(info.name) + " " + spell(info.field, *value);
      separator = ", ";
    }
  const ServiceProof &proof = summary.proof;
  text += "\n  search    " + std::to_string(proof.layouts) + " layouts, " +
          std::to_string(proof.pairs) + " pairs of roles (" +
          std::to_string(proof.prunedPairs) + " ruled out by a bound), " +
          std::to_string(proof.evaluations) + " loads evaluated, " +
          std::to_string(proof.intervals) + " intervals bounded: optimal\n\n";
  addPlan(text, ServiceMode::Aggregated, summary.aggregated, summary);
  addPlan(text, ServiceMode::Disaggregated, summary.disaggregated, summary);
  return text;
}

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

static void writeRole(json::Writer &json, const char *name,
                      const ServiceRole &role, const Machine &machine) {
  json.key(name).beginObject();
  json.member("machine", machine.name);
  json.member("count", role.workers);
  for (Degree degree : {Degree::Tp, Degree::Dp, Degree::Ep, Degree::Pp,
                        Degree::Cp, Degree::Exchange})
    if (infoOf(degree).names)
      json.member(spell(degree), spell(degree, role.degrees[degree]));
    else
      json.member(spell(degree), role.degrees[degree]);
  json.member("devices_each", role.degrees.devices());
  json.key("memory_gb").beginObject();
  json.member("weights", role.weightBytes / 1e9);
  json.member("kv_cache", role.cacheBytes / 1e9);
  json.member("capacity", role.capacityBytes / 1e9);
  json.endObject();
  json.endObject();
}

static void writePlan(json::Writer &json, ServiceMode mode,
                      const std::optional<ServicePlan> &plan,
                      const ServiceSummary &summary) {
  json.key(spell(mode));
  if (!plan) {
    json.null();
    return;
  }
  json.beginObject(json::Layout::Block);
  const Machine &machine = summary.scenario->machine();
  if (plan->prefill)
    writeRole(json, "readers", *plan->prefill,
              plan->prefillMachine.empty()
                  ? machine
                  : summary.prefillScenario->machine());
  writeRole(json, plan->prefill ? "decoders" : "replicas", plan->decode,
            machine);
  json.member("devices", plan->usedDevices());
  json.member("concurrency", plan->concurrency);
  json.member("sequences", plan->times.sequences);
  writeTime(json, "tpot_ms", plan->times.tpot);
  writeTime(json, "ttft_ms", plan->times.ttft);
  if (plan->prefill)
    json.member("cache_sent_ms", plan->times.sentUs / 1e3);
  json.member("tokens_per_s_per_device", plan->tokensPerDevice);
  json.member("tokens_per_s_per_user", 1e3 / plan->times.tpot.ms);
  json.member("requests_per_s", plan->requestsPerSecond);
  const auto parts = stepOf(plan->times);
  json.key("step_us").beginObject();
  for (const auto &[part, us] : parts)
    json.member(part, us);
  json.endObject();
  const auto most = std::max_element(
      parts.begin(), parts.end(),
      [](const auto &a, const auto &b) { return a.second < b.second; });
  json.member("dominating_term", most->first);
  json.endObject();
}

static void writeProof(json::Writer &json, const ServiceProof &proof) {
  json.key("certificate").beginObject();
  json.member("optimal", true);
  json.member("layouts", proof.layouts);
  json.member("pairs", proof.pairs);
  json.member("pruned_pairs", proof.prunedPairs);
  json.member("evaluations", proof.evaluations);
  json.member("intervals", proof.intervals);
  json.endObject();
}

static void writeShortage(json::Writer &json, const ServiceSummary &summary) {
  const ServiceShortage &shortage = *summary.shortage;
  json.key("infeasible").beginObject();
  json.member("binding", shortage.part);
  json.member("why", whyNoService(summary));
  json.member("least_tpot_ms", shortage.leastTpotMs);
  json.member("least_ttft_ms", shortage.leastTtftMs);
  json.member("most_requests_per_s", shortage.mostRequestsPerSecond);
  json.member("least_gb", shortage.leastBytes / 1e9);
  json.member("capacity_gb", shortage.capacityBytes / 1e9);
  json.member("fewest_devices", shortage.fewestDevices);
  json.endObject();
}

std::string shardopt::serviceJson(const ServiceSummary &summary) {
  std::string text;
  json::Writer json(text);
  json.beginObject(json::Layout::Block);
  json.member("schema", 2);
  json.member("model", summary.scenario->modelName());
  json.member("machine", summary.scenario->machine().name);
  json.member("engine", spell(summary.engine));
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
  // Bands are those of a model that nobody compared.
  std::string source = "extrapolated: model";
  for (const auto &scenario : {summary.scenario, summary.prefillScenario})
    if (scenario && !scenario->machine().calibration->like.empty())
      source += ", like " + scenario->machine().calibration->like;
  json.member("source", source);
  json.key("mode");
  if (summary.mode)
    json.value(spell(*summary.mode));
  else
    json.null();
  writeProof(json, summary.proof);
  if (summary.shortage)
    writeShortage(json, summary);
  writePlan(json, ServiceMode::Aggregated, summary.aggregated, summary);
  writePlan(json, ServiceMode::Disaggregated, summary.disaggregated, summary);
  json.endObject();
  return text + "\n";
}
