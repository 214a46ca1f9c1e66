//===- ModuleProblem.cpp - The step of a module to schedule ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "Problem.h"
#include "shardopt/Frontend/ModelFile.h"
#include "shardopt/Ordering/JointPlan.h"
#include "shardopt/Planning/Scenario.h"
#include "shardopt/Support/Json.h"

#include <cstdio>

using namespace shardopt;

namespace {

/// A program with its strategy, on a machine.
struct Planned {
  std::shared_ptr<const Scenario> scenario;
  Strategy strategy;
};

} // namespace

static ErrorOr<Planned> readPlanned(const Options &options) {
  ErrorOr<LoadedModel> loaded = readModuleFile(options.graph);
  if (!loaded)
    return loaded.error();
  if (!loaded->strategy)
    return Error{options.graph + ": the strategy is incomplete: " +
                 loaded->missing + " is missing"};
  ScenarioOptions wanted;
  wanted.timing.machine =
      options.machine.empty() ? loaded->machine : options.machine;
  auto scenario = Scenario::create(loaded->name, loaded->costs, wanted);
  if (!scenario)
    return scenario.error();
  return Planned{std::move(*scenario), std::move(*loaded->strategy)};
}

ErrorOr<std::vector<Problem>> makeModuleProblems(const Options &options) {
  ErrorOr<Planned> planned = readPlanned(options);
  if (!planned)
    return planned.error();
  std::vector<Problem> problems;
  for (int64_t chunks : options.chunks) {
    ErrorOr<ordering::StepGraph> step =
        ordering::makeStepGraph(planned->scenario->costs(), planned->strategy,
                                {chunks, options.reorders});
    if (!step)
      return step.error();
    ErrorOr<schedule::Instance> instance =
        schedule::Instance::expand(std::move(step->graph), step->copies);
    if (!instance)
      return instance.error();
    Problem &problem = problems.emplace_back(std::move(*instance));
    problem.baselines = ordering::stepBaselines(problem.instance);
    problem.notes.push_back(
        {"step", std::to_string(step->copies / step->chunks) +
                     " micro-batches in " + std::to_string(step->chunks) +
                     " chunks, times in nanoseconds"});
  }
  return problems;
}

static void writeChoice(json::Writer &writer, const char *name,
                        const Scenario &scenario,
                        const ordering::JointChoice &choice) {
  writer.key(name).beginObject(json::Layout::Block);
  writer.member("chunks", choice.chunks);
  writer.member("planned_ms", double(choice.planned) / 1e6);
  writer.member("contended_ms", choice.contended / 1e6);
  writer.key("stages").beginArray();
  for (int64_t layers : choice.strategy.degrees.stages.layers)
    writer.value(layers);
  writer.endArray();
  writer.key("dims").beginObject();
  for (size_t i = 0; i < choice.strategy.dims.size(); ++i)
    writer.member(scenario.opNames()[i], int64_t(choice.strategy.dims[i]));
  writer.endObject();
  writer.endObject();
}

ErrorOr<JointText> planJoint(const Options &options, const StopToken *stop) {
  ErrorOr<Planned> planned = readPlanned(options);
  if (!planned)
    return planned.error();
  const Scenario &scenario = *planned->scenario;
  if (scenario.isPrefill())
    return Error{options.graph + ": --joint is for decode, found prefill"};
  ErrorOr<Timing> timing = Timing::create(scenario.options().timing);
  if (!timing)
    return timing.error();
  ordering::JointOptions wanted;
  wanted.chunks = options.chunks;
  if (options.rounds)
    wanted.rounds = options.rounds;
  wanted.stop = stop;
  ErrorOr<ordering::JointPlan> plan = ordering::planJointly(
      {scenario.model(), timing->time, timing->skew,
       scenario.machine().memoryCapacity, planned->strategy.degrees},
      wanted);
  if (!plan)
    return plan.error();

  JointText text;
  char line[160];
  auto add = [&](auto... values) {
    std::snprintf(line, sizeof(line), "  %-12s %10.3f %10.3f %7lld  %s\n",
                  values...);
    text.summary += line;
  };
  text.summary = "                  planned  contended  chunks  stages\n";
  for (auto [name, choice] : {std::pair("sequential", &plan->sequential),
                              std::pair("joint", &plan->joint)})
    add(name, double(choice->planned) / 1e6, choice->contended / 1e6,
        static_cast<long long>(choice->chunks),
        choice->strategy.degrees.stages.isEmpty()
            ? "even"
            : abbreviate(choice->strategy.degrees.stages).c_str());
  std::snprintf(line, sizeof(line),
                "  %-12s %10.3f ms, %lld plans ordered, %s\n", "bound",
                plan->bound / 1e6, static_cast<long long>(plan->evaluated),
                plan->isSettled ? "no move is better" : "stopped");
  text.summary += line;

  json::Writer writer(text.report);
  writer.beginObject(json::Layout::Block);
  writeChoice(writer, "sequential", scenario, plan->sequential);
  writeChoice(writer, "joint", scenario, plan->joint);
  writer.member("bound_ms", plan->bound / 1e6);
  writer.member("evaluated", plan->evaluated);
  writer.member("settled", plan->isSettled);
  writer.endObject();
  text.report += "\n";
  return text;
}
