//===- ModuleProblem.cpp - The step of a module to schedule ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "Problem.h"
#include "shardopt/Frontend/ModelFile.h"
#include "shardopt/Machine/MachineGroups.h"
#include "shardopt/Ordering/JointPlan.h"
#include "shardopt/Ordering/UnlikeStages.h"
#include "shardopt/Planning/Scenario.h"
#include "shardopt/Support/Json.h"

#include <cstdio>

using namespace shardopt;

namespace {

/// A program with its strategy, on a machine or on groups of unlike ones.
struct Planned {
  std::shared_ptr<const Scenario> scenario;
  Strategy strategy;
  std::vector<ordering::StageKind> kinds; ///< none: one machine
};

} // namespace

/// Whose times `--simulator` names.
static TimeSource sourceOf(const Options &options) {
  return options.simulator == "roofline"     ? TimeSource::Roofline
         : options.simulator == "calibrated" ? TimeSource::Calibrated
                                             : TimeSource::Auto;
}

/// What stands on the groups of the file `path`, in stages like those of
/// `degrees`.
static ErrorOr<std::vector<ordering::StageKind>>
readKinds(const std::string &path, const std::vector<MachineGroup> &groups,
          const Degrees &degrees, TimeSource source) {
  const int64_t perStage = degrees.devices() / degrees.pp;
  std::vector<ordering::StageKind> kinds;
  for (size_t i = 0; i < groups.size(); ++i) {
    const std::string place = path + ": /groups/" + std::to_string(i);
    TimingOptions options;
    options.machine = groups[i].machine;
    options.source = source;
    ErrorOr<Timing> timing = Timing::create(options);
    if (!timing)
      return Error{place + "/machine: " + timing.error().message};
    const int64_t devices = groups[i].devices;
    if (devices % perStage)
      return Error{place + "/devices: " + std::to_string(devices) +
                   ", expected a multiple of the " + std::to_string(perStage) +
                   " devices of a stage"};
    kinds.push_back({timing->machine.name, timing->time,
                     timing->machine.memoryCapacity,
                     int32_t(devices / perStage)});
  }
  return kinds;
}

static ErrorOr<Planned> readPlanned(const Options &options) {
  ErrorOr<LoadedModel> loaded = readModuleFile(options.graph);
  if (!loaded)
    return loaded.error();
  if (!loaded->strategy)
    return Error{options.graph + ": the strategy is incomplete: " +
                 loaded->missing + " is missing"};
  Planned planned{nullptr, std::move(*loaded->strategy), {}};
  ScenarioOptions wanted;
  wanted.simulator = options.simulator;
  wanted.timing.machine =
      options.machine.empty() ? loaded->machine : options.machine;
  ErrorOr<std::vector<MachineGroup>> groups =
      loadMachineGroups(wanted.timing.machine);
  if (!groups)
    return groups.error();
  if (!groups->empty()) {
    auto kinds = readKinds(wanted.timing.machine, *groups,
                           planned.strategy.degrees, sourceOf(options));
    if (!kinds)
      return kinds.error();
    planned.kinds = std::move(*kinds);
    wanted.timing.machine = groups->front().machine;
  }
  auto scenario = Scenario::create(loaded->name, loaded->costs, wanted);
  if (!scenario)
    return scenario.error();
  planned.scenario = std::move(*scenario);
  return planned;
}

/// Which group has which stage, and how many layers: "h100_sxm 24, l40s 8".
static std::string describe(const ordering::UnlikeStages &stages,
                            const std::vector<ordering::StageKind> &kinds) {
  std::string text;
  for (size_t s = 0; s < stages.kinds.size(); ++s)
    text += (s ? ", " : "") + kinds[stages.kinds[s]].name + " " +
            std::to_string(stages.cut.layers[s]);
  return text + " layers, slowest " + std::to_string(stages.bottleneck) +
         ", proved; even " +
         (stages.even ? std::to_string(*stages.even) : "does not fit");
}

