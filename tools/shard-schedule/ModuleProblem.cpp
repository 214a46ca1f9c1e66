//===- ModuleProblem.cpp - The step of a module to schedule ---------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "ScheduleTask.h"
#include "shardopt/Model/Machine/MachineGroups.h"
#include "shardopt/Planning/Ordering/JointPlan.h"
#include "shardopt/Planning/Ordering/OrderReport.h"
#include "shardopt/Planning/Ordering/TrainingStep.h"
#include "shardopt/Planning/Ordering/UnlikeStages.h"
#include "shardopt/Planning/Scenario.h"
#include "shardopt/Solvers/Schedule/ScheduleText.h"
#include "shardopt/Target/ModelFile.h"

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
  int64_t perStage = degrees.devices() / degrees.pp;
  std::vector<ordering::StageKind> kinds;
  for (size_t i = 0; i < groups.size(); ++i) {
    std::string place = path + ": /groups/" + std::to_string(i);
    TimingOptions options;
    options.machine = groups[i].machine;
    options.source = source;
    ErrorOr<Timing> timing = Timing::create(options);
    if (!timing)
      return Error{place + "/machine: " + timing.error().message};
    int64_t devices = groups[i].devices;
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

/// A training step of `planned`, on its stages.
static ErrorOr<ScheduleTask> makeTrainingTask(const Options &options,
                                              const Planned &planned) {
  const Scenario &scenario = *planned.scenario;
  int64_t devices = planned.strategy.degrees.pp;
  int64_t microbatches =
      options.microbatches ? options.microbatches : 2 * devices;
  ErrorOr<PipelineTask> task = pipelineOf(options, devices, microbatches);
  if (!task)
    return task.error();
  schedule::Pipeline &pipeline = task->pipeline;
  if (!options.memory)
    pipeline.memory = int64_t(scenario.machine().memoryCapacity);
  ErrorOr<ordering::TrainingStep> step =
      ordering::TrainingStep::create(scenario.costs(), planned.strategy);
  if (!step)
    return Error{options.graph + ": " + step.error().message};
  auto divide = [&](const schedule::Pipeline &own) {
    return step->divide(own, int32_t(microbatches));
  };
  std::optional<schedule::TrainChunks> chunks = divide(pipeline);
  if (!chunks)
    return Error{options.graph + ": the model has fewer layers than the " +
                 std::to_string(pipeline.chunks()) + " chunks of placement '" +
                 (options.placement.empty() ? "linear" : options.placement) +
                 "'"};
  ErrorOr<schedule::Instance> instance = schedule::Instance::expand(
      schedule::makeChunkGraph(pipeline, *chunks, task->copies), task->copies);
  if (!instance)
    return instance.error();
  ScheduleTask result(std::move(*instance));
  result.baselines = schedule::computeBaselines(result.instance, pipeline,
                                                int32_t(microbatches), divide);
  result.notes.push_back(
      {"training", std::to_string(microbatches) + " micro-batches through " +
                       std::to_string(pipeline.chunks()) +
                       " chunks, times in nanoseconds, memory in bytes, "
                       "simulator " +
                       scenario.simulatorName()});
  return result;
}

ErrorOr<std::vector<ScheduleTask>> makeModuleTasks(const Options &options) {
  ErrorOr<Planned> planned = readPlanned(options);
  if (!planned)
    return planned.error();
  if (options.isTraining) {
    if (!planned->kinds.empty())
      return Error{"--training is for one machine, found groups with different "
                   "machines"};
    ErrorOr<ScheduleTask> task = makeTrainingTask(options, *planned);
    if (!task)
      return task.error();
    return std::vector<ScheduleTask>{std::move(*task)};
  }
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
  std::vector<ScheduleTask> problems;
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
    ScheduleTask &problem = problems.emplace_back(std::move(*instance));
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

ErrorOr<JointText> planJoint(const Options &options, const StopToken *stop) {
  ErrorOr<Planned> planned = readPlanned(options);
  if (!planned)
    return planned.error();
  const Scenario &scenario = *planned->scenario;
  if (!planned->kinds.empty())
    return Error{
        "--joint is for one machine, found groups with different machines"};
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
      ordering::planJointly({planned->scenario, &scenario.costs()},
                            scenario.expertSkew(), strategy, wanted);
  if (!plan)
    return Error{options.graph + ": " + plan.error().message};

  const std::string &simulator = scenario.simulatorName();
  JointText text;
  text.summary = ordering::jointTable(*plan, simulator);
  text.report = ordering::jointJson(*plan, simulator, scenario.opNames());
  const schedule::Instance &instance = plan->joint.instance();
  schedule::Schedule order = plan->joint.schedule();
  text.schedule = schedule::toJson(instance, order);
  if (!options.gantt.empty())
    text.gantt = schedule::toGantt(instance, {{"this plan", &order}});
  if (!options.trace.empty())
    text.trace = schedule::toChromeTrace(instance, order);
  return text;
}
