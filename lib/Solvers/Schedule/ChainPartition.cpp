//===- ChainPartition.cpp - Where to cut a chain of layers ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/ChainPartition.h"

#include "shardopt/Support/ChainDivision.h"

#include <algorithm>
#include <numeric>

using namespace shardopt;
using namespace shardopt::schedule;

using Prefixes = ChainPrefixes<int64_t>;

/// What `after` becomes if the device behind those of `before` is like device
/// `device` of the problem.
static void addStage(const ChainProblem &problem, size_t device,
                     const Prefixes &before, Prefixes &after) {
  size_t numNodes = problem.bytes.size();
  // Of nodes [first, end), which shorter stages were asked for.
  size_t first = 0, last = 0;
  int64_t time = 0, bytes = 0;
  auto loadOf = [&](size_t begin, size_t end) -> std::optional<int64_t> {
    if (end != last || begin > first) {
      first = last = end;
      time = bytes = 0;
    }
    for (; first > begin; --first) {
      time += problem.times[device][first - 1];
      bytes += problem.bytes[first - 1];
    }
    if (problem.memory[device] && bytes > *problem.memory[device])
      return std::nullopt;
    bool isCut = begin < end && end < numNodes;
    return time + (isCut ? problem.cutTimes[end - 1] : 0);
  };
  addChainStage(
      {int32_t(device), problem.leastNodes, 0, numNodes}, before, after, loadOf,
      [](int64_t stages, int64_t load) { return std::max(stages, load); });
}

std::optional<ChainPartition>
schedule::partitionChain(const ChainProblem &problem) {
  size_t numNodes = problem.bytes.size(), numDevices = problem.times.size();
  std::vector<Prefixes> states(numDevices + 1, Prefixes(numNodes));
  states[0].best[0] = 0;
  for (size_t d = 0; d < numDevices; ++d)
    addStage(problem, d, states[d], states[d + 1]);
  if (states.back().best[numNodes] == Prefixes::none)
    return std::nullopt;
  ChainPartition result;
  result.bottleneck = states.back().best[numNodes];
  result.ends.assign(numDevices, 0);
  size_t end = numNodes;
  for (size_t d = numDevices; d > 0; --d) {
    result.ends[d - 1] = int32_t(end);
    end = states[d].from[end];
  }
  return result;
}

std::optional<KindsPartition>
schedule::partitionChainOverKinds(const ChainProblem &problem,
                                  const std::vector<int32_t> &counts) {
  size_t numNodes = problem.bytes.size();
  // A state is how many devices of each kind are taken, the first kind fastest.
  std::vector<size_t> strides;
  size_t numStates = 1;
  for (int32_t count : counts) {
    strides.push_back(numStates);
    numStates *= size_t(count) + 1;
  }
  std::vector<Prefixes> states(numStates, Prefixes(numNodes));
  states[0].best[0] = 0;
  for (size_t state = 1; state < numStates; ++state)
    for (size_t k = 0; k < counts.size(); ++k)
      if (state / strides[k] % (size_t(counts[k]) + 1) > 0)
        addStage(problem, k, states[state - strides[k]], states[state]);
  if (states.back().best[numNodes] == Prefixes::none)
    return std::nullopt;
  KindsPartition result;
  result.cut.bottleneck = states.back().best[numNodes];
  size_t end = numNodes, state = numStates - 1;
  while (state > 0) {
    int32_t kind = states[state].kind[end];
    result.kinds.push_back(kind);
    result.cut.ends.push_back(int32_t(end));
    end = states[state].from[end];
    state -= strides[kind];
  }
  std::reverse(result.kinds.begin(), result.kinds.end());
  std::reverse(result.cut.ends.begin(), result.cut.ends.end());
  return result;
}

DecodeRing schedule::planDecodeRing(const std::vector<int64_t> &stageTimes,
                                    const std::vector<int64_t> &sendTimes,
                                    int32_t mostGroups) {
  int64_t ring =
      std::accumulate(stageTimes.begin(), stageTimes.end(), int64_t(0)) +
      std::accumulate(sendTimes.begin(), sendTimes.end(), int64_t(0));
  int64_t slowest = std::max<int64_t>(
      1, *std::max_element(stageTimes.begin(), stageTimes.end()));
  DecodeRing result;
  int64_t wanted = std::max<int64_t>(1, (ring + slowest - 1) / slowest);
  result.groups = int32_t(std::min<int64_t>(wanted, mostGroups));
  result.period = std::max(result.groups * slowest, ring);
  result.isFull = result.groups * slowest >= ring;
  return result;
}
