//===- ChainPartitionTest.cpp - Cuts against enumeration ------------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Solvers/Schedule/ChainPartition.h"
#include "shardopt/Support/Rng.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

using namespace shardopt;
using namespace shardopt::schedule;

static constexpr int64_t none = std::numeric_limits<int64_t>::max();

/// The bottleneck of cuts, `none` where memory is exceeded.
static int64_t bottleneckOf(const ChainProblem &problem,
                            const std::vector<int32_t> &ends) {
  int64_t bottleneck = 0;
  int32_t begin = 0, last = int32_t(problem.bytes.size());
  for (size_t d = 0; d < ends.size(); begin = ends[d++]) {
    int64_t time = 0, bytes = 0;
    for (int32_t i = begin; i < ends[d]; ++i) {
      time += problem.times[d][i];
      bytes += problem.bytes[i];
    }
    if (begin < ends[d] && ends[d] < last)
      time += problem.cutTimes[ends[d] - 1];
    if (problem.memory[d] && bytes > *problem.memory[d])
      return none;
    bottleneck = std::max(bottleneck, time);
  }
  return bottleneck;
}

static int64_t findLeast(const ChainProblem &problem,
                         std::vector<int32_t> &ends, size_t device) {
  if (device + 1 == ends.size()) {
    ends[device] = int32_t(problem.bytes.size());
    return bottleneckOf(problem, ends);
  }
  int64_t least = none;
  for (int32_t end = device ? ends[device - 1] : 0;
       end <= int32_t(problem.bytes.size()); ++end) {
    ends[device] = end;
    least = std::min(least, findLeast(problem, ends, device + 1));
  }
  return least;
}

TEST(ChainPartition, AgreesWithEnumeration) {
  Rng rng(1);
  int feasible = 0;
  for (int round = 0; round < 200; ++round) {
    ChainProblem problem;
    size_t nodes = 1 + rng.below(7), devices = 1 + rng.below(4);
    for (size_t i = 0; i < nodes; ++i) {
      problem.cutTimes.push_back(int64_t(rng.below(3)));
      problem.bytes.push_back(int64_t(rng.below(5)));
    }
    for (size_t d = 0; d < devices; ++d) {
      problem.times.emplace_back();
      for (size_t i = 0; i < nodes; ++i)
        problem.times[d].push_back(1 + int64_t(rng.below(9)));
      problem.memory.push_back(rng.below(2) ? std::optional<int64_t>(6)
                                            : std::nullopt);
    }
    std::vector<int32_t> ends(devices);
    int64_t least = findLeast(problem, ends, 0);
    std::optional<ChainPartition> found = partitionChain(problem);
    ASSERT_EQ(found.has_value(), least != none) << round;
    if (!found)
      continue;
    ++feasible;
    EXPECT_EQ(found->bottleneck, least) << round;
    EXPECT_EQ(bottleneckOf(problem, found->ends), least) << round;
  }
  EXPECT_GE(feasible, 100);
}

/// Devices of two or three kinds in any row, against all of their rows.
TEST(ChainPartition, TheBestRowOfKinds) {
  Rng rng(2);
  int feasible = 0;
  for (int round = 0; round < 100; ++round) {
    ChainProblem kinds;
    size_t nodes = 4 + rng.below(4), numKinds = 2 + rng.below(2);
    std::vector<int32_t> counts, row;
    for (size_t k = 0; k < numKinds; ++k) {
      counts.push_back(int32_t(rng.below(3)));
      row.insert(row.end(), counts[k], int32_t(k));
      kinds.times.emplace_back();
      for (size_t i = 0; i < nodes; ++i)
        kinds.times[k].push_back(1 + int64_t(rng.below(9)));
      kinds.memory.push_back(rng.below(2) ? std::optional<int64_t>(8)
                                          : std::nullopt);
    }
    for (size_t i = 0; i < nodes; ++i) {
      kinds.cutTimes.push_back(int64_t(rng.below(3)));
      kinds.bytes.push_back(int64_t(rng.below(5)));
    }
    kinds.leastNodes = rng.below(2);
    int64_t least = row.empty() ? none : INT64_MAX;
    auto lineUp = [&](const std::vector<int32_t> &order) {
      ChainProblem problem = kinds;
      problem.times.clear();
      problem.memory.clear();
      for (int32_t kind : order) {
        problem.times.push_back(kinds.times[kind]);
        problem.memory.push_back(kinds.memory[kind]);
      }
      return problem;
    };
    if (!row.empty())
      do {
        if (std::optional<ChainPartition> cut = partitionChain(lineUp(row)))
          least = std::min(least, cut->bottleneck);
      } while (std::next_permutation(row.begin(), row.end()));
    std::optional<KindsPartition> found =
        partitionChainOverKinds(kinds, counts);
    ASSERT_EQ(found.has_value(), least != none) << round;
    if (!found)
      continue;
    ++feasible;
    EXPECT_EQ(found->cut.bottleneck, least) << round;
    EXPECT_EQ(bottleneckOf(lineUp(found->kinds), found->cut.ends), least)
        << round;
    int32_t begin = 0;
    for (int32_t end : found->cut.ends) {
      EXPECT_GE(end - begin, int32_t(kinds.leastNodes));
      begin = end;
    }
  }
  EXPECT_GE(feasible, 50);
}

/// A head worth four layers leaves fewer layers to its stage.
TEST(ChainPartition, TheHeadIsANode) {
  std::vector<int64_t> times(34, 10);
  times.front() = 0;
  times.back() = 40;
  ChainProblem problem{std::vector<std::vector<int64_t>>(4, times),
                       std::vector<int64_t>(34, 0), std::vector<int64_t>(34, 1),
                       std::vector<std::optional<int64_t>>(4)};
  std::optional<ChainPartition> found = partitionChain(problem);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->bottleneck, 90);
}

TEST(ChainPartition, MoreStagesThanNodes) {
  ChainProblem problem{{{3, 4}, {3, 4}, {3, 4}}, {0, 0}, {1, 1}, {1, 1, 1}};
  std::optional<ChainPartition> found = partitionChain(problem);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->bottleneck, 4);
  EXPECT_EQ(found->ends.back(), 2);
}

TEST(DecodeRing, TakesAsManyGroupsAsFillIt) {
  DecodeRing ring = planDecodeRing({10, 10, 10, 10}, {0, 0, 0, 0}, 100);
  EXPECT_EQ(ring.groups, 4);
  EXPECT_EQ(ring.period, 40);
  EXPECT_TRUE(ring.isFull);
  // With sends one more.
  ring = planDecodeRing({10, 10, 10, 10}, {2, 2, 2, 2}, 100);
  EXPECT_EQ(ring.groups, 5);
  EXPECT_EQ(ring.period, 50);
  ring = planDecodeRing({10, 10, 10, 10}, {2, 2, 2, 2}, 3);
  EXPECT_EQ(ring.groups, 3);
  EXPECT_EQ(ring.period, 48);
  EXPECT_FALSE(ring.isFull);
}
