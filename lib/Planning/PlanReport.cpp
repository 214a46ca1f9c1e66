//===- PlanReport.cpp - A plan as JSON ------------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Breakdown.h"
#include "shardopt/Cost/LiveValues.h"
#include "shardopt/Model/StageGrid.h"
#include "shardopt/Planning/Plan.h"
#include "shardopt/Support/Json.h"

#include <string_view>

using namespace shardopt;

namespace {

/// Writes the parts of a report, one function each.
class ReportWriter {
public:
  ReportWriter(const PlanSummary &summary, std::string &text)
      : summary(summary), scenario(*summary.scenario), json(text) {}

  void write();

private:
  void writeSubject();
  void writeFailures();
  void writeBest();
  void writeFree();
  void writeActivations();
  void writeTrust(const cost::Breakdown &breakdown);
  void writeBreakdown(const cost::Breakdown &breakdown);
  void writeBaselines();
  void writeEngines();
  void writeBinding();
  void writeNextFeasible();

  void writePlan(const search::Plan &plan);
  void writeOptional(std::string_view key, std::optional<double> value);

  const PlanSummary &summary;
  const Scenario &scenario;
  json::Writer json;
};

} // namespace

void ReportWriter::write() {
  json.beginObject(json::Style::Block);
  json.member("schema", 1);
  writeSubject();
  if (summary.searcher.empty()) {
    json.key("searcher").null();
    json.key("seed").null();
  } else {
    json.member("searcher", summary.searcher);
    json.member("seed", summary.seed);
  }
  json.member("evaluations", int64_t(summary.search.evaluations));
  json.member("distinct_evaluations",
              int64_t(summary.search.distinctEvaluations));
  json.member("infeasible_evaluations",
              int64_t(summary.search.hopelessEvaluations));
  json.member("rejected_draws", int64_t(summary.search.rejected));
  for (const search::Count &count : summary.search.counts)
    json.member(count.name, int64_t(count.number));
  json.member("accounting", search::spell(summary.accounting));
  json.member("budgeted_evaluations", int64_t(summary.search.charged));
  json.member("resumed_evaluations", int64_t(summary.resumedEvaluations));
  json.member("wall_s", summary.wallSeconds);
  json.member("stopped",
              summary.breakdown ? "simulator"
              : summary.search.stopped == search::StopReason::Requested
                  ? "signal"
                  : search::spell(summary.search.stopped));
  writeFailures();
  writeBest();
  writeFree();
  writeBaselines();
  writeEngines();
  writeOptional("bound", summary.search.bound);
  writeOptional("gap", gap(summary.search, scenario.objective(summary.goal)));
  json.member("proved", summary.search.proved);
  if (!summary.batches.empty())
    json.member("batches", summary.batches);
  writeBinding();
  writeNextFeasible();
  json.endObject();
}

void ReportWriter::writeSubject() {
  json.member("model", scenario.modelName());
  json.member("machine", scenario.machine().name);
  json.key("workload")
      .beginObject()
      .member("phase", scenario.isPrefill() ? "prefill" : "decode")
      .member("context", scenario.workload().context)
      .endObject();
  json.member("simulator", scenario.simulatorName());
  json.member("objective",
              summary.goal == search::Goal::Latency ? "latency" : "throughput");
  json.member("slo_ms", scenario.sloMs());
  json.key("max_devices");
  if (scenario.maxDevices())
    json.value(scenario.maxDevices());
  else
    json.null();
}

void ReportWriter::writeFailures() {
  json.key("simulator_failures");
  if (!scenario.external()) {
    json.null();
    return;
  }
  blackbox::FailureCounts failures = scenario.external()->failures();
  json.beginObject();
  for (size_t i = 0; i < blackbox::numFailures; ++i)
    json.member(blackbox::spell(static_cast<blackbox::Failure>(i)),
                int64_t(failures.counts[i]));
  json.endObject();
}

void ReportWriter::writePlan(const search::Plan &plan) {
  json.key("strategy");
  writeStrategy(json, plan.strategy, scenario.opNames());
  const Degrees &degrees = plan.strategy.degrees;
  if (degrees.dp != degrees.ep)
    json.member("etp", StageGrid(degrees).etp());
  if (int64_t available = scenario.costs().limits().available) {
    int64_t workers = cost::replicasOn(available, degrees.devices());
    json.member("workers", workers)
        .member("idle_devices", available - workers * degrees.devices());
  }
  writeMetrics(json, plan.evaluation, scenario.latencyKey());
}

void ReportWriter::writeBest() {
  json.key("best");
  if (!summary.plan) {
    json.null();
    return;
  }
  json.beginObject(json::Style::Block);
  writePlan(*summary.plan);
  if (!scenario.simulator().decomposition()) {
    // A black box does not say what its metrics consist of.
    json.key("memory_parts_gb").null().key("breakdown").null().endObject();
    return;
  }
  cost::Breakdown breakdown =
      cost::breakdown(scenario.costs(), summary.plan->strategy);
  // Activations live in the reserve that the capacity leaves out.
  json.key("memory_parts_gb")
      .beginObject()
      .member("weights", breakdown.memory.weightsGb)
      .member("kv_cache", breakdown.memory.kvCacheGb)
      .member("workspace", 0.0)
      .endObject();
  writeActivations();
  writeTrust(breakdown);
  writeBreakdown(breakdown);
  json.endObject();
}

