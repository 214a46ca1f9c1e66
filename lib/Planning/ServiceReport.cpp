//===- ServiceReport.cpp - What is said of a service ----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/ServingMemory.h"
#include "shardopt/Planning/ServicePlan.h"
#include "shardopt/Support/Json.h"

using namespace shardopt;

std::string shardopt::givenMachine(const Scenario &scenario) {
  const std::string &given = scenario.options().timing.machine;
  return given.empty() ? scenario.machine().name : given;
}

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
  return text + "\n\n" + cost::describe(summary.plans, summary.goal);
}

static void writeTime(json::Writer &json, const std::string &name,
                      const cost::ServingTime &time) {
  json.member(name, time.ms);
  json.key(name + "_range").beginArray();
  json.value(time.low).value(time.high).endArray();
  json.member(name + "_p50", time.p50);
  json.member(name + "_p90", time.p90);
}

/// Of the fullest device, 1e9 bytes: `sequences` of `context` tokens are cached
/// in each group of attention, and what is not taken is free.
static void writeMemory(json::Writer &json, const cost::ServingSetup &setup,
                        double sequences, double context, double usable) {
  const cost::ServingMemory memory = cost::memoryOf(setup);
  const double cached = sequences * memory.cachePerToken * context;
  const double states = sequences * memory.states;
  const double windows = sequences * memory.cache(context) - cached - states;
  const std::pair<const char *, double> parts[] = {
      {"attention", memory.attention},
      {"dense", memory.dense},
      {"shared_experts", memory.shared},
      {"experts", memory.experts},
      {"routers", memory.routers},
      {"norms", memory.norms},
      {"embeddings", memory.embeddings},
      {"kv_cache", cached},
      {"kv_cache_of_windows", windows},
      {"states", states},
      {"workspace", cost::workspaceBytes},
      {"free", usable - memory.weights() - cached - windows - states}};
  json.key("memory_gb").beginObject();
  for (const auto &[part, bytes] : parts)
    json.member(part, bytes / 1e9);
  json.endObject();
}

static void writeWorkers(json::Writer &json, const char *name,
                         const cost::ServingWorkers &workers, double sequences,
                         double context, const Machine &machine) {
  const double usable =
      cost::usableBytes(machine.calibration->sheet.memoryBytes);
  json.key(name).beginObject();
  json.member("machine", machine.name);
  json.member("count", int64_t(workers.count));
  json.member("tp", int64_t(workers.setup.tp));
  json.member("dp", int64_t(workers.setup.attentionDp));
  json.member("ep", int64_t(workers.setup.expertEp));
  writeMemory(json, workers.setup, sequences, context, usable);
  json.endObject();
}

static void writePlan(json::Writer &json, ServiceMode mode,
                      const std::optional<cost::ServingPlan> &plan,
                      const ServiceSummary &summary) {
  json.key(spell(mode));
  if (!plan) {
    json.null();
    return;
  }
  json.beginObject(json::Layout::Block);
  const Machine &machine = summary.scenario->machine();
  const double prompt = summary.goal.inputTokens;
  if (plan->readers)
    writeWorkers(json, "readers", *plan->readers, 1, prompt,
                 plan->readingMachine.empty()
                     ? machine
                     : summary.prefillScenario->machine());
  writeWorkers(json, plan->readers ? "decoders" : "replicas", plan->decoders,
               plan->readers ? plan->times.sequences : plan->times.admitted,
               prompt + summary.goal.outputTokens / 2, machine);
  json.member("devices", int64_t(plan->usedDevices()));
  json.member("concurrency", plan->concurrency);
  json.member("sequences", plan->times.sequences);
  writeTime(json, "tpot_ms", plan->times.tpot);
  writeTime(json, "ttft_ms", plan->times.ttft);
  if (plan->readers)
    json.member("cache_sent_ms", plan->times.sentUs / 1e3);
  json.member("tokens_per_s_per_device", plan->tokensPerDevice);
  json.member("tokens_per_s_per_user", 1e3 / plan->times.tpot.ms);
  json.member("requests_per_s", plan->requestsPerSecond);
  json.key("step_us").beginObject();
  for (const auto &[term, us] : plan->times.step.named())
    json.member(term, us);
  json.endObject();
  json.member("dominating_term", plan->times.step.dominating().first);
  json.endObject();
}

std::string shardopt::serviceJson(const ServiceSummary &summary) {
  std::string text;
  json::Writer json(text);
  json.beginObject(json::Layout::Block);
  json.member("schema", 1);
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
  // Programs do not say their family, so that bands are those of a model that
  // nobody compared.
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
  writePlan(json, ServiceMode::Aggregated, summary.plans.aggregated, summary);
  writePlan(json, ServiceMode::Disaggregated, summary.plans.disaggregated,
            summary);
  json.endObject();
  return text + "\n";
}
