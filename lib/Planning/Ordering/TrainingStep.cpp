//===- TrainingStep.cpp - A model that is trained, in chunks --------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/Ordering/TrainingStep.h"

#include "shardopt/Planning/Ordering/StepGraph.h"
#include "shardopt/Solvers/Schedule/ChainPartition.h"
#include "shardopt/Solvers/Schedule/ExpertOrders.h"

#include <algorithm>
#include <cmath>

using namespace shardopt;
using namespace shardopt::ordering;
using schedule::TrainChunks;

ErrorOr<TrainingStep> TrainingStep::create(const cost::CostModel &costs,
                                           const Strategy &strategy) {
  const cost::Workload &workload = costs.model().workload;
  if (workload.phase != cost::Phase::Prefill)
    return Error{"training is of whole sequences, expected phase 'prefill', "
                 "found '" +
                 std::string(spell(workload.phase)) + "'"};
  StepOptions options;
  options.isTraining = true;
  ErrorOr<StepGraph> step = makeStepGraph(costs, strategy, options);
  if (!step)
    return step.error();
  TrainingStep result;
  int64_t layers = costs.layers().numLayers();
  result.nodes.assign(size_t(layers) + 2, {{0, 0, 0}, 0, 0});
  auto nanoseconds = [](double seconds) {
    return int64_t(std::llround(seconds * 1e9));
  };
  int64_t after = 0; ///< the head comes behind the last layer
  for (size_t i = 0; i < step->origins.size(); ++i) {
    const StepOrigin &origin = step->origins[i];
    int64_t time = step->graph.ops[i].times[0];
    if (origin.part == StepOrigin::Part::Transfer) {
      result.send = std::max(result.send, time);
      continue;
    }
    after = std::max<int64_t>(after, origin.layer + 1);
    int64_t node = origin.layer >= 0 ? origin.layer + 1
                   : after == layers ? layers + 1
                                     : 0;
    TrainChunks::Chunk &chunk = result.nodes[size_t(node)];
    const Gradients &gradients = step->gradients[i];
    chunk.times.forward += time;
    chunk.times.inputGradient += nanoseconds(gradients.inputSeconds);
    chunk.times.weightGradient += nanoseconds(gradients.weightSeconds);
    chunk.activation += int64_t(std::ceil(gradients.keptBytes));
    chunk.parameters +=
        bytesOfTrainedParameter * int64_t(std::ceil(gradients.parameters));
  }
  return result;
}

namespace {

/// The nodes of chunks, and how much devices do.
class Division {
public:
  /// With the fastest slowest chunk; of those, with the shortest later ones.
  Division(const schedule::Pipeline &pipeline, int32_t microbatches,
           const std::vector<TrainChunks::Chunk> &nodes);

  /// Moves nodes from a chunk to another as long as that helps: the devices
  /// that work the most, or, with `countsStart`, that can be done last.
  void improve(bool countsStart);
  TrainChunks chunks(int64_t send) const;

private:
  /// The work of all devices, behind the first forward pass that reaches them
  /// with `countsStart`; the largest first.
  std::vector<int64_t> loads(bool countsStart) const;

  const schedule::Pipeline &pipeline;
  const std::vector<TrainChunks::Chunk> &nodes;
  int64_t copies;                      ///< micro-batches of a direction
  std::vector<int64_t> forwards, work; ///< sums, of the first nodes
  std::vector<size_t> ends;            ///< of chunks
};

} // namespace

Division::Division(const schedule::Pipeline &pipeline, int32_t microbatches,
                   const std::vector<TrainChunks::Chunk> &nodes)
    : pipeline(pipeline), nodes(nodes),
      copies(microbatches / pipeline.directions()), forwards{0}, work{0} {
  std::vector<int64_t> times;
  for (const TrainChunks::Chunk &node : nodes) {
    times.push_back(node.times.forward + node.times.inputGradient +
                    node.times.weightGradient);
    forwards.push_back(forwards.back() + node.times.forward);
    work.push_back(work.back() + times.back());
  }
  schedule::ChainProblem problem;
  size_t count = size_t(pipeline.chunks());
  problem.times.assign(count, times);
  problem.cutTimes.assign(nodes.size(), 0);
  problem.bytes.assign(nodes.size(), 0);
  problem.memory.assign(count, std::nullopt);
  problem.leastNodes = 1;
  // There are at least as many nodes as chunks, and memory is not limited.
  std::optional<schedule::ChainPartition> cut =
      schedule::partitionChain(problem);
  for (int32_t end : cut->ends)
    ends.push_back(size_t(end));
}

