//===- Patterns.cpp - Graphs of pipelines ---------------------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/Patterns.h"

#include <tuple>

using namespace shardopt;
using namespace shardopt::schedule;

int32_t Pipeline::chunks() const {
  switch (placement) {
  case Placement::V:
    return 2 * devices;
  case Placement::Wave:
    return 4 * devices;
  default:
    return devices;
  }
}

int32_t Pipeline::deviceOf(int32_t direction, int32_t chunk) const {
  if (placement == Placement::Free)
    return -1;
  int32_t within = chunk % (2 * devices);
  int32_t device = within < devices ? within : 2 * devices - 1 - within;
  return direction ? devices - 1 - device : device;
}

namespace {

/// Adds operators one behind the other, each after the one before.
class ChainBuilder {
public:
  ChainBuilder(PlanGraph &graph, int32_t microbatch)
      : graph(graph), microbatch(microbatch) {}

  int32_t add(const std::string &type, PlanOpPhase phase, int64_t time,
              int32_t stage, int32_t group,
              MachineKind machine = MachineKind::Compute) {
    PlanOp op;
    op.id = (microbatch ? "r" : "") + type + "." + std::to_string(stage);
    op.type = type;
    op.phase = phase;
    op.machine = machine;
    op.stage = stage;
    op.microbatch = microbatch;
    op.group = group;
    op.times = {time};
    int32_t index = int32_t(graph.ops.size());
    graph.ops.push_back(std::move(op));
    if (last >= 0)
      graph.edges.push_back({last, index});
    last = index;
    return index;
  }

  int32_t last = -1;

private:
  PlanGraph &graph;
  int32_t microbatch;
};

} // namespace

static PlanGraph makeDevices(const Pipeline &pipeline) {
  PlanGraph graph;
  graph.deviceKinds = {"device"};
  PlanDevice device;
  device.memory = pipeline.memory;
  graph.devices.assign(pipeline.devices, device);
  return graph;
}

/// Groups of a direction, one for each chunk. Returns the first.
static int32_t addGroups(PlanGraph &graph, const Pipeline &pipeline,
                         int32_t direction) {
  int32_t first = int32_t(graph.groups.size());
  for (int32_t s = 0; s < pipeline.chunks(); ++s)
    graph.groups.push_back(
        {"stage " + std::to_string(s), pipeline.deviceOf(direction, s)});
  return first;
}

TrainChunks schedule::equalChunks(const Pipeline &pipeline,
                                  const TrainTimes &times) {
  TrainChunks train;
  train.chunks.assign(size_t(pipeline.chunks()), {times, 1, 0});
  return train;
}

PlanGraph schedule::makeTrainGraph(const Pipeline &pipeline,
                                   const TrainTimes &times, int32_t copies) {
  return makeChunkGraph(pipeline, equalChunks(pipeline, times), copies);
}

PlanGraph schedule::makeChunkGraph(const Pipeline &pipeline,
                                   const TrainChunks &train, int32_t copies) {
  PlanGraph graph = makeDevices(pipeline);
  int32_t chunks = pipeline.chunks();
  for (int32_t direction = 0; direction < pipeline.directions(); ++direction) {
    int32_t group = addGroups(graph, pipeline, direction);
    ChainBuilder chain(graph, direction * copies);
    int32_t first = int32_t(graph.ops.size());
    for (int32_t s = 0; s < chunks; ++s) {
      const TrainChunks::Chunk &chunk = train.chunks[s];
      int32_t op = chain.add("F", PlanOpPhase::Forward, chunk.times.forward, s,
                             group + s);
      graph.ops[op].birthBytes = chunk.activation;
      graph.ops[op].parameterBytes = chunk.parameters;
      graph.ops[op].claims = op;
    }
    for (int32_t s = chunks; s-- > 0;) {
      const TrainTimes &times = train.chunks[s].times;
      int32_t gradient = chain.add("Bi", PlanOpPhase::InputGradient,
                                   times.inputGradient, s, group + s);
      int32_t weight = chain.add("W", PlanOpPhase::WeightGradient,
                                 times.weightGradient, s, group + s);
      graph.ops[weight].frees = {first + s};
      // The gradient goes on, not what becomes of the weights.
      chain.last = gradient;
    }
  }
  for (PlanEdge &edge : graph.edges)
    edge.bytes = train.send;
  return graph;
}

