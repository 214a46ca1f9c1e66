//===- ScheduleTask.cpp - What the options ask to schedule ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ScheduleTask.h"

#include "Options.h"
#include "shardopt/Solvers/Schedule/ChainPartition.h"
#include "shardopt/Solvers/Schedule/PlanGraphReader.h"
#include "shardopt/Solvers/Schedule/PromptChunks.h"
#include "shardopt/Solvers/Schedule/StagePartition.h"

#include <algorithm>
#include <numeric>

using namespace shardopt;
using namespace shardopt::schedule;

Placement placementOf(const Options &options, Placement otherwise) {
  for (auto [name, placement] :
       {std::pair("linear", Placement::Linear),
        std::pair("bidirectional", Placement::Bidirectional),
        std::pair("v", Placement::V), std::pair("wave", Placement::Wave),
        std::pair("free", Placement::Free),
        std::pair("balanced", Placement::Free)})
    if (options.placement == name)
      return placement;
  return otherwise;
}

/// `given`, or `standard` if there are none; an error unless they are as many
/// as `standard`.
static ErrorOr<std::vector<int64_t>> timesOf(const Options &options,
                                             std::vector<int64_t> standard,
                                             const char *what) {
  if (options.times.empty())
    return standard;
  if (options.times.size() != standard.size())
    return Error{"--times: expected " + std::string(what) + ", found " +
                 std::to_string(options.times.size()) + " times"};
  return options.times;
}

static std::optional<Error> checkTimes(const Options &options) {
  for (int64_t time : options.times)
    if (time > maxTime)
      return Error{"--times: expected times in [0, " + std::to_string(maxTime) +
                   "], found " + std::to_string(time)};
  return std::nullopt;
}

ErrorOr<PipelineTask> pipelineOf(const Options &options, int64_t devices,
                                 int64_t microbatches) {
  PipelineTask task;
  task.pipeline = {placementOf(options, Placement::Linear), int32_t(devices),
                   options.memory};
  int64_t directions = task.pipeline.directions();
  if (microbatches % directions)
    return Error{"--microbatches: a bidirectional pipeline takes half of them "
                 "from each end, found " +
                 std::to_string(microbatches)};
  task.copies = int32_t(microbatches / directions);
  return task;
}

static ErrorOr<ScheduleTask> makePipeline(const Options &options,
                                          int32_t microbatches) {
  ErrorOr<PipelineTask> task =
      pipelineOf(options, options.stages, microbatches);
  if (!task)
    return task.error();
  const auto &[pipeline, copies] = *task;
  bool isOfExperts = options.pattern == "experts";
  ErrorOr<std::vector<int64_t>> t =
      isOfExperts ? timesOf(options, {2, 2, 2, 2}, "A,D,E,C of a layer")
                  : timesOf(options, {1, 1, 1}, "F,Bi,W of a chunk");
  if (!t)
    return t.error();
  TrainTimes times;
  std::optional<ExpertTimes> expertTimes;
  if (isOfExperts)
    expertTimes = {(*t)[0], (*t)[1], (*t)[2], (*t)[3]};
  else
    times = {(*t)[0], (*t)[1], (*t)[2]};
  ErrorOr<Instance> instance = Instance::expand(
      isOfExperts ? makeExpertTrainGraph(pipeline, *expertTimes, copies)
                  : makeTrainGraph(pipeline, times, copies),
      copies);
  if (!instance)
    return instance.error();
  ScheduleTask problem(std::move(*instance));
  problem.baselines = expertTimes ? computeBaselines(problem.instance, pipeline,
                                                     microbatches, *expertTimes)
                                  : computeBaselines(problem.instance, pipeline,
                                                     microbatches, times);
  return problem;
}

/// No order was made by hand for it.
static ErrorOr<ScheduleTask> makeFree(ErrorOr<Instance> instance) {
  if (!instance)
    return instance.error();
  ScheduleTask problem(std::move(*instance));
  problem.baselines = computeFreeBaselines(problem.instance);
  return problem;
}

static std::string listNumbers(const std::vector<int64_t> &numbers) {
  constexpr size_t most = 16;
  std::string text;
  for (size_t k = 0; k < numbers.size() && k < most; ++k)
    text += (k ? " " : "") + std::to_string(numbers[k]);
  return numbers.size() > most ? text + " …" : text;
}

