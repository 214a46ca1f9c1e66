//===- ServiceReport.cpp - What is said of a service ----------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/ServicePlan.h"
#include "shardopt/Support/Json.h"

using namespace shardopt;

std::string shardopt::serviceTable(const ServiceSummary &summary) {
  std::string text = "  service   ";
  if (!summary.scenario->modelName().empty())
    text += summary.scenario->modelName() + ", ";
  text += std::string(spell(summary.engine)) + " on " +
          std::to_string(summary.goal.devices) + " devices of " +
          summary.scenario->machine().name + "\n  requests  ";
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
}

static void writeWorkers(json::Writer &json, const char *name,
                         const cost::ServingWorkers &workers) {
  json.key(name).beginObject();
  json.member("count", int64_t(workers.count));
  json.member("tp", int64_t(workers.setup.tp));
  json.member("dp", int64_t(workers.setup.attentionDp));
  json.member("ep", int64_t(workers.setup.expertEp));
  json.endObject();
}

static void writePlan(json::Writer &json, const char *name,
                      const std::optional<cost::ServingPlan> &plan) {
  json.key(name);
  if (!plan) {
    json.null();
    return;
  }
  json.beginObject(json::Layout::Block);
  if (plan->readers)
    writeWorkers(json, "readers", *plan->readers);
  writeWorkers(json, plan->readers ? "decoders" : "replicas", plan->decoders);
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
  const cost::ServingStep::Terms &step = plan->times.step;
  json.key("step_us").beginObject();
  json.member("products", step.gemm);
  json.member("attention", step.attention);
  json.member("experts", step.experts);
  json.member("collectives", step.collectives);
  json.member("elementwise", step.elementwise);
  json.member("launch", step.launch);
  json.endObject().endObject();
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
  json.key("requests").beginObject();
  for (const RequestFieldInfo &info : requestFields)
    if (const std::optional<double> &value = summary.load[info.field])
      json.member(info.name, *value);
  json.endObject();
  json.key("mode");
  if (summary.mode)
    json.value(spell(*summary.mode));
  else
    json.null();
  writePlan(json, spell(ServiceMode::Aggregated), summary.plans.aggregated);
  writePlan(json, spell(ServiceMode::Disaggregated),
            summary.plans.disaggregated);
  json.endObject();
  return text + "\n";
}