PlanGraph schedule::makeExpertTrainGraph(const Pipeline &pipeline,
                                         const ExpertTimes &times,
                                         int32_t copies) {
  PlanGraph graph = makeDevices(pipeline);
  constexpr MachineKind comm = MachineKind::Comm;
  constexpr PlanOpPhase forward = PlanOpPhase::Forward,
                        backward = PlanOpPhase::InputGradient,
                        weight = PlanOpPhase::WeightGradient;
  for (int32_t direction = 0; direction < pipeline.directions(); ++direction) {
    int32_t group = addGroups(graph, pipeline, direction);
    ChainBuilder chain(graph, direction * copies);
    std::vector<int32_t> births;
    for (int32_t s = 0; s < pipeline.chunks(); ++s) {
      int32_t g = group + s;
      int32_t a = chain.add("A", forward, times.attention, s, g);
      chain.add("D", forward, times.dispatch, s, g, comm);
      int32_t e = chain.add("E", forward, times.experts, s, g);
      chain.add("C", forward, times.combine, s, g, comm);
      births.push_back(a);
      graph.ops[a].birthBytes = 1;
      graph.ops[a].claims = graph.ops[e].claims = a;
    }
    for (int32_t s = pipeline.chunks(); s-- > 0;) {
      int32_t g = group + s;
      chain.add("C'", backward, times.combine, s, g, comm);
      int32_t e = chain.add("E'", backward, times.experts, s, g);
      chain.add("D'", backward, times.dispatch, s, g, comm);
      int32_t a = chain.add("A'", backward, times.attention, s, g);
      for (auto [after, type, time] : {std::tuple(e, "WE", times.experts),
                                       std::tuple(a, "WA", times.attention)}) {
        chain.last = after;
        int32_t op = chain.add(type, weight, time, s, g);
        graph.ops[op].frees = {births[s]};
      }
      chain.last = a;
    }
  }
  return graph;
}

PlanGraph schedule::makeOverlapGraph(int32_t layers, const ExpertTimes &times) {
  PlanGraph graph = makeDevices({Placement::Linear, 1, std::nullopt});
  graph.groups = {{"layers", 0}};
  ChainBuilder chain(graph, 0);
  for (int32_t s = 0; s < layers; ++s) {
    chain.add("A", PlanOpPhase::Forward, times.attention, s, 0);
    chain.add("D", PlanOpPhase::Forward, times.dispatch, s, 0,
              MachineKind::Comm);
    chain.add("E", PlanOpPhase::Forward, times.experts, s, 0);
    chain.add("C", PlanOpPhase::Forward, times.combine, s, 0,
              MachineKind::Comm);
  }
  return graph;
}

PlanGraph schedule::makeDecodeGraph(const std::vector<int64_t> &stageTimes,
                                    int64_t send, int32_t tokens) {
  int32_t stages = int32_t(stageTimes.size());
  Pipeline pipeline{Placement::Linear, stages, std::nullopt};
  PlanGraph graph = makeDevices(pipeline);
  int32_t group = addGroups(graph, pipeline, 0);
  ChainBuilder chain(graph, 0);
  for (int32_t token = 0; token < tokens; ++token)
    for (int32_t s = 0; s < stages; ++s) {
      int32_t op =
          chain.add("F", PlanOpPhase::Forward, stageTimes[s], s, group + s);
      graph.ops[op].id = "F" + std::to_string(token) + "." + std::to_string(s);
    }
  for (PlanEdge &edge : graph.edges)
    edge.bytes = send;
  return graph;
}

PlanGraph schedule::makePrefillGraph(int32_t stages,
                                     const std::vector<int64_t> &times) {
  Pipeline pipeline{Placement::Linear, stages, std::nullopt};
  PlanGraph graph = makeDevices(pipeline);
  int32_t group = addGroups(graph, pipeline, 0);
  for (size_t k = 0; k < times.size(); ++k) {
    ChainBuilder chain(graph, int32_t(k));
    for (int32_t s = 0; s < stages; ++s) {
      int32_t op = chain.add("F", PlanOpPhase::Forward, times[k], s, group + s);
      graph.ops[op].id = "F" + std::to_string(k) + "." + std::to_string(s);
      if (k)
        graph.edges.push_back({op - stages, op});
    }
  }
  return graph;
}
