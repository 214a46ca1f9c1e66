//===- UnlikeStages.cpp - Stages on machines that differ ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Planning/Ordering/UnlikeStages.h"

#include "shardopt/Solvers/Schedule/ChainPartition.h"

#include <algorithm>
#include <cmath>

using namespace shardopt;
using namespace shardopt::ordering;
using schedule::ChainProblem;
using Part = StepOrigin::Part;

/// States of the dynamic programming over kinds.
constexpr int64_t mostStates = 4096;

std::vector<const cost::TimeModel *>
UnlikeStages::clocks(const std::vector<StageKind> &all) const {
  std::vector<const cost::TimeModel *> result;
  for (int32_t kind : kinds)
    result.push_back(all[kind].time.get());
  return result;
}

/// Of each kind what each layer takes and holds, the embedding with the first
/// and the head with the last.
static ErrorOr<ChainProblem> makeChain(const cost::CostModel &costs,
                                       const Strategy &strategy,
                                       const std::vector<StageKind> &kinds) {
  int64_t numLayers = costs.layers().numLayers();
  ChainProblem chain;
  chain.leastNodes = 1;
  for (const StageKind &kind : kinds) {
    StepOptions options;
    options.clocks.assign(size_t(strategy.degrees.pp), kind.time.get());
    ErrorOr<StepGraph> step = makeStepGraph(costs, strategy, options);
    if (!step)
      return step.error();
    std::vector<int64_t> times(numLayers, 0), bytes(numLayers, 0);
    for (size_t i = 0; i < step->origins.size(); ++i) {
      const StepOrigin &origin = step->origins[i];
      if (origin.part == Part::Transfer)
        continue;
      const schedule::PlanOp &op = step->graph.ops[i];
      bool isEmbedding =
          origin.variable == int32_t(costs.model().embed.variable);
      int64_t layer = origin.layer >= 0 ? origin.layer
                      : isEmbedding     ? 0
                                        : numLayers - 1;
      times[layer] += op.times[0];
      bytes[layer] += op.parameterBytes;
    }
    chain.times.push_back(std::move(times));
    chain.bytes = std::move(bytes);
    chain.memory.push_back(int64_t(kind.memoryBytes));
  }
  for (int64_t next = 1; next <= numLayers; ++next) {
    double slowest = 0;
    for (const StageKind &kind : kinds) {
      double seconds = 0;
      if (next < numLayers)
        for (const cost::Collective &collective :
             transferInto(costs, strategy, *kind.time, next))
          seconds += kind.time->seconds(collective, strategy.degrees);
      slowest = std::max(slowest, seconds);
    }
    chain.cutTimes.push_back(std::llround(slowest * 1e9));
  }
  return chain;
}

/// What the stages of `cut` take on kinds in that row; nothing where one of
/// them does not fit.
static std::optional<std::vector<int64_t>>
loadsOf(const ChainProblem &chain, const std::vector<int32_t> &kinds,
        const StageCut &cut) {
  std::vector<int64_t> loads;
  size_t layer = 0;
  for (size_t s = 0; s < kinds.size(); ++s) {
    int64_t time = 0, bytes = 0;
    for (int64_t i = 0; i < cut.layers[s]; ++i, ++layer) {
      time += chain.times[kinds[s]][layer];
      bytes += chain.bytes[layer];
    }
    if (bytes > *chain.memory[kinds[s]])
      return std::nullopt;
    bool isLast = s + 1 == kinds.size();
    loads.push_back(time + (isLast ? 0 : chain.cutTimes[layer - 1]));
  }
  return loads;
}

/// Of stages with as many layers: nodes of a chain that is not cut elsewhere.
static std::optional<int64_t> planEven(const ChainProblem &chain,
                                       const std::vector<int32_t> &counts,
                                       const StageCut &cut) {
  ChainProblem stages;
  stages.leastNodes = 1;
  stages.memory = chain.memory;
  stages.times.resize(chain.times.size());
  size_t layer = 0;
  for (int64_t layers : cut.layers) {
    std::vector<int64_t> times(chain.times.size(), 0);
    int64_t bytes = 0;
    for (int64_t i = 0; i < layers; ++i, ++layer) {
      bytes += chain.bytes[layer];
      for (size_t k = 0; k < times.size(); ++k)
        times[k] += chain.times[k][layer];
    }
    for (size_t k = 0; k < times.size(); ++k)
      stages.times[k].push_back(times[k]);
    stages.bytes.push_back(bytes);
    stages.cutTimes.push_back(chain.cutTimes[layer - 1]);
  }
  auto best = schedule::partitionChainOverKinds(stages, counts);
  return best ? std::optional(best->cut.bottleneck) : std::nullopt;
}

ErrorOr<UnlikeStages>
ordering::planUnlikeStages(const cost::CostModel &costs,
                           const Strategy &strategy,
                           const std::vector<StageKind> &kinds) {
  std::vector<int32_t> counts;
  int64_t stages = 0, states = 1;
  for (const StageKind &kind : kinds) {
    counts.push_back(kind.stages);
    stages += kind.stages;
    states = std::min(states * (kind.stages + 1), mostStates + 1);
  }
  if (states > mostStates)
    return Error{"the groups can be taken in more than " +
                 std::to_string(mostStates) +
                 " ways, expected fewer groups or stages"};
  if (stages != strategy.degrees.pp)
    return Error{"the groups hold " + std::to_string(stages) +
                 " stages, the strategy has " +
                 std::to_string(strategy.degrees.pp)};
  Strategy uncut = strategy;
  uncut.degrees.stages = {};
  ErrorOr<ChainProblem> chain = makeChain(costs, uncut, kinds);
  if (!chain)
    return chain.error();
  auto best = schedule::partitionChainOverKinds(*chain, counts);
  if (!best)
    return Error{"no division into " + std::to_string(stages) +
                 " stages fits the memory of the groups"};
  UnlikeStages result;
  result.kinds = std::move(best->kinds);
  int32_t begin = 0;
  for (int32_t end : best->cut.ends) {
    result.cut.layers.push_back(end - begin);
    begin = end;
  }
  result.loads = *loadsOf(*chain, result.kinds, result.cut);
  result.bottleneck = best->cut.bottleneck;
  result.even =
      planEven(*chain, counts, evenCut(costs.layers().numLayers(), stages));
  return result;
}
