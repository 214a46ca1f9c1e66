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

struct NamedOrder {
  ExpertOrder order;
  const char *name;
};

class BaselineComputation {
public:
  BaselineComputation(const Instance &instance, const Pipeline &pipeline,
                      int32_t microbatches)
      : instance(instance), pipeline(pipeline), microbatches(microbatches) {}

  /// As published; and re-timed, where that changes an order of `instance`, or
  /// DualPipe in any placement. `graphOf` makes the graph of a number of
  /// repetitions; `times` are those of blocks, in which passes overlap if
  /// `overlaps`.
  template <typename GraphOf>
  void add(const NamedOrder &named, const Pipeline &own,
           const PipelineTimes &times, bool overlaps, GraphOf graphOf);

  std::vector<Baseline> result;

private:
  const Instance &instance;
  const Pipeline &pipeline;
  int32_t microbatches;
};

} // namespace

/// In the order of reports.
static constexpr NamedOrder namedOrders[] = {
    {ExpertOrder::OneFOneB, "1f1b"},      {ExpertOrder::ZeroBubbleH1, "zb1p"},
    {ExpertOrder::ZeroBubbleV, "zbv"},    {ExpertOrder::VHalf, "v_half"},
    {ExpertOrder::VMin, "v_min"},         {ExpertOrder::Chimera, "chimera"},
    {ExpertOrder::Hanayo, "hanayo"},      {ExpertOrder::DualPipe, "dualpipe"},
    {ExpertOrder::DualPipeV, "dualpipev"}};

static bool isDualPipe(ExpertOrder order) {
  return order == ExpertOrder::DualPipe || order == ExpertOrder::DualPipeV;
}

/// Whether any block has several passes, so that one can start earlier.
static bool gains(const std::vector<std::vector<Block>> &blocks) {
  for (const std::vector<Block> &device : blocks)
    for (const Block &block : device)
      if (block.forward.exists() + block.backward.exists() +
              block.weight.exists() >
          1)
        return true;
  return false;
}

/// The most that the compute machine of a device does. All groups are placed.
static int64_t busiestWork(const Instance &instance) {
  const PlanGraph &graph = instance.graph();
  std::vector<int64_t> work(graph.devices.size(), 0);
  for (size_t i = 0; i < graph.ops.size(); ++i)
    if (graph.ops[i].machine == MachineKind::Compute)
      work[graph.groups[graph.ops[i].group].device] +=
          graph.leastTime(int32_t(i));
  return *std::max_element(work.begin(), work.end()) * instance.copies();
}

template <typename GraphOf>
void BaselineComputation::add(const NamedOrder &named, const Pipeline &own,
                              const PipelineTimes &times, bool overlaps,
                              GraphOf graphOf) {
  std::optional<std::vector<std::vector<Block>>> blocks =
      makeBlocks(named.order, pipeline.devices, microbatches);
  if (!blocks)
    return;
  int32_t copies = microbatches / own.directions();
  bool isOwn = own.placement == pipeline.placement;
  // Memory may be less than the order takes: what it takes is told all the
  // same.
  ErrorOr<Instance> roomy = isOwn ? instance.withMemory(std::nullopt)
                                  : Instance::expand(graphOf(copies), copies);
  if (!roomy)
    return;
  BlockReplay replayed = replay(*blocks, own, times);
  Baseline baseline;
  baseline.name = named.name;
  baseline.makespan = replayed.makespan;
  baseline.bubble = replayed.makespan - busiestWork(*roomy);
  baseline.peak =
      *std::max_element(replayed.peaks.begin(), replayed.peaks.end());
  if (!overlaps) {
    Schedule schedule = scheduleOf(*roomy, *blocks, replayed, times);
    ErrorOr<Verdict> verdict = validate(*roomy, schedule);
    if (!verdict)
      return;
    baseline.peak = verdict->peakMemory();
    if (times.isUniform())
      baseline.published = publishedBubble(named.order, pipeline.devices,
                                           microbatches, times.chunks[0]);
    if (isOwn && validate(instance, schedule))
      baseline.schedule = std::move(schedule);
  }
  result.push_back(baseline);

  if (!gains(*blocks) || (!isOwn && !isDualPipe(named.order)))
    return;
  std::optional<Schedule> schedule = retimeBlocks(*roomy, *blocks);
  if (!schedule)
    return;
  ErrorOr<Verdict> verdict = validate(*roomy, *schedule);
  if (!verdict)
    return;
  baseline.name += "_retimed";
  baseline.makespan = verdict->makespan;
  baseline.bubble = verdict->bubble();
  baseline.peak = verdict->peakMemory();
  baseline.published.reset();
  baseline.schedule.reset();
  if (isOwn && validate(instance, *schedule))
    baseline.schedule = std::move(schedule);
  result.push_back(std::move(baseline));
}

/// How often the chunks of `own` hold those of `pipeline`; 0: more than one of
/// them is needed for one.
static int64_t chunksInOne(const Pipeline &pipeline, const Pipeline &own) {
  return pipeline.chunks() / own.chunks();
}

std::vector<Baseline> schedule::computeBaselines(const Instance &instance,
                                                 const Pipeline &pipeline,
                                                 int32_t microbatches,
                                                 const TrainedModel &model) {
  BaselineComputation computation(instance, pipeline, microbatches);
  for (const NamedOrder &named : namedOrders) {
    Pipeline own{placementOf(named.order), pipeline.devices, std::nullopt};
    std::optional<TrainChunks> train = model(own);
    if (!train)
      continue;
    PipelineTimes times = pipelineTimes(*train);
    computation.add(named, own, times, false, [&](int32_t copies) {
      return makeChunkGraph(own, *train, copies);
    });
  }
  return std::move(computation.result);
}

std::vector<Baseline> schedule::computeBaselines(const Instance &instance,
                                                 const Pipeline &pipeline,
                                                 int32_t microbatches,
                                                 const TrainTimes &times) {
  return computeBaselines(
      instance, pipeline, microbatches,
      [&](const Pipeline &own) -> std::optional<TrainChunks> {
        int64_t longer = chunksInOne(pipeline, own);
        if (!longer)
          return std::nullopt;
        return equalChunks(own, {times.forward * longer,
                                 times.inputGradient * longer,
                                 times.weightGradient * longer});
      });
}

std::vector<Baseline> schedule::computeBaselines(const Instance &instance,
                                                 const Pipeline &pipeline,
                                                 int32_t microbatches,
                                                 const ExpertTimes &times) {
  BaselineComputation computation(instance, pipeline, microbatches);
  for (const NamedOrder &named : namedOrders) {
    Pipeline own{placementOf(named.order), pipeline.devices, std::nullopt};
    int64_t longer = chunksInOne(pipeline, own);
    bool isLinear = own.placement == Placement::Linear;
    if (!longer || !(isLinear || isDualPipe(named.order)))
      continue;
    ExpertTimes ownTimes = {times.attention * longer, times.dispatch * longer,
                            times.experts * longer, times.combine * longer};
    computation.add(named, own, {{blockTimes(ownTimes)}, 0}, true,
                    [&](int32_t copies) {
                      return makeExpertTrainGraph(own, ownTimes, copies);
                    });
  }
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
