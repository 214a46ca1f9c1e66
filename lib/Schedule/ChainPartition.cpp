//===- ChainPartition.cpp - Where to cut a chain of layers ----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Schedule/ChainPartition.h"

#include <algorithm>
#include <limits>
#include <numeric>

using namespace shardopt;
using namespace shardopt::schedule;

std::optional<ChainPartition>
schedule::partitionChain(const ChainProblem &problem) {
  constexpr int64_t none = std::numeric_limits<int64_t>::max();
  size_t numNodes = problem.bytes.size(), numDevices = problem.times.size();
  // best[d][n]: the least bottleneck of the first n nodes on the first d
  // devices; from[d][n]: where the stage of the last of them begins.
  std::vector<std::vector<int64_t>> best(
      numDevices + 1, std::vector<int64_t>(numNodes + 1, none));
  std::vector<std::vector<size_t>> from(numDevices + 1,
                                        std::vector<size_t>(numNodes + 1, 0));
  best[0][0] = 0;
  for (size_t d = 1; d <= numDevices; ++d)
    for (size_t n = 0; n <= numNodes; ++n) {
      int64_t time = 0, bytes = 0;
      // An empty stage first, then longer ones.
      for (size_t begin = n;; --begin) {
        if (begin < n) {
          time += problem.times[d - 1][begin];
          bytes += problem.bytes[begin];
        }
        if (problem.memory[d - 1] && bytes > *problem.memory[d - 1])
          break;
        bool isCut = begin < n && n < numNodes;
        int64_t load = time + (isCut ? problem.cutTimes[n - 1] : 0);
        int64_t bottleneck = best[d - 1][begin] == none
                                 ? none
                                 : std::max(best[d - 1][begin], load);
        if (bottleneck < best[d][n]) {
          best[d][n] = bottleneck;
          from[d][n] = begin;
        }
        if (begin == 0)
          break;
      }
    }
  if (best[numDevices][numNodes] == none)
    return std::nullopt;
  ChainPartition result;
  result.bottleneck = best[numDevices][numNodes];
  result.ends.assign(numDevices, 0);
  size_t end = numNodes;
  for (size_t d = numDevices; d > 0; --d) {
    result.ends[d - 1] = int32_t(end);
    end = from[d][end];
  }
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
