//===- Binding.cpp - What keeps a plan from being better ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Cost/Breakdown.h"
#include "shardopt/Cost/LiveValues.h"
#include "shardopt/Planning/Plan.h"

using namespace shardopt;

/// The largest of the three kinds of time.
static std::string slowestPart(const cost::Breakdown &breakdown) {
  double compute = 0, memory = 0, collective = 0;
  for (const cost::OpBreakdown &op : breakdown.ops) {
    compute += op.computeUs;
    memory += op.memoryUs;
    collective += op.collectiveUs;
  }
  if (compute >= memory && compute >= collective)
    return "compute";
  return memory >= collective ? "memory" : "collective";
}

/// Why its first dim is illegal, where all of them are; else null.
static const char *whyNoDim(const cost::Node &node,
                            const cost::Context &context) {
  std::vector<cost::Placement> incoming(node.operands.size());
  const char *first = nullptr;
  for (const cost::DimChoice &choice : node.op->choices()) {
    cost::Rule rule =
        node.op->rule(choice.dim, {incoming.data(), incoming.size()}, context);
    if (rule.isLegal())
      return nullptr;
    if (!first)
      first = rule.illegal;
  }
  return first;
}

/// The first op that no dim is legal for at `degrees`, and why; empty if there
/// is none, or the degrees themselves are invalid.
static std::string whyNoDims(const Scenario &scenario, const Degrees &degrees) {
  const cost::Model &model = scenario.model();
  if (model.structuralError(degrees, scenario.maxDevices()))
    return "";
  cost::Context context = cost::makeContext(model.workload, degrees);
  for (const cost::Body &body : model.bodies)
    for (const cost::Node &node : body.nodes)
      if (const char *why = whyNoDim(node, context))
        return node.name + ": " + why;
  return "";
}

Binding shardopt::explainInvalid(const Scenario &scenario,
                                 const search::Plan &plan) {
  search::Objective objective = scenario.objective(search::Goal::Throughput);
  Binding binding;
  binding.constraint = search::bindingConstraint(plan.evaluation, objective);
  if (plan.evaluation.reason == Reason::Structural) {
    if (auto excess = scenario.model().findExcess(plan.strategy.degrees,
                                                  scenario.maxDevices())) {
      binding.part = excess->part;
      binding.constraint.value = excess->found;
      binding.constraint.limit = excess->most;
    } else {
      binding.part = scenario.simulator().decomposition() ? "dims" : "";
      if (!binding.part.empty())
        binding.why = whyNoDims(scenario, plan.strategy.degrees);
    }
    return binding;
  }
  if (!scenario.simulator().decomposition() &&
      plan.evaluation.reason != Reason::Activations)
    return binding;
  cost::Breakdown breakdown = cost::breakdown(scenario.costs(), plan.strategy);
  if (plan.evaluation.reason == Reason::Activations)
    binding.part = cost::livePeak(scenario.costs(), plan.strategy).op;
  else if (plan.evaluation.reason == Reason::Memory)
    binding.part = breakdown.memory.weightsGb >= breakdown.memory.kvCacheGb
                       ? "weights"
                       : "kv_cache";
  else
    binding.part = slowestPart(breakdown);
  return binding;
}

/// ", most of it <part>", if that is known.
static std::string mostOf(const std::string &part) {
  return part.empty() ? "" : ", most of it " + part;
}

std::string shardopt::describe(const Binding &binding,
                               const Scenario &scenario) {
  const search::BindingConstraint &constraint = binding.constraint;
  std::string needs =
      binding.batch ? "batch " + std::to_string(*binding.batch) + " would need "
                    : "needs ";
  switch (constraint.kind) {
  case Reason::None:
    if (binding.part == "batch")
      return "no limit, but the list of batches ends here";
    return binding.batch ? "no limit: batch " + std::to_string(*binding.batch) +
                               " is valid, but no better"
                         : "";
  case Reason::Memory:
    return "memory: " + needs + formatNumber(constraint.value) + " GB of " +
           formatNumber(constraint.limit) + " GB a device" +
           mostOf(binding.part == "kv_cache" ? "kv cache" : binding.part);
  case Reason::Activations:
    return "activations: " + needs + formatNumber(constraint.value) +
           " GB of " + formatNumber(constraint.limit) + " GB a device while '" +
           binding.part + "' runs";
  case Reason::Slo:
    return std::string("SLO: ") + needs + "a " +
           (scenario.isPrefill() ? "TTFT" : "TPOT") + " of " +
           formatNumber(constraint.value) + " ms instead of " +
           formatNumber(constraint.limit) + " ms" +
           mostOf(binding.part.empty() ? "" : binding.part + " time");
  case Reason::Structural:
    if (constraint.limit)
      return "structure: " + formatNumber(constraint.value) + " " +
             binding.part + " of " + formatNumber(constraint.limit);
    if (!binding.why.empty())
      return "structure: " + binding.why;
    return binding.part.empty() ? "structure, says the simulator"
                                : "structure: " + binding.part;
  case Reason::Failed:
    return "the simulator failed on it";
  }
  return "";
}

std::string shardopt::describe(const search::Change &change,
                               const Scenario &scenario) {
  std::string option;
  switch (change.kind) {
  case search::Change::Kind::Devices:
    option = "max-devices";
    break;
  case search::Change::Kind::Slo:
    option = scenario.isPrefill() ? "slo-ttft-ms" : "slo-tpot-ms";
    break;
  case search::Change::Kind::Batch:
    option = "batch";
    break;
  case search::Change::Kind::Activations:
    option = "activations-gb";
    break;
  }
  return option + "=" + formatNumber(change.to) + " instead of " +
         formatNumber(change.from);
}

std::optional<Error> shardopt::failureOf(const PlanSummary &summary) {
  if (summary.plan)
    return std::nullopt;
  if (summary.emptySpace)
    return summary.emptySpace;
  if (summary.breakdown)
    return summary.breakdown;
  if (summary.search.stopped == search::StopReason::Requested)
    return Error{"interrupted before a feasible strategy was found"};
  const Scenario &scenario = *summary.scenario;
  std::string binding = describe(summary.binding, scenario);
  if (!summary.search.proved)
    return Error{
        "no feasible strategy found within the budget of " +
        std::to_string(summary.search.evaluations) + " evaluations" +
        (binding.empty() ? ", though there are some" : "; " + binding)};
  std::string message = "no strategy is feasible; " + binding;
  if (summary.nextFeasible)
    message +=
        "; feasible with " + describe(summary.nextFeasible->change, scenario);
  return Error{std::move(message)};
}