ErrorOr<std::vector<Problem>> makeModuleProblems(const Options &options) {
  ErrorOr<Planned> planned = readPlanned(options);
  if (!planned)
    return planned.error();
  const cost::CostModel &costs = planned->scenario->costs();
  ordering::StepOptions step{1, options.reorders};
  std::string stages;
  if (!planned->kinds.empty()) {
    Degrees &degrees = planned->strategy.degrees;
    degrees.pp = 0;
    for (const ordering::StageKind &kind : planned->kinds)
      degrees.pp += kind.stages;
    degrees.stages = {};
    ErrorOr<ordering::UnlikeStages> unlike =
        ordering::planUnlikeStages(costs, planned->strategy, planned->kinds);
    if (!unlike)
      return Error{options.graph + ": " + unlike.error().message};
    degrees.stages = unlike->cut;
    step.clocks = unlike->clocks(planned->kinds);
    stages = describe(*unlike, planned->kinds);
  }
  std::vector<Problem> problems;
  for (int64_t chunks : options.chunks) {
    step.chunks = chunks;
    ErrorOr<ordering::StepGraph> graph =
        ordering::makeStepGraph(costs, planned->strategy, step);
    if (!graph)
      return graph.error();
    ErrorOr<schedule::Instance> instance =
        schedule::Instance::expand(std::move(graph->graph), graph->copies);
    if (!instance)
      return instance.error();
    Problem &problem = problems.emplace_back(std::move(*instance));
    problem.baselines = ordering::stepBaselines(problem.instance);
    problem.notes.push_back(
        {"step", std::to_string(graph->copies / graph->chunks) +
                     " micro-batches in " + std::to_string(graph->chunks) +
                     " chunks, times in nanoseconds, simulator " +
                     planned->scenario->simulatorName()});
    if (!stages.empty())
      problem.notes.push_back({"stages", stages});
  }
  return problems;
}

static void writeChoice(json::Writer &writer, const char *name,
                        const Scenario &scenario,
                        const ordering::JointChoice &choice) {
  writer.key(name).beginObject(json::Layout::Block);
  if (choice.inFlight)
    writer.member("microbatches", choice.inFlight);
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

static std::string summaryOf(const ordering::JointPlan &plan,
                             const Scenario &scenario) {
  char line[160];
  std::string text = "                  planned  contended  chunks  stages\n";
  std::snprintf(line, sizeof(line), "  %-12s %10.3f  one thing at a time, %s\n",
                "strategy", plan.own / 1e6, scenario.simulatorName().c_str());
  text += line;
  for (auto [name, choice] : {std::pair("sequential", &plan.sequential),
                              std::pair("joint", &plan.joint)}) {
    const StageCut &cut = choice->strategy.degrees.stages;
    std::string stages = cut.isEmpty() ? "even" : abbreviate(cut);
    if (choice->inFlight)
      stages += ", " + std::to_string(choice->inFlight) + " in flight";
    std::snprintf(line, sizeof(line), "  %-12s %10.3f %10.3f %7lld  %s\n", name,
                  double(choice->planned) / 1e6, choice->contended / 1e6,
                  static_cast<long long>(choice->chunks), stages.c_str());
    text += line;
  }
  std::snprintf(line, sizeof(line),
                "  %-12s %10.3f ms, gap %.1f %%, %lld plans ordered, %s\n",
                "bound", plan.bound / 1e6, 100 * plan.gap(),
                static_cast<long long>(plan.evaluated),
                plan.isSettled ? "no move is better" : "stopped");
  return text + line;
}

static std::string reportOf(const ordering::JointPlan &plan,
                            const Scenario &scenario) {
  std::string text;
  json::Writer writer(text);
  writer.beginObject(json::Layout::Block);
  writer.member("simulator", scenario.simulatorName());
  writer.member("strategy_ms", plan.own / 1e6);
  writeChoice(writer, "sequential", scenario, plan.sequential);
  writeChoice(writer, "joint", scenario, plan.joint);
  writer.member("bound_ms", plan.bound / 1e6);
  writer.member("gap", plan.gap());
  writer.member("evaluated", plan.evaluated);
  writer.member("settled", plan.isSettled);
  writer.endObject();
  return text + "\n";
}

ErrorOr<JointText> planJoint(const Options &options, const StopToken *stop) {
  ErrorOr<Planned> planned = readPlanned(options);
  if (!planned)
    return planned.error();
  const Scenario &scenario = *planned->scenario;
  if (!planned->kinds.empty())
    return Error{"--joint is for one machine, found groups of unlike ones"};
  if (scenario.isPrefill())
    return Error{options.graph + ": --joint is for decode, found prefill"};
  const Strategy &strategy = planned->strategy;
  ordering::JointOptions wanted;
  wanted.chunks = options.chunks;
  if (options.ring.empty())
    wanted.inFlight =
        ordering::usualInFlight(scenario.costs(), strategy.degrees);
  else if (options.ring != std::vector<int64_t>{0})
    wanted.inFlight = options.ring;
  if (options.rounds)
    wanted.rounds = options.rounds;
  wanted.timeLimit = options.timeLimit.value_or(options.rounds ? 0 : 60);
  wanted.stop = stop;
  ErrorOr<ordering::JointPlan> plan =
      ordering::planJointly({scenario.model(),
                             {planned->scenario, &scenario.costs().time()},
                             scenario.expertSkew(),
                             scenario.machine().memoryCapacity,
                             strategy.degrees,
                             strategy.dims},
                            wanted);
  if (!plan)
    return Error{options.graph + ": " + plan.error().message};

  return JointText{summaryOf(*plan, scenario), reportOf(*plan, scenario)};
}
