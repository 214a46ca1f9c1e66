//===- Problem.cpp - What the options ask to schedule ---------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Problem.h"

#include "Options.h"
#include "shardopt/Schedule/PlanGraphReader.h"

using namespace shardopt;
using namespace shardopt::schedule;

static Placement placementOf(const Options &options, Placement otherwise) {
  for (auto [name, placement] :
       {std::pair("linear", Placement::Linear),
        std::pair("bidirectional", Placement::Bidirectional),
        std::pair("v", Placement::V), std::pair("wave", Placement::Wave),
        std::pair("free", Placement::Free)})
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

static ErrorOr<Problem> makePipeline(const Options &options,
                                     int32_t microbatches) {
  Pipeline pipeline;
  pipeline.placement = placementOf(options, Placement::Linear);
  pipeline.devices = int32_t(options.stages);
  pipeline.memory = options.memory;
  if (microbatches % pipeline.directions())
    return Error{"--microbatches: a bidirectional pipeline takes half of them "
                 "from each end, found " +
                 std::to_string(microbatches)};
  int32_t copies = microbatches / pipeline.directions();
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
  std::vector<Baseline> baselines =
      computeBaselines(*instance, pipeline, microbatches, times, expertTimes);
  return Problem{std::move(*instance), std::move(baselines)};
}

/// No order was made by hand for it.
static ErrorOr<Problem> makeFree(ErrorOr<Instance> instance) {
  if (!instance)
    return instance.error();
  std::vector<Baseline> baselines = computeFreeBaselines(*instance);
  return Problem{std::move(*instance), std::move(baselines)};
}

static ErrorOr<Problem> makePattern(const Options &options) {
  if (std::optional<Error> error = checkTimes(options))
    return *error;
  int64_t microbatches = options.microbatches;
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

ErrorOr<Problem> makeProblem(const Options &options) {
  if (!options.pattern.empty())
    return makePattern(options);
  ErrorOr<PlanGraph> graph =
      readPlanGraph(options.graph, placementOf(options, Placement::Free));
  if (!graph)
    return graph.error();
  if (options.memory)
    for (PlanDevice &device : graph->devices)
      device.memory = options.memory;
  return makeFree(Instance::expand(
      std::move(*graph), int32_t(std::max<int64_t>(1, options.microbatches))));
}
