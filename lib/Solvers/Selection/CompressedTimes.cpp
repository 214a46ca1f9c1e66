//===- CompressedTimes.cpp - The times that say something -----------------===//
//
// Part of shardopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CompressedTimes.h"

#include <algorithm>

using namespace shardopt;
using namespace shardopt::solve;

CompressedTimes::CompressedTimes(const Problem &problem) {
  std::vector<int64_t> begins, ends;
  for (const Interval &interval : problem.intervals)
    if (interval.begin < interval.end) {
      begins.push_back(interval.begin);
      ends.push_back(interval.end);
    }
  std::sort(begins.begin(), begins.end());
  std::sort(ends.begin(), ends.end());
  size_t end = 0;
  for (size_t i = 0; i < begins.size(); ++i) {
    while (end < ends.size() && ends[end] <= begins[i])
      ++end;
    bool endComesNext = i + 1 == begins.size() || begins[i + 1] >= ends[end];
    if (endComesNext)
      times.push_back(begins[i]);
  }
}

int32_t CompressedTimes::countBefore(int64_t time) const {
  return int32_t(std::lower_bound(times.begin(), times.end(), time) -
                 times.begin());
}
