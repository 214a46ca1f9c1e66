//===- PlanTable.cpp - A plan as a table ----------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TextTable.h"
#include "shardopt/Cost/Breakdown.h"
#include "shardopt/Cost/LiveValues.h"
#include "shardopt/Model/StageGrid.h"
#include "shardopt/Planning/OpCuts.h"
#include "shardopt/Planning/Plan.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace shardopt;

/// Rows of ops beyond this many are left to the JSON report.
static constexpr size_t maxOpRows = 64;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

/// Three digits, and all of those before the point.
static std::string threeDigits(double value) {
  double size = std::abs(value);
  return fixed(value, size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

bool shardopt::isCut(const cost::Node &node, const Degrees &degrees) {
  cost::Reads reads = node.op->reads();
  bool isOfExperts =
      reads != cost::Reads::Rows && reads != cost::Reads::Sequences;
  return degrees.tp > 1 || (isOfExperts && StageGrid(degrees).etp() > 1);
}

std::string shardopt::spellCut(const cost::Node &node, const Degrees &degrees,
                               Dim dim) {
  if (!isCut(node, degrees))
    return "-";
  for (const cost::DimChoice &choice : node.op->choices())
    if (choice.dim == dim && dim != Dim::None)
      return choice.name;
  return "replicated";
}

/// What the letters of a layout mean.
static const char *meaningOf(const std::string &layout) {
  static constexpr std::pair<const char *, const char *> meanings[] = {
      {"R", "Replicate"},
      {"T", "Shard(tokens)"},
      {"H", "Shard(hidden)"},
      {"P", "Partial"},
      {"TR", "Shard(tokens), Replicate in groups of devices"},
      {"TH", "Shard(tokens, hidden)"},
      {"TP", "Shard(tokens), Partial"}};
  for (const auto &[letters, meaning] : meanings)
    if (layout == letters)
      return meaning;
  return "";
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {

/// Writes the sections of a table, one function each.
class TableWriter {
public:
  explicit TableWriter(const PlanSummary &summary)
      : summary(summary), scenario(*summary.scenario) {}

  std::string write();

private:
  struct Column {
    std::string heading;
    const search::Plan *plan;
  };

  void writeSubject();
  void collectColumns();
  std::string headingOf(Degree degree) const;
  void writeColumns();
  void writeMemory(const cost::Breakdown &breakdown);
  void writeActivations();
  void writeTimes(const cost::Breakdown &breakdown);
  void writeTrust(const cost::Breakdown &breakdown);
  void writeVerdict();

  const PlanSummary &summary;
  const Scenario &scenario;
  std::vector<Column> columns;
  std::string text;
};

} // namespace

void TableWriter::writeSubject() {
  const cost::Model &model = scenario.model();
  std::string name = scenario.modelName();
  std::string devices =
      scenario.maxDevices()
          ? "at most " + std::to_string(scenario.maxDevices()) + " devices of "
          : "devices of ";
  TextTable table;
  auto fact = [&](const std::string &key, const std::string &value) {
    std::string padded = key;
    padded.resize(10, ' ');
    table.add({padded + value});
  };
  fact("model", (name.empty() ? "" : name + ", ") +
                    std::to_string(model.numLayers()) + " layers, " +
                    std::to_string(model.numVariables()) + " ops");
  fact("workload",
       scenario.isPrefill()
           ? "prefill of prompts of " +
                 std::to_string(scenario.workload().context) + " tokens"
           : "decode at a context of " +
                 std::to_string(scenario.workload().context) + " tokens");
  fact("machine", scenario.machine().name + ", " + devices +
                      formatNumber(scenario.memoryCapacityGb()) +
                      " GB memory budget");
  if (scenario.external())
    fact("simulator", scenario.simulatorName());
  if (scenario.simulatorName() == "calibrated") {
    const Calibration &constants = *scenario.machine().calibration;
    fact("simulator",
         "measured kernels, data of " + constants.date +
             (constants.like.empty() ? "" : " on " + constants.like));
  }
  std::string metric = scenario.isPrefill() ? "TTFT" : "TPOT";
  fact("SLO", std::isinf(scenario.sloMs())
                  ? "none on " + metric
                  : metric + " of " + formatNumber(scenario.sloMs()) + " ms");
  text += table.print();
}

void TableWriter::collectColumns() {
  if (summary.plan)
    columns.push_back({summary.planName, &*summary.plan});
  static const char *names[] = {"Megatron TP", "TP + EP slicing", "TP + SP"};
  for (size_t i = 0; i < summary.baselines.size(); ++i)
    if (summary.baselines[i])
      columns.push_back({names[i], &*summary.baselines[i]});
  if (summary.free) {
    columns.push_back({"optimum", &*summary.free});
    return; // the plan itself is the best that an engine runs
  }
  // The best that any engine would run.
  search::Objective objective = scenario.objective(summary.goal);
  std::optional<Engine> best;
  for (Engine engine : allEngines) {
    const auto &plan = summary.enginePlans[size_t(engine)];
    if (plan && (!best || objective.better(
                              plan->evaluation,
                              summary.enginePlans[size_t(*best)]->evaluation)))
      best = engine;
  }
  if (best)
    columns.push_back({spell(*best), &*summary.enginePlans[size_t(*best)]});
}

/// Without experts, engines call `ep` dp.
std::string TableWriter::headingOf(Degree degree) const {
  bool isDp =
      summary.tellsEngines && !scenario.hasExperts() && degree == Degree::Ep;
  return std::string(spell(degree)) + (isDp ? " (dp)" : "");
}

void TableWriter::writeColumns() {
  TextTable table;
  auto addRow = [&](const std::string &heading, auto cell) {
    TextTable::Row row = {heading};
    for (const Column &column : columns)
      row.push_back(cell(column));
    table.add(std::move(row));
  };
  bool isCompared = columns.size() > (summary.plan ? 1 : 0);
  addRow(isCompared ? "plan, and Megatron's" : "plan",
         [](const Column &column) { return column.heading; });
  auto isWritten = [&](Degree degree) {
    return std::any_of(
        columns.begin(), columns.end(), [&](const Column &column) {
          return PartialDegrees(column.plan->strategy.degrees)[degree] ||
                 (summary.tellsEngines && scenario.hasExperts() &&
                  degree == Degree::Dp);
        });
  };
  for (Degree degree : allDegrees)
    if (isWritten(degree))
      addRow(headingOf(degree), [&](const Column &column) {
        return spell(degree, column.plan->strategy.degrees[degree]);
      });
  auto cutOf = [](const Column &column) -> const StageCut & {
    return column.plan->strategy.degrees.stages;
  };
  if (std::any_of(columns.begin(), columns.end(), [&](const Column &column) {
        return !cutOf(column).isEmpty();
      }))
    addRow("layers of the stages", [&](const Column &column) {
      return cutOf(column).isEmpty() ? "even" : abbreviate(cutOf(column));
    });
  addRow("devices", [](const Column &column) {
    return std::to_string(column.plan->strategy.degrees.devices());
  });
  if (int64_t available = scenario.costs().limits().available) {
    auto replicas = [available](const Column &column) {
      return cost::replicasOn(available,
                              column.plan->strategy.degrees.devices());
    };
    addRow("workers", [&](const Column &column) {
      return std::to_string(replicas(column));
    });
    addRow("idle devices", [&](const Column &column) {
      return std::to_string(available -
                            replicas(column) *
                                column.plan->strategy.degrees.devices());
    });
  }
  table.addBlank();

  const std::vector<std::string> &names = scenario.opNames();
  std::vector<const cost::Node *> nodes = scenario.model().nodesByVariable();
  addRow("op sharding", [](const Column &) { return ""; });
  for (size_t op = 0; op < std::min(names.size(), maxOpRows); ++op)
    addRow("  " + names[op], [&](const Column &column) {
      const Strategy &strategy = column.plan->strategy;
      return spellCut(*nodes[op], strategy.degrees, strategy.dims[op]);
    });
  if (names.size() > maxOpRows)
    table.add(
        {"  and " + std::to_string(names.size() - maxOpRows) + " more ops"});
  table.addBlank();

  auto evaluation = [](const Column &column) -> const Evaluation & {
    return column.plan->evaluation;
  };
  addRow(scenario.isPrefill() ? "prompt tokens/s per device"
                              : "tokens/s per device",
         [&](const Column &column) {
           return threeDigits(evaluation(column).throughput);
         });
  if (summary.plan && isCompared)
    addRow("  " + summary.planName + " / this plan", [&](const Column &column) {
      double ratio = summary.goal == search::Goal::Latency
                         ? evaluation(column).latencyMs /
                               summary.plan->evaluation.latencyMs
                         : summary.plan->evaluation.throughput /
                               evaluation(column).throughput;
      return fixed(ratio, 4);
    });
  addRow(scenario.isPrefill() ? "TTFT, ms" : "TPOT, ms",
         [&](const Column &column) {
           return threeDigits(evaluation(column).latencyMs);
         });
  addRow("memory, GB per device", [&](const Column &column) {
    return threeDigits(evaluation(column).memoryGb);
  });
  text += "\n" + table.print();
}

void TableWriter::writeMemory(const cost::Breakdown &breakdown) {
  TextTable table;
  std::string stage =
      breakdown.stageMs.size() > 1
          ? " of stage " + std::to_string(breakdown.fullestStage) +
                ", the fullest of " + std::to_string(breakdown.stageMs.size())
          : "";
  table.add({"memory per device" + stage, "GB", "%"});
  double capacity = scenario.memoryCapacityGb();
  auto addPart = [&](const char *name, double gb) {
    table.add({name, threeDigits(gb), fixed(100 * gb / capacity, 1)});
  };
  addPart("  weights", breakdown.memory.weightsGb);
  addPart("  kv cache", breakdown.memory.kvCacheGb);
  addPart("  free",
          capacity - breakdown.memory.weightsGb - breakdown.memory.kvCacheGb);
  text += "\n" + table.print();
}

/// The fullest moment, where values between ops are limited.
void TableWriter::writeActivations() {
  const cost::Limits &limits = scenario.costs().limits();
  if (!limits.limitsActivations())
    return;
  cost::LiveMoment peak =
      cost::livePeak(scenario.costs(), summary.plan->strategy);
  if (!peak.op.empty())
    text += "\n  activations at most " + formatNumber(peak.bytes / 1e9) +
            " GB of " + formatNumber(limits.activationBytes / 1e9) +
            " GB per device, while '" + peak.op + "' runs\n";
}

/// The times of each op, over all stages.
static std::vector<cost::OpBreakdown>
sumOverStages(const std::vector<cost::OpBreakdown> &ops) {
  std::vector<cost::OpBreakdown> sums;
  for (const cost::OpBreakdown &op : ops) {
    auto sum = std::find_if(sums.begin(), sums.end(),
                            [&](auto &sum) { return sum.op == op.op; });
    if (sum == sums.end()) {
      sums.push_back(op);
      continue;
    }
    sum->layers += op.layers;
    sum->computeUs += op.computeUs;
    sum->memoryUs += op.memoryUs;
    sum->collectiveUs += op.collectiveUs;
    sum->collectiveBytes += op.collectiveBytes;
  }
  return sums;
}

void TableWriter::writeTimes(const cost::Breakdown &breakdown) {
  std::vector<cost::OpBreakdown> ops = sumOverStages(breakdown.ops);
  cost::OpBreakdown all;
  for (const cost::OpBreakdown &op : ops) {
    all.computeUs += op.computeUs;
    all.memoryUs += op.memoryUs;
    all.collectiveUs += op.collectiveUs;
    all.collectiveBytes += op.collectiveBytes;
  }
  auto secondsOf = [](const cost::OpBreakdown &op) {
    return op.computeUs + op.memoryUs + op.collectiveUs;
  };
  // Over one device an activation has no layout to speak of.
  const Degrees &degrees = summary.plan->strategy.degrees;
  bool isAnyCut = degrees.tp > 1 || StageGrid(degrees).etp() > 1;
  std::vector<std::string> layouts;
  auto spellLayout = [&](const cost::OpBreakdown &op) -> std::string {
    if (!isAnyCut)
      return "-";
    std::string layout = cost::spell(op.layout);
    if (std::find(layouts.begin(), layouts.end(), layout) == layouts.end())
      layouts.push_back(layout);
    return layout;
  };
  TextTable table;
  table.add({"us per layer", "layers", "layout", "compute", "memory", "comm",
             "%", "MB", "collective"});
  auto addRow = [&](const cost::OpBreakdown &op, const std::string &name,
                    const std::string &layers, const std::string &layout) {
    double n = op.layers;
    table.add({name, layers, layout, fixed(op.computeUs / n, 1),
               fixed(op.memoryUs / n, 1), fixed(op.collectiveUs / n, 1),
               fixed(100 * secondsOf(op) / secondsOf(all), 1),
               formatNumber(op.collectiveBytes / n / 1e6, 4),
               op.collective.empty() ? "-" : op.collective});
  };
  for (size_t i = 0; i < std::min(ops.size(), maxOpRows); ++i)
    addRow(ops[i], "  " + ops[i].op, std::to_string(ops[i].layers),
           spellLayout(ops[i]));
  if (ops.size() > maxOpRows)
    table.add(
        {"  and " + std::to_string(ops.size() - maxOpRows) + " more ops"});
  addRow(all, "  all", "", "");
  text += "\n" + table.print();
  std::string legend;
  for (const std::string &layout : layouts)
    legend += (legend.empty() ? "" : "; ") + layout + " " + meaningOf(layout);
  if (!legend.empty())
    text += "\n  layouts   " + legend + "\n";
  if (scenario.simulatorName() == "calibrated")
    writeTrust(breakdown);
}

/// What stands behind times that are those of measured kernels.
void TableWriter::writeTrust(const cost::Breakdown &breakdown) {
  double latency = summary.plan->evaluation.latencyMs;
  text += "\n  interval  " +
          std::string(scenario.isPrefill() ? "TTFT" : "TPOT") + " of " +
          formatNumber(latency * breakdown.low, 3) + " to " +
          formatNumber(latency * breakdown.high, 3) + " ms, at hardware peak " +
          formatNumber(scenario.lowerBoundMs(summary.plan->strategy), 3) +
          " ms; step time ";
  static constexpr const char *from[] = {"measured", "extrapolated",
                                         "from the data sheet"};
  for (size_t i = 0; i < cost::numTimeOrigins; ++i)
    text += (i == 0 ? "" : ", ") + fixed(100 * breakdown.byOrigin[i], 1) +
            " % " + from[i];
  text += "\n";
}

void TableWriter::writeVerdict() {
  TextTable table;
  auto fact = [&](const std::string &key, const std::string &value) {
    std::string padded = key;
    padded.resize(10, ' ');
    table.add({padded + value});
  };
  std::string binding = describe(summary.binding, scenario);
  if (!binding.empty())
    fact("bound by", binding);
  if (summary.nextFeasible)
    fact("would fit",
         describe(summary.nextFeasible->change, scenario) + ", giving " +
             formatNumber(summary.nextFeasible->plan.evaluation.throughput) +
             " tokens/s per device");
  if (!summary.searcher.empty()) {
    std::string proof = summary.search.proved ? "proved optimal" : "not proved";
    if (!summary.plan)
      proof = summary.search.proved ? "proved infeasible" : "nothing found";
    if (auto bound = summary.search.bound)
      proof += ", bound " + formatNumber(*bound);
    if (auto distance = gap(summary.search, scenario.objective(summary.goal)))
      proof += ", gap " + fixed(std::abs(*distance) * 100, 2) + " %";
    if (summary.search.stopped == search::StopReason::Requested)
      proof = "interrupted, " + proof;
    fact("search", summary.searcher + ", " + proof + ", evaluations " +
                       std::to_string(summary.search.evaluations));
  }
  if (summary.free)
    fact("optimum",
         "a sharding that no engine runs gains " +
             fixed(100 * lossOf(summary.plan->evaluation,
                                summary.free->evaluation, summary.goal),
                   2) +
             " % (engine none)");
  if (!summary.batches.empty())
    fact("batches", summary.batches);
  if (summary.tellsEngines && summary.plan) {
    EngineFacts facts(scenario.model());
    std::string runners;
    for (Engine engine : allEngines)
      if (!whyNotRun(engine, summary.plan->strategy, facts))
        runners += (runners.empty() ? "" : ", ") + std::string(spell(engine));
    fact("engines", runners.empty() ? "none runs this plan"
                                    : runners + " can run this plan");
    for (Engine engine : allEngines)
      if (auto reason = whyNotRun(engine, summary.plan->strategy, facts))
        fact("", "not " + std::string(spell(engine)) + ": " + *reason);
  }
  if (scenario.external())
    if (auto failures = scenario.external()->failures(); failures.total())
      fact("failures", "of the simulator: " + blackbox::describe(failures));
  if (std::string facts = table.print(); !facts.empty())
    text += "\n" + facts;
}

std::string TableWriter::write() {
  writeSubject();
  collectColumns();
  if (!columns.empty())
    writeColumns();
  bool hasMetrics = summary.plan && summary.plan->evaluation.hasMetrics();
  if (hasMetrics && scenario.simulator().decomposition()) {
    cost::Breakdown breakdown =
        cost::breakdown(scenario.costs(), summary.plan->strategy);
    writeMemory(breakdown);
    writeTimes(breakdown);
  }
  if (hasMetrics)
    writeActivations();
  writeVerdict();
  return std::move(text);
}

std::string shardopt::planTable(const PlanSummary &summary) {
  return TableWriter(summary).write();
}
