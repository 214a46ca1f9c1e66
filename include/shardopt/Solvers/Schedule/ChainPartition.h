//===- ChainPartition.h - Where to cut a chain of layers --------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SOLVERS_SCHEDULE_CHAINPARTITION_H
#define SHARDOPT_SOLVERS_SCHEDULE_CHAINPARTITION_H

#include <cstdint>
#include <optional>
#include <vector>

namespace shardopt::schedule {

/// A chain of nodes (the embedding, layers, the head) for devices in a row,
/// which need not be alike.
struct ChainProblem {
  /// Of each device, of each node.
  std::vector<std::vector<int64_t>> times;
  /// What sending behind each node takes, if the chain is cut there; charged to
  /// the stage that ends there. That of the last node is not read.
  std::vector<int64_t> cutTimes;
  std::vector<int64_t> bytes; ///< of nodes
  /// Of devices; none: enough.
  std::vector<std::optional<int64_t>> memory;
  size_t leastNodes = 0; ///< of each stage
};

struct ChainPartition {
  /// For each device, how many nodes stand on it and those before it.
  std::vector<int32_t> ends;
  int64_t bottleneck = 0; ///< the time of the slowest stage
};

/// The cuts with the least bottleneck, by dynamic programming over prefixes and
/// devices, O(nodes^2 devices); among those with the same, each stage from the
/// last one on as short as possible. Nothing if memory holds no partition.
std::optional<ChainPartition> partitionChain(const ChainProblem &problem);

/// A chain for devices that may stand in any row: some of each kind.
struct KindsPartition {
  std::vector<int32_t> kinds; ///< of the devices in their row
  ChainPartition cut;
};

/// The row and the cuts with the least bottleneck. Devices of `problem` are
/// kinds, with `counts` of each. By dynamic programming over prefixes and
/// the devices of each kind that they take, O(nodes^2 kinds) for each of the
/// (counts[0] + 1) * (counts[1] + 1) * ... states. Nothing if memory holds no
/// partition.
std::optional<KindsPartition>
partitionChainOverKinds(const ChainProblem &problem,
                        const std::vector<int32_t> &counts);

/// Decoding on a ring of stages: a group of requests comes back once its token
/// has left the last stage.
struct DecodeRing {
  int32_t groups = 1;
  /// Between two tokens of all groups: the time of the ring or, if that is
  /// more, all groups one after the other on the slowest stage.
  int64_t period = 0;
  /// Whether the slowest stage never idles.
  bool isFull = false;
};

/// The fewest groups, at most `mostGroups`, with the best throughput,
/// groups / max(groups * slowest stage, all stages and sends).
DecodeRing planDecodeRing(const std::vector<int64_t> &stageTimes,
                          const std::vector<int64_t> &sendTimes,
                          int32_t mostGroups);

} // namespace shardopt::schedule

#endif // SHARDOPT_SOLVERS_SCHEDULE_CHAINPARTITION_H