/// A prompt, cut so that chunks take as long as each other.
static ErrorOr<ScheduleTask> makePrompt(const Options &options) {
  ErrorOr<std::vector<int64_t>> t =
      timesOf(options, {1, 0},
              "what a token takes and what its attention to 1024 before it");
  if (!t)
    return t.error();
  PromptCost cost{(*t)[0], (*t)[1]};
  int64_t tokens = options.tokens;
  double whole = double(cost.perToken) * double(tokens) +
                 double(cost.perKilotoken) * double(tokens) * double(tokens);
  if (whole > double(maxTime))
    return Error{"--times: a prompt of " + std::to_string(tokens) +
                 " tokens takes more than " + std::to_string(maxTime)};
  int64_t count = options.microbatches ? options.microbatches
                                       : std::min<int64_t>(8, tokens);
  if (count > tokens)
    return Error{"--microbatches: expected at most the " +
                 std::to_string(tokens) + " tokens of the prompt, found " +
                 std::to_string(count)};
  PromptChunks chunks = cutByTime(tokens, count, cost);
  std::vector<int64_t> even = timesOf(cutEvenly(tokens, count), cost);
  ErrorOr<ScheduleTask> problem = makeFree(Instance::expand(
      makePrefillGraph(int32_t(options.stages), timesOf(chunks, cost)), 1));
  if (!problem)
    return problem;
  Baseline baseline;
  baseline.name = "even_chunks";
  baseline.makespan = prefillMakespan(even, options.stages);
  baseline.bubble =
      baseline.makespan - std::accumulate(even.begin(), even.end(), int64_t(0));
  problem->baselines.push_back(baseline);
  problem->notes.push_back({"chunks", listNumbers(chunks) + " tokens"});
  return problem;
}

/// The steady state of a ring, laid out for all of its tokens.
static Schedule unrollRing(const Instance &instance, const SteadyState &steady,
                           int32_t stages) {
  Schedule schedule{instance.placement(), {}};
  for (int32_t op = 0; op < instance.numOps(); ++op) {
    int32_t i = op % instance.period(), token = i / stages;
    schedule.starts.push_back(
        steady.starts[i % stages] +
        steady.period *
            (instance.copyOf(op) + int64_t(token) * instance.copies()));
  }
  return schedule;
}

static ErrorOr<ScheduleTask> makeRing(const Options &options) {
  int32_t stages = int32_t(options.stages);
  std::vector<int64_t> times = options.times;
  if (times.size() < 2)
    times.assign(stages, times.empty() ? 1 : times[0]);
  if (times.size() != size_t(stages))
    return Error{"--times: expected one for each of " + std::to_string(stages) +
                 " stages or one for all, found " +
                 std::to_string(times.size()) + " times"};
  int64_t send = stages > 1 ? options.send : 0;
  std::vector<int64_t> sends(stages, send);
  constexpr int32_t mostGroups = 4096;
  int32_t groups = options.microbatches
                       ? int32_t(options.microbatches)
                       : planDecodeRing(times, sends, mostGroups).groups;
  DecodeRing ring = planDecodeRing(times, sends, groups);
  ring.period = std::max(
      ring.period, groups * *std::max_element(times.begin(), times.end()));
  int32_t tokens = int32_t(options.tokens ? options.tokens : 8);
  ErrorOr<ScheduleTask> problem = makeFree(
      Instance::expand(makeDecodeGraph(times, options.send, tokens), groups));
  if (!problem)
    return problem;
  problem->notes.push_back(
      {"ring", std::to_string(groups) + " groups, a token of each in " +
                   std::to_string(ring.period) + ", the slowest stage " +
                   (ring.isFull ? "never idles" : "waits for the ring")});
  ErrorOr<Instance> token =
      Instance::expand(makeDecodeGraph(times, options.send, 1), 1);
  // Without a clock, so that the result is the same on every machine: the ring
  // has a steady state of the first period that is asked for.
  std::optional<SteadyState> steady =
      planSteadyState(*token, Ring{groups, send}, Budget(0, 0, nullptr));
  if (!steady)
    return problem;
  Baseline baseline;
  baseline.name = "ring";
  baseline.schedule = unrollRing(problem->instance, *steady, stages);
  ErrorOr<Verdict> verdict = validate(problem->instance, *baseline.schedule);
  if (!verdict)
    return verdict.error();
  baseline.makespan = verdict->makespan;
  baseline.bubble = verdict->bubble();
  problem->baselines.push_back(std::move(baseline));
  return problem;
}