std::vector<int64_t> Division::loads(bool countsStart) const {
  std::vector<int64_t> first(size_t(pipeline.devices), forwards.back());
  std::vector<int64_t> result(size_t(pipeline.devices), 0);
  for (size_t c = 0; c < ends.size(); ++c)
    for (int32_t direction = 0; direction < pipeline.directions();
         ++direction) {
      size_t device = size_t(pipeline.deviceOf(direction, int32_t(c)));
      size_t begin = c ? ends[c - 1] : 0;
      first[device] = std::min(first[device], forwards[begin]);
      result[device] += copies * (work[ends[c]] - work[begin]);
    }
  for (size_t device = 0; device < result.size() && countsStart; ++device)
    result[device] += first[device];
  std::sort(result.rbegin(), result.rend());
  return result;
}

void Division::improve(bool countsStart) {
  std::vector<int64_t> best = loads(countsStart);
  for (bool isBetter = true; isBetter;) {
    isBetter = false;
    for (size_t from = 0; from < ends.size(); ++from)
      for (size_t to = 0; to < ends.size(); ++to) {
        std::vector<size_t> before = ends;
        for (size_t c = from; c < to; ++c)
          --ends[c];
        for (size_t c = to; c < from; ++c)
          ++ends[c];
        size_t left = ends[from] - (from ? ends[from - 1] : 0);
        std::vector<int64_t> now = loads(countsStart);
        if (left && now < best) {
          best = std::move(now);
          isBetter = true;
        } else {
          ends = std::move(before);
        }
      }
  }
}

TrainChunks Division::chunks(int64_t send) const {
  TrainChunks result;
  result.send = send;
  size_t begin = 0;
  for (size_t end : ends) {
    TrainChunks::Chunk &chunk = result.chunks.emplace_back();
    chunk = {{0, 0, 0}, 0, 0};
    for (; begin < end; ++begin) {
      const TrainChunks::Chunk &node = nodes[begin];
      chunk.times.forward += node.times.forward;
      chunk.times.inputGradient += node.times.inputGradient;
      chunk.times.weightGradient += node.times.weightGradient;
      chunk.activation += node.activation;
      chunk.parameters += node.parameters;
    }
  }
  return result;
}

/// The shortest step of an order made by hand for the placement; 0: there is
/// none.
static int64_t shortestStep(const schedule::Pipeline &pipeline,
                            int32_t microbatches, const TrainChunks &train) {
  int64_t shortest = 0;
  for (schedule::ExpertOrder order : schedule::expertOrders) {
    if (schedule::placementOf(order) != pipeline.placement)
      continue;
    auto blocks = schedule::makeBlocks(order, pipeline.devices, microbatches);
    if (!blocks)
      continue;
    int64_t step =
        replay(*blocks, pipeline, schedule::pipelineTimes(train)).makespan;
    shortest = shortest ? std::min(shortest, step) : step;
  }
  return shortest;
}

std::optional<TrainChunks>
TrainingStep::divide(const schedule::Pipeline &pipeline,
                     int32_t microbatches) const {
  if (nodes.size() < size_t(pipeline.chunks()))
    return std::nullopt;
  Division even(pipeline, microbatches, nodes);
  std::vector<TrainChunks> candidates = {even.chunks(send)};
  for (bool countsStart : {false, true}) {
    Division moved = even;
    moved.improve(countsStart);
    candidates.push_back(moved.chunks(send));
  }
  size_t best = 0;
  int64_t shortest = shortestStep(pipeline, microbatches, candidates[0]);
  for (size_t i = 1; i < candidates.size(); ++i) {
    int64_t step = shortestStep(pipeline, microbatches, candidates[i]);
    if (step < shortest) {
      shortest = step;
      best = i;
    }
  }
  return candidates[best];
}
