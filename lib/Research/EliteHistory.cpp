//===- EliteHistory.cpp - The best strategies, as a policy sees them ------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Research/EliteHistory.h"

#include <algorithm>

namespace shardopt::agent {

bool EliteHistory::tell(const search::Point &point, double raw) {
  if (std::any_of(members.begin(), members.end(),
                  [&](const Record &record) { return record.point == point; }))
    return false;
  if (members.size() == capacity) {
    if (members.empty() || raw <= members.back().raw)
      return false;
    members.pop_back();
  }
  auto place = std::upper_bound(
      members.begin(), members.end(), raw,
      [](double value, const Record &record) { return value > record.raw; });
  members.insert(place, {point, raw});
  return true;
}

std::vector<double>
EliteHistory::observe(const search::StrategySpace &space) const {
  std::vector<double> rows(capacity * space.numVariables(), -1);
  auto next = rows.begin();
  for (const Record &record : members)
    for (size_t i = 0; i < space.numVariables(); ++i) {
      size_t last = space.domainSize(i) - 1;
      *next++ = last == 0 ? 0 : double(record.point[i]) / last;
    }
  return rows;
}

} // namespace shardopt::agent
