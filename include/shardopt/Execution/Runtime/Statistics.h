//===- Statistics.h - What a rank has moved ---------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_EXECUTION_RUNTIME_STATISTICS_H
#define SHARDOPT_EXECUTION_RUNTIME_STATISTICS_H

#include <cstdint>
#include <utility>
#include <vector>

namespace shardopt::runtime {

/// What calls of one site amounted to on one rank. Elements are those of
/// the argument that a cost model charges: the full tensor for all_reduce,
/// all_gather, reduce_scatter and broadcast, what the rank held for all_to_all
/// and all_to_all_v, what was sent for send; recv counts calls alone.
struct CallCounts {
  int64_t calls = 0;
  int64_t elements = 0;
  int64_t bytes = 0; ///< of the elements in the type that was executed
};

/// Counts of a site, one or those of each of its parts.
using SiteStatistics = std::vector<CallCounts>;

/// Counts of a rank, by site.
class Statistics {
public:
  /// How many calls in a row each part of a site has, in turns; none for a site
  /// that has one part. Example: {3, 1} for a collective in a loop of four
  /// layers that is charged otherwise in the last of them.
  void setParts(std::vector<std::vector<int64_t>> bySite) {
    parts = std::move(bySite);
  }
  void add(int64_t site, int64_t elements, int64_t elementBytes);
  void clear() { counts.clear(); }
  /// All sites up to the last that was called.
  const std::vector<SiteStatistics> &sites() const { return counts; }

private:
  CallCounts &next(int64_t site);

  std::vector<std::vector<int64_t>> parts;
  std::vector<SiteStatistics> counts;
};

} // namespace shardopt::runtime

#endif // SHARDOPT_EXECUTION_RUNTIME_STATISTICS_H
