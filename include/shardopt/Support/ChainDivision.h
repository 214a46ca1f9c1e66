//===- ChainDivision.h - A chain of nodes over stages -----------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dynamic program over prefixes that every division of layers over stages
// is: what differs is which stages may be, what one costs, and how the costs of
// stages add up.
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_SUPPORT_CHAINDIVISION_H
#define SHARDOPT_SUPPORT_CHAINDIVISION_H

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace shardopt {

/// The best ways to put the first n nodes of a chain on some stages.
template <typename Value> struct ChainPrefixes {
  /// What cannot be divided costs this.
  static constexpr Value none = std::numeric_limits<Value>::has_infinity
                                    ? std::numeric_limits<Value>::infinity()
                                    : std::numeric_limits<Value>::max();

  explicit ChainPrefixes(size_t numNodes)
      : best(numNodes + 1, none), from(numNodes + 1), kind(numNodes + 1) {}

  std::vector<Value> best;   ///< by n: the least cost
  std::vector<size_t> from;  ///< where the last stage begins
  std::vector<int32_t> kind; ///< of the last stage
};

/// What ends where, and at least how many nodes a stage has.
struct ChainStage {
  int32_t kind = 0;
  size_t leastNodes = 0;
  size_t firstEnd = 0, lastEnd = 0; ///< that are asked for
};

/// Improves `after` by a stage behind those of `before`. `costOf(begin, end)`
/// is the cost of the stage of nodes [begin, end), or nothing if neither it nor
/// a longer one with this end may be; it is asked for shorter ones first.
/// `join` adds it to the cost of the stages before. Of equal costs the shortest
/// stage is kept.
template <typename Value, typename CostOf, typename Join>
void addChainStage(const ChainStage &stage, const ChainPrefixes<Value> &before,
                   ChainPrefixes<Value> &after, CostOf costOf, Join join) {
  for (size_t end = stage.firstEnd; end <= stage.lastEnd; ++end) {
    if (end < stage.leastNodes)
      continue;
    for (size_t begin = end - stage.leastNodes + 1; begin-- > 0;) {
      std::optional<Value> cost = costOf(begin, end);
      if (!cost)
        break;
      if (before.best[begin] == ChainPrefixes<Value>::none)
        continue;
      Value all = join(before.best[begin], *cost);
      if (all >= after.best[end])
        continue;
      after.best[end] = all;
      after.from[end] = begin;
      after.kind[end] = stage.kind;
    }
  }
}

} // namespace shardopt

#endif // SHARDOPT_SUPPORT_CHAINDIVISION_H
