//===- Baselines.cpp - What a pipeline's schedule is compared with --------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/Baselines.h"

#include "shardopt/Solvers/Schedule/Heft.h"
#include "shardopt/Solvers/Schedule/Validate.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::schedule;

namespace {

class BaselineComputation {
public:
  BaselineComputation(const Instance &instance, const Pipeline &pipeline,
                      int32_t microbatches, const TrainTimes &times,
                      const std::optional<ExpertTimes> &expertTimes)
      : instance(instance), pipeline(pipeline), microbatches(microbatches),
        times(times), expertTimes(expertTimes) {}

  /// As published; and re-timed, if that has a name.
  void add(ExpertOrder order, const char *name, const char *retimedName);

  std::vector<Baseline> result;

private:
  /// The same work where an order has its chunks, each `longer` times as long.
  ErrorOr<Instance> instanceOf(const Pipeline &own, int32_t longer) const;

  const Instance &instance;
  const Pipeline &pipeline;
  int32_t microbatches;
  TrainTimes times;
  std::optional<ExpertTimes> expertTimes;
};

} // namespace

ErrorOr<Instance> BaselineComputation::instanceOf(const Pipeline &own,
                                                  int32_t longer) const {
  int32_t copies = microbatches / own.directions();
  if (expertTimes) {
    ExpertTimes ownTimes = {
        expertTimes->attention * longer, expertTimes->dispatch * longer,
        expertTimes->experts * longer, expertTimes->combine * longer};
    return Instance::expand(makeExpertTrainGraph(own, ownTimes, copies),
                            copies);
  }
  TrainTimes ownTimes = {times.forward * longer, times.inputGradient * longer,
                         times.weightGradient * longer};
  return Instance::expand(makeTrainGraph(own, ownTimes, copies), copies);
}

void BaselineComputation::add(ExpertOrder order, const char *name,
                              const char *retimedName) {
  std::optional<std::vector<std::vector<Block>>> blocks =
      makeBlocks(order, pipeline.devices, microbatches);
  if (!blocks)
    return;
  Pipeline own{placementOf(order), pipeline.devices, std::nullopt};
  int32_t longer = pipeline.chunks() / own.chunks();
  BlockTimes unit = expertTimes ? blockTimes(*expertTimes) : blockTimes(times);
  BlockTimes ownTimes = {unit.forward * longer, unit.inputGradient * longer,
                         unit.weightGradient * longer, unit.full * longer,
                         unit.overlapped * longer};
  int64_t compute =
      expertTimes ? 3 * (expertTimes->attention + expertTimes->experts)
                  : times.forward + times.inputGradient + times.weightGradient;
  int64_t work =
      compute * microbatches * (pipeline.chunks() / pipeline.devices);

  BlockReplay replayed = replay(*blocks, own.chunks(), ownTimes);
  Baseline baseline;
  baseline.name = name;
  baseline.makespan = replayed.makespan;
  baseline.bubble = replayed.makespan - work;
  baseline.peak =
      *std::max_element(replayed.peaks.begin(), replayed.peaks.end());
  if (!expertTimes)
    baseline.published = publishedBubble(order, pipeline.devices, ownTimes);
  bool isOwn = own.placement == pipeline.placement;
  if (!expertTimes && isOwn) {
    Schedule schedule = scheduleOf(instance, *blocks, replayed, ownTimes);
    if (validate(instance, schedule))
      baseline.schedule = std::move(schedule);
  }
  result.push_back(baseline);

  // DualPipe is told both ways, be the placement its own or another.
  std::optional<Instance> other;
  if (!isOwn) {
    if (order != ExpertOrder::DualPipe && order != ExpertOrder::DualPipeV)
      return;
    ErrorOr<Instance> expanded = instanceOf(own, longer);
    if (!expanded)
      return;
    other = std::move(*expanded);
  }
  const Instance &timed = isOwn ? instance : *other;
  std::optional<Schedule> schedule = retimeBlocks(timed, *blocks);
  if (!schedule)
    return;
  // Memory may be less than the order takes: what it takes is told all the
  // same.
  ErrorOr<Verdict> verdict =
      validate(timed.withMemory(std::nullopt), *schedule);
  if (!verdict)
    return;
  baseline.name = retimedName;
  baseline.makespan = verdict->makespan;
  baseline.bubble = verdict->bubble();
  baseline.peak = verdict->peakMemory();
  baseline.published.reset();
  baseline.schedule.reset();
  if (isOwn && validate(instance, *schedule))
    baseline.schedule = std::move(schedule);
  result.push_back(std::move(baseline));
}

std::vector<Baseline>
schedule::computeBaselines(const Instance &instance, const Pipeline &pipeline,
                           int32_t microbatches, const TrainTimes &times,
                           const std::optional<ExpertTimes> &expertTimes) {
  BaselineComputation computation(instance, pipeline, microbatches, times,
                                  expertTimes);
  computation.add(ExpertOrder::OneFOneB, "1f1b", "1f1b_retimed");
  computation.add(ExpertOrder::ZeroBubbleH1, "zb1p", "zb1p_retimed");
  if (pipeline.placement == Placement::V)
    computation.add(ExpertOrder::DualPipeV, "dualpipe", "dualpipe_retimed");
  else
    computation.add(ExpertOrder::DualPipe, "dualpipe", "dualpipe_retimed");
  return std::move(computation.result);
}

std::vector<Baseline> schedule::computeFreeBaselines(const Instance &instance) {
  if (instance.isPlaced())
    return {};
  std::optional<Schedule> schedule = scheduleByEarliestFinish(instance);
  if (!schedule)
    return {};
  ErrorOr<Verdict> verdict = validate(instance, *schedule);
  if (!verdict)
    return {};
  Baseline baseline;
  baseline.name = "heft";
  baseline.makespan = verdict->makespan;
  baseline.bubble = verdict->bubble();
  baseline.peak = verdict->peakMemory();
  baseline.schedule = std::move(schedule);
  return {baseline};
}