static ErrorOr<ScheduleTask> makePattern(const Options &options) {
  if (std::optional<Error> error = checkTimes(options))
    return *error;
  int64_t microbatches = options.microbatches;
  if (options.placement == "balanced")
    return Error{"--placement=balanced is of graphs, the chunks of a pattern "
                 "are alike"};
  if (options.pattern == "train" || options.pattern == "experts")
    return makePipeline(options, int32_t(microbatches ? microbatches : 2));
  if (!options.placement.empty())
    return Error{"--placement: pattern '" + options.pattern + "' has only one"};
  if (options.memory)
    return Error{"--memory: pattern '" + options.pattern +
                 "' has no activations that outlive a chunk"};
  if (options.pattern == "overlap") {
    ErrorOr<std::vector<int64_t>> t =
        timesOf(options, {2, 2, 2, 2}, "A,D,E,C of a layer");
    if (!t)
      return t.error();
    return makeFree(
        Instance::expand(makeOverlapGraph(int32_t(options.stages),
                                          {(*t)[0], (*t)[1], (*t)[2], (*t)[3]}),
                         int32_t(microbatches ? microbatches : 2)));
  }
  if (options.pattern == "decode")
    return makeRing(options);
  if (options.tokens)
    return makePrompt(options);
  if (options.times.empty())
    return Error{"--pattern=prefill: needs --times, one for each chunk of the "
                 "prompt"};
  if (microbatches && microbatches != int64_t(options.times.size()))
    return Error{"--microbatches: --times has " +
                 std::to_string(options.times.size()) + " chunks, found " +
                 std::to_string(microbatches)};
  return makeFree(Instance::expand(
      makePrefillGraph(int32_t(options.stages), options.times), 1));
}

/// Puts the groups of `graph` on devices as stages; returns what to say of it.
static ErrorOr<std::string> balanceStages(PlanGraph &graph,
                                          const Options &options) {
  constexpr size_t mostOps = 5000;
  constexpr int64_t steps = 2000;
  if (graph.ops.size() > mostOps)
    return Error{"--placement=balanced: expected at most " +
                 std::to_string(mostOps) + " ops, found " +
                 std::to_string(graph.ops.size())};
  ErrorOr<Instance> single = Instance::expand(graph, 1);
  if (!single)
    return single.error();
  double seconds = options.timeLimit.value_or(options.rounds ? 0 : 60) / 4;
  std::optional<StagePartition> stages = partitionStages(
      *single, uint64_t(options.seed), steps, Budget(seconds, 0, nullptr));
  if (!stages)
    return Error{options.graph +
                 ": no stages fit: groups wait for each other in a cycle, or "
                 "no division of the orders tried fits the memory"};
  for (size_t g = 0; g < graph.groups.size(); ++g)
    graph.groups[g].device = stages->devices[g];
  return "loads " + listNumbers(stages->loads) + ", slowest " +
         std::to_string(stages->bottleneck) + ", bound " +
         std::to_string(stages->bound) +
         (stages->bound == stages->bottleneck ? ", proved" : "");
}

ErrorOr<ScheduleTask> makeTask(const Options &options) {
  if (!options.pattern.empty())
    return makePattern(options);
  ErrorOr<PlanGraph> graph =
      readPlanGraph(options.graph, placementOf(options, Placement::Free));
  if (!graph)
    return graph.error();
  if (options.memory)
    for (PlanDevice &device : graph->devices)
      device.memory = options.memory;
  std::string stages;
  if (options.placement == "balanced") {
    ErrorOr<std::string> balanced = balanceStages(*graph, options);
    if (!balanced)
      return balanced.error();
    stages = *balanced;
  }
  ErrorOr<ScheduleTask> problem = makeFree(Instance::expand(
      std::move(*graph), int32_t(std::max<int64_t>(1, options.microbatches))));
  if (problem && !stages.empty())
    problem->notes.push_back({"stages", stages});
  return problem;
}

ErrorOr<std::vector<Variant>> makeVariants(const Options &options) {
  std::vector<Variant> variants;
  std::optional<Error> error;
  auto add = [&](const std::string &name, const Options &own) {
    if (error)
      return;
    ErrorOr<ScheduleTask> problem = makeTask(own);
    if (problem)
      variants.push_back({name, own.memory, std::move(*problem)});
    else
      error = problem.error();
  };
  Options own = options;
  if (isModule(options)) {
    ErrorOr<std::vector<ScheduleTask>> problems = makeModuleTasks(options);
    if (!problems)
      return problems.error();
    for (size_t k = 0; k < problems->size(); ++k)
      variants.push_back({"chunks " + std::to_string(options.chunks[k]),
                          std::nullopt, std::move((*problems)[k])});
  } else if (options.mostMemory)
    for (; *own.memory <= options.mostMemory && !error; ++*own.memory)
      add("memory " + std::to_string(*own.memory), own);
  else if (options.splitTimes.size() > 1)
    for (const std::vector<int64_t> &times : options.splitTimes) {
      own.times = times;
      own.microbatches = int64_t(variants.size()) + 1;
      add(std::to_string(own.microbatches) +
              (own.microbatches == 1 ? " batch" : " batches"),
          own);
    }
  else
    add("", own);
  if (error)
    return *error;
  return variants;
}
