//===- NichedArchive.cpp - The best strategies, of different degrees ------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "shardopt/Search/Bayesian/NichedArchive.h"

#include <algorithm>

namespace shardopt::search {

bool NichedArchive::tell(const Point &point, const Evaluation &evaluation) {
  auto niche =
      std::find_if(members.begin(), members.end(), [&](const Elite &elite) {
        return std::equal(point.begin(), point.begin() + numDegrees,
                          elite.point.begin());
      });
  if (niche != members.end()) {
    if (!objective.better(evaluation, niche->evaluation))
      return false;
    members.erase(niche);
  }
  auto place = std::upper_bound(members.begin(), members.end(), evaluation,
                                [&](const Evaluation &a, const Elite &b) {
                                  return objective.better(a, b.evaluation);
                                });
  if (place - members.begin() >= std::ptrdiff_t(capacity))
    return false;
  members.insert(place, {point, evaluation});
  if (members.size() > capacity)
    members.pop_back();
  return true;
}

} // namespace shardopt::search
