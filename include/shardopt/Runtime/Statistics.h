//===- Statistics.h - What a rank has moved ---------------------*- C++ -*-===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef SHARDOPT_RUNTIME_STATISTICS_H
#define SHARDOPT_RUNTIME_STATISTICS_H

#include <cstdint>
#include <vector>

namespace shardopt::runtime {

/// What one call of the program amounted to on one rank. Elements are those of
/// the argument that a cost model charges: the full tensor for all_reduce,
/// all_gather, reduce_scatter and broadcast, what the rank held for all_to_all
/// and all_to_all_v, what was sent for send; recv counts calls alone.
struct SiteStatistics {
  int64_t calls = 0;
  int64_t elements = 0;
  int64_t bytes = 0; ///< of the elements in the type that was executed
};

/// Counts of a rank, by site.
class Statistics {
public:
  void add(int64_t site, int64_t elements, int64_t elementBytes);
  void clear() { counts.clear(); }
  /// All sites up to the last that was called.
  const std::vector<SiteStatistics> &sites() const { return counts; }

private:
  std::vector<SiteStatistics> counts;
};

} // namespace shardopt::runtime

#endif // SHARDOPT_RUNTIME_STATISTICS_H