void ReportWriter::writeActivations() {
  cost::LiveMoment peak =
      cost::livePeak(scenario.costs(), summary.plan->strategy);
  json.key("activations")
      .beginObject()
      .member("peak_gb", peak.bytes / 1e9)
      .member("op", peak.op)
      .endObject();
}

/// The optimum that a plan which an engine runs replaced.
void ReportWriter::writeFree() {
  if (!summary.free)
    return;
  json.key("free_optimum").beginObject();
  writePlan(*summary.free);
  json.member("gain", lossOf(summary.plan->evaluation, summary.free->evaluation,
                             summary.goal));
  json.endObject();
}

/// Between what latency is, and what stands behind its parts.
void ReportWriter::writeTrust(const cost::Breakdown &breakdown) {
  double latency = summary.plan->evaluation.latencyMs;
  json.key(scenario.isPrefill() ? "ttft_ms_range" : "tpot_ms_range");
  if (scenario.simulatorName() == "calibrated") {
    json.beginArray();
    json.value(latency * breakdown.low).value(latency * breakdown.high);
    json.endArray();
  } else {
    json.null();
  }
  json.key(scenario.isPrefill() ? "ttft_ms_lower_bound"
                                : "tpot_ms_lower_bound");
  if (scenario.simulatorName() == "calibrated")
    json.value(scenario.lowerBoundMs(summary.plan->strategy));
  else
    json.null();
  json.key("time_from").beginObject();
  for (size_t i = 0; i < cost::numTimeOrigins; ++i)
    json.member(cost::spell(cost::TimeOrigin(i)), breakdown.byOrigin[i]);
  json.endObject();
}

void ReportWriter::writeBreakdown(const cost::Breakdown &breakdown) {
  json.key("breakdown").beginArray(json::Style::Block);
  for (const cost::OpBreakdown &op : breakdown.ops) {
    json.beginObject()
        .member("op", op.op)
        .member("stage", op.stage)
        .member("layers", op.layers)
        .member("layout", cost::spell(op.layout))
        .member("compute_us", op.computeUs)
        .member("memory_us", op.memoryUs)
        .member("collective", op.collective)
        .member("collective_us", op.collectiveUs)
        .member("bytes", op.collectiveBytes)
        .member("weights_gb", op.weightBytes / 1e9)
        .member("kv_cache_gb", op.cacheBytes / 1e9);
    if (scenario.simulatorName() == "calibrated")
      json.member("low_us", op.lowUs).member("high_us", op.highUs);
    json.endObject();
  }
  json.endArray();
}

void ReportWriter::writeBaselines() {
  static constexpr const char *names[] = {"megatron_tp", "megatron_tp_ep",
                                          "megatron_tp_sp"};
  json.key("baselines").beginObject(json::Style::Block);
  for (size_t i = 0; i < summary.baselines.size(); ++i) {
    json.key(names[i]);
    if (!summary.baselines[i]) {
      json.null();
      continue;
    }
    json.beginObject();
    writePlan(*summary.baselines[i]);
    json.endObject();
  }
  json.endObject();
}

/// The best plan of each engine, and why it does not run the plan found.
void ReportWriter::writeEngines() {
  if (!summary.tellsEngines)
    return;
  EngineFacts facts(scenario.model());
  json.key("engines").beginObject(json::Style::Block);
  for (Engine engine : allEngines) {
    json.key(spell(engine)).beginObject(json::Style::Block);
    if (summary.plan) {
      auto reason = whyNotRun(engine, summary.plan->strategy, facts);
      json.member("runs_plan", !reason);
      json.member("why_not", reason.value_or(""));
    }
    json.key("best");
    if (const auto &plan = summary.enginePlans[size_t(engine)]) {
      json.beginObject();
      writePlan(*plan);
      json.endObject();
    } else {
      json.null();
    }
    json.endObject();
  }
  json.endObject();
}

void ReportWriter::writeOptional(std::string_view key,
                                 std::optional<double> value) {
  json.key(key);
  if (value)
    json.value(*value);
  else
    json.null();
}

void ReportWriter::writeBinding() {
  const search::BindingConstraint &binding = summary.binding.constraint;
  json.key("binding_constraint")
      .beginObject()
      .member("kind",
              binding.kind == Reason::None ? "none" : spell(binding.kind))
      .member("part", summary.binding.part)
      .member("value", binding.value)
      .member("limit", binding.limit)
      .endObject();
}

void ReportWriter::writeNextFeasible() {
  json.key("next_feasible");
  if (!summary.nextFeasible) {
    json.null();
    return;
  }
  static constexpr const char *kinds[] = {"devices", "slo_ms", "batch",
                                          "activations_gb"};
  const search::Change &change = summary.nextFeasible->change;
  json.beginObject(json::Style::Block);
  json.key("change")
      .beginObject()
      .member("kind", kinds[int(change.kind)])
      .member("from", change.from)
      .member("to", change.to)
      .endObject();
  writePlan(summary.nextFeasible->plan);
  json.endObject();
}

std::string shardopt::reportJson(const PlanSummary &summary) {
  std::string text;
  ReportWriter(summary, text).write();
  text += '\n';
  return text;
}
